"""Where does Altair enter the book, and with which types?

In: the Altair package, whose generated classes a strict type checker cannot follow. Out: `alt`, the
same package as Any, imported from here and nowhere else.
"""

from __future__ import annotations

from typing import Any

import altair

alt: Any = altair
