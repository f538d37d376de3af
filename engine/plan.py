"""Which runs are current, which are to be replayed or measured, and why?

Input: the declared runs, their records and their source as it is now. Output: one job per run, with
a reason that names what changed and an estimate of the time it takes.
"""

from __future__ import annotations

import json
import platform
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from engine import paths
from engine.declaration import RunSpec, declaration, experiments, run_command
from engine.errors import MissingRecord, RecordError, SourceError
from engine.provenance import Fingerprint, difference, fingerprint, only_definitions_changed
from engine.record import Record, is_replayable, last_seconds, read_record
from engine.source import glance

Action = Literal["current", "replay", "measure", "elsewhere"]


@dataclass(frozen=True)
class Job:
    """What is to be done with one run, and why.

    current: nothing. replay: its first steps can attest it. measure: anew. elsewhere: its values
    belong to a kind of device that is not here.
    """

    spec: RunSpec
    action: Action
    why: str
    estimate_seconds: float | None = None

    @property
    def command(self) -> str:
        """The command that does it."""
        if self.action != "replay":
            return self.spec.command
        return run_command(self.spec.id, self.spec.size).replace(" run ", " replay --attest ", 1)


def plan(settings: str | None = None) -> tuple[Job, ...]:
    """One job for every declared run, in the order of declaration.

    A bad record makes its own run due, and nothing else.

    Raises:
        DeclarationError: an experiment's literals cannot be read.
    """
    with glance():
        return tuple(
            job_of(spec)
            for experiment in experiments()
            for spec in declaration(experiment, settings).runs
        )


def job_of(spec: RunSpec, kinds: frozenset[str] | None = None) -> Job:
    """What is to be done with a run; `kinds` are the kinds of device that are here."""
    kinds = devices_here() if kinds is None else kinds
    try:
        current = fingerprint(spec)
    except SourceError as error:
        return Job(spec, "measure", f"its source cannot be read: {error}", last_seconds(spec))
    try:
        record = read_record(spec.path)
    except MissingRecord:
        return Job(spec, "measure", "no record yet", last_seconds(spec))
    except RecordError as error:
        kind = _kind_in(spec.path)
        is_bound = bool(declaration(spec.experiment, spec.size).machine_dependent)
        why = f"record is corrupt: {str(error).split('; measure it again')[0]}"
        if is_bound and kind is not None and kind not in kinds:
            return Job(spec, "elsewhere", f"{why} (measured on {kind})", last_seconds(spec))
        return Job(spec, "measure", why, last_seconds(spec))
    if record.digest == current.digest:
        return Job(spec, "current", "current", record.seconds)
    return _stale_job(spec, record, current, kinds)


def _stale_job(spec: RunSpec, record: Record, current: Fingerprint, kinds: frozenset[str]) -> Job:
    changes = difference(record, spec, current)
    why = shortened(changes) if changes else "digests are made in another way now"
    if is_replayable(record, spec, current):
        return Job(spec, "replay", why, None)
    kind = str(record.device["kind"])
    if record.machine_dependent and kind not in kinds:
        return Job(spec, "elsewhere", f"{why}; measured on {kind}, not here", record.seconds)
    same = only_definitions_changed(record, spec, current)
    if spec.trained and same and record.replay is None:
        why += "; its record holds nothing to replay"
    return Job(spec, "measure", why, record.seconds)


def shortened(changes: Iterable[str], most: int = 4) -> str:
    """The first changes in one line, and how many there are besides."""
    lines = list(changes)
    more = len(lines) - most
    return "; ".join(lines[:most]) + (f"; and {more} more" if more > 0 else "")


def devices_here() -> frozenset[str]:
    """The kinds of device of this machine, told without torch."""
    kinds = {"cpu"}
    if Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi"):
        kinds.add("cuda")
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        kinds.add("mps")
    return frozenset(kinds)


def _kind_in(path: Path) -> str | None:
    """The kind of device that a record which is no longer valid still names, if it does."""
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
        kind = content["provenance"]["device"]["kind"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return kind if isinstance(kind, str) else None


def orphans(settings: str | None = None) -> tuple[Path, ...]:
    """Record files that belong to no declared run: of an experiment or a row that was renamed."""
    size = paths.SETTINGS if settings is None else settings
    known: set[Path] = set()
    for experiment in experiments():
        declared = declaration(experiment, size, include_waiting=True)
        known.update(spec.path for spec in declared.runs)
    found = sorted(paths.results_of(size).glob("**/*.json"))
    return tuple(path for path in found if path not in known)


def remaining(jobs: Iterable[Job]) -> Mapping[Action, list[Job]]:
    """The jobs that are not current, by what is to be done."""
    found: dict[str, list[Job]] = {}
    for job in jobs:
        if job.action != "current":
            found.setdefault(job.action, []).append(job)
    return cast("Mapping[Action, list[Job]]", found)


def duration(seconds: float) -> str:
    """Seconds as a person says them: "40 s", "12 min", "3.5 h"."""
    if seconds < 1:
        return "less than 1 s"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def about(seconds: float) -> str:
    """An estimate as a person says it: "about 12 min", "less than 1 s"."""
    text = duration(seconds)
    return text if seconds < 1 else f"about {text}"
