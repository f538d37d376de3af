"""Where does the text come from, and is it the right one?

In: nothing, or the folder named by MEDIDA_DATA. Out: the path of the one-megabyte Shakespeare text
(Karpathy's char-rnn), its sha256 checked; where it lies nowhere it is downloaded once into `data/`.
`python -m model.corpus` says where.
"""

import hashlib
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

NAME = "tinyshakespeare.txt"
SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
URL = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
TIMEOUT = 20  # seconds without a byte
RETRIES = 3


class CorpusError(Exception):
    """The text is missing, or not the one the book was measured on; one line, the ways out."""


def folders() -> tuple[Path, ...]:
    """Where the text is looked for, in this order."""
    root = Path(__file__).resolve().parent.parent
    named = os.environ.get("MEDIDA_DATA")
    return (
        root / "data",
        *([Path(named)] if named else []),
        root.parent / "shared" / "data",
    )


def find_corpus() -> Path | None:
    """The first file of the right name, its hash checked; None where there is no such file.

    Raises CorpusError for a file of the right name and the wrong content.
    """
    for folder in folders():
        path = folder / NAME
        if path.is_file():
            check(path)
            return path
    return None


def check(path: Path) -> None:
    """CorpusError unless the file's sha256 is the book's."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from error
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise CorpusError(
            f"{path}: not the text this book was measured on ({len(content)} bytes, sha256 "
            f"{found[:12]}…, wanted {SHA256[:12]}…); remove it to download it again, or put the "
            f"right file into data/ or into the folder that MEDIDA_DATA names"
        )


def load_corpus() -> str:
    """The text, found or downloaded. Raises CorpusError."""
    return (find_corpus() or download()).read_text(encoding="utf-8")


def download(folder: Path | None = None, url: str = URL) -> Path:
    """Fetch the text into `data/`, whole or not at all. Raises CorpusError after the retries."""
    target = (folder or folders()[0]) / NAME
    partial = target.with_name(f"{NAME}.{os.getpid()}.part")
    reason = ""
    for attempt in range(RETRIES):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _fetch(url, partial)
            check(partial)
            partial.replace(target)
            return target
        except (OSError, urllib.error.URLError, CorpusError) as error:
            reason = str(getattr(error, "reason", error))
            partial.unlink(missing_ok=True)
            if attempt + 1 < RETRIES:
                time.sleep(2**attempt)
    raise CorpusError(
        f"{target}: the text could not be downloaded from {url} ({reason}); put it there by hand, "
        f"or name its folder in MEDIDA_DATA"
    )


def _fetch(url: str, partial: Path) -> None:
    with urllib.request.urlopen(url, timeout=TIMEOUT) as reply, partial.open("wb") as file:
        size = int(reply.headers.get("Content-Length") or 0)
        done = 0
        while piece := reply.read(1 << 16):
            file.write(piece)
            done += len(piece)
            share = f"{100 * done // size} %" if size else f"{done >> 10} KiB"
            print(f"\r{NAME}: {share}", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
    if size and done != size:
        raise CorpusError(f"half a download, {done} of {size} bytes")


def main() -> int:
    """Print the text's path, once it is there; exit status 0, or 1 after one line."""
    try:
        print(find_corpus() or download())
    except CorpusError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
