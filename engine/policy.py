"""What may a page of the site load and run?

In: the finished HTML of a page. Out: the same, with a Content-Security-Policy in its head: scripts,
styles, fonts and data of the site itself, the few scripts that stand in the page by their hashes,
and style attributes, which formulas and charts need. Nothing of another host, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import re

_INLINE = re.compile(r"<script(?![^>]*\s(?:src|type)=)[^>]*>(.*?)</script>", re.DOTALL)
_FIRST = re.compile(r'<meta charset="utf-8">')
_FIXED = (
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",  # drawn signs, and an empty font, inside of the styles
    "font-src 'self' data:",
    "connect-src 'self'",
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
)


def policy(page: str) -> str:
    """The policy under which everything that the page holds works."""
    scripts = dict.fromkeys(_INLINE.findall(page))
    allowed = " ".join(["'self'", *(f"'sha256-{_hash(script)}'" for script in scripts)])
    return "; ".join(["default-src 'none'", f"script-src {allowed}", *_FIXED])


def stated(page: str) -> str:
    """The page with its policy before everything that it governs."""
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(page)}">'
    return _FIRST.sub(lambda m: f"{m[0]}\n      {meta}", page, count=1)


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
