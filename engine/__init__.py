"""What keeps a book of measured numbers honest?  This package: records, digests, claims, pages.

It knows no torch and no transformer; it would serve another book unchanged.
"""
