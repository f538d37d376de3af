"""What can go wrong in the engine, and how is it said?

Every error of the engine is a `MedidaError`, and its text is one line that says what happened and,
where there is one, the command that mends it.

    MedidaError
    ├── SettingsError          the environment asks for settings that do not exist
    ├── DeclarationError       an experiment's literals cannot be read
    ├── SourceError            a source file cannot be parsed, or a name in it leads nowhere
    ├── RecordError            a record is corrupt, edited by hand, or may not be written
    │   ├── MissingRecord      there is no such record yet
    │   └── StaleRecord        the record is sound, but its source or settings have changed since
    ├── MissingPath            no value is found under this path
    ├── QuantityError          values that cannot be combined (units, seeds, machines)
    ├── NumberError            a number cannot be shown as asked
    ├── ClaimError             a claim is malformed, or compares what must not be compared
    ├── RenderError            a chapter cannot be turned into a page
    ├── LintError              a finding of the check that stops the build
    └── SiteError              the site cannot be built
"""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn


class MedidaError(Exception):
    """The root: one line, whatever was passed."""

    def __str__(self) -> str:
        return " ".join(super().__str__().split())


class SettingsError(MedidaError):
    """The settings asked for are neither "full" nor "smoke"."""


class DeclarationError(MedidaError):
    """The literals at the top of an experiment cannot be read as what they should be."""


class SourceError(MedidaError):
    """A source file cannot be parsed, or a name in it leads nowhere."""


class RecordError(MedidaError):
    """A record is corrupt, edited by hand, or may not be written."""


class MissingRecord(RecordError):  # noqa: N818  a state, not a fault
    """There is no record of this run yet."""


class StaleRecord(RecordError):  # noqa: N818  a state, not a fault
    """The record is sound, but what would produce it now is something else.

    `record` is the record as it stands, for those who may show it marked as stale.
    """

    def __init__(self, message: str, record: object = None) -> None:
        super().__init__(message)
        self.record = record


class MissingPath(MedidaError):  # noqa: N818  a state, not a fault
    """No value is found under this path."""


class QuantityError(MedidaError):
    """Values that cannot be combined: their units, seeds or machines do not fit."""


class NumberError(MedidaError):
    """A number cannot be shown as asked."""


class ClaimError(MedidaError):
    """A claim is malformed, or compares what must not be compared."""


class RenderError(MedidaError):
    """A chapter cannot be turned into a page."""


class LintError(MedidaError):
    """A finding of the check that stops the build."""


class SiteError(MedidaError):
    """The site cannot be built."""


# ---------------------------------------------------------------------------------------------
# On the command line


class Parser(argparse.ArgumentParser):
    """Wrong usage is one line and status 1, like every other mistake."""

    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {' '.join(message.split())} (see --help)", file=sys.stderr)
        raise SystemExit(1)


def accident(error: OSError, what: str = "the output") -> str:
    """What the system refused (a full disk, a forbidden folder), in one line."""
    where = what if error.filename is None else str(error.filename)
    return " ".join(f"{where}: {error.strerror or error}".split())
