"""Is what a process imported still what stands in the files?

A record names the digest of the code that gave it. A process that measures several runs imports a
module once: were its file edited between two runs, the digest would be that of the edit, and the
numbers those of what ran.
"""

import hashlib
import sys
from pathlib import Path

from engine import errors, paths, provenance
from engine.declaration import RunSpec
from engine.provenance import Fingerprint

imported: dict[str, tuple[Path, bytes]] = {}  # the file of each module, its digest when imported


def fingerprint(spec: RunSpec) -> Fingerprint:
    """The run's fingerprint, of the code that is going to run; call it before the import.

    What is not imported yet is read before it is. What this process imported for an earlier run
    must stand as it stood then.

    Raises:
        MedidaError: a file that the run uses was edited since.
    """
    note()
    found = provenance.fingerprint(spec)
    for name, (path, digest) in imported.items():
        used = any(piece.startswith(f"{name}.") for piece in found.definitions)
        if used and hashed(path) != digest:
            raise errors.MedidaError(
                f"{spec.id}: {paths.shown(path)} was edited after this process had read it;"
                " the same command measures what stands there now"
            )
    return found


def note() -> None:
    """Remember what the files of newly imported modules hold."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and name.startswith(("experiments.", "model.")) and name not in imported:
            imported[name] = Path(file), hashed(Path(file))


def hashed(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest() if path.exists() else b""
