"""How fast is the training loop, beside loops that others would write?"""
