"""Which figures are written and wait for their records?

The modules beside this one, each like those of `figures/`. One moves up, unchanged, when the
experiment that it reads has been measured.
"""
