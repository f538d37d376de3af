"""What does a listing quote? A mean, for the tests of the site."""


# listing: mean
def mean(x):
    s = x.sum(axis=0)  # (d,)
    return s / len(x)  # (d,)


# end: mean


# listing: order
def order(x):
    return x[::-1]  # (T, d)


# end: order
