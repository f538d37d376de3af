"""What must Snakemake be told, so that it runs exactly what the plan says, and why?

In: the plan, and how Snakemake was called. Out: the rule each run belongs to, and its reason; one
token file per run, the only input of a record whose time Snakemake looks at; and a lock, so that
two calls in one folder work one after the other.

Snakemake compares times, and for small files contents with those of its own last run; after a
clone neither means anything. So the token of a current run is as old as a file can be and always
reads the same, and any other token is younger than the record and reads as it never did before.
What is made from other files depends on one list of their hashes, written where it changed.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import sys
import time
import uuid
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from engine import paths
from engine.declaration import declaration
from engine.errors import SettingsError
from engine.plan import Job, devices_here, duration, plan

CONFIG = {"settings": ("full", "smoke"), "device": ("auto", "cuda", "mps", "cpu")}
BUILD, DRAWN, RESULTS, SITE = map(
    paths.shown, (paths.BUILD, paths.DRAWN, paths.RESULTS, paths.SITE)
)
_held: list[IO[str]] = []  # a lock lasts as long as its file is open: as long as the process


@dataclass(frozen=True)
class Schedule:
    """The plan as the Snakefile's rules ask for it; `run` is a run's name, "averages/mean.s0".

    Paths are relative to the repository, as one types them after `snakemake`.
    """

    jobs: dict[str, Job]
    rules: Mapping[str, tuple[str, ...]]
    due: list[str]
    settings: str
    device: str
    has_gpu: bool

    @property
    def text(self) -> str:
        """All that pages are made of but records, drawings, styles and script."""
        code = [f"{folder}/*.py" for folder in ("engine", "model", "experiments", "figures")]
        made = ["chapters/**/*", "templates/**/*", "web/*.mjs", "web/static/**/*", "mkdocs*.yml"]
        return contents("text", *code, *made)

    def runs_of(self, rule: str) -> str:
        """A regular expression for the runs that belong to a rule."""
        return "|".join(re.escape(run) for run, its in self.rules.items() if rule in its) or "(?!)"

    def rehearsed(self, pattern: str) -> list[str]:
        """The pattern for each run that the small settings are to go through: for all, or none."""
        return [pattern.format(run=run) for run, rule in self.rules.items() if "rehearse" in rule]

    def why(self, run: str) -> str:
        job = self.jobs[run]
        return "asked for" if job.action == "current" else job.why

    def threads(self, run: str) -> int:
        return self.jobs[run].spec.threads

    def gpu(self, run: str) -> int:
        return int(self.has_gpu and self.jobs[run].spec.device != "cpu")

    def needs(self, run: str) -> list[str]:
        """What must be there before a run starts: the text, where it is to read it."""
        job = self.jobs[run]
        reads = "corpus" in declaration(job.spec.experiment).inputs
        starts = job.action in ("replay", "measure") and paths.SETTINGS == "full"
        return [f"{BUILD}/corpus.txt"] if reads and starts else []

    def source(self, run: str) -> str:
        """The module that measures a run."""
        return f"experiments/{self.jobs[run].spec.experiment}.py"

    def records(self, experiments: Collection[str] | None = None) -> list[str]:
        """The records of some experiments, or of all."""
        return [
            paths.shown(job.spec.path)
            for job in self.jobs.values()
            if experiments is None or job.spec.experiment in experiments
        ]

    def records_in(self, figure: str) -> list[str]:
        """The records of every experiment that the figure names, by an alias too, or last cited."""
        words = set(re.findall(r"\w+", (paths.FIGURES / f"{figure}.py").read_text("utf-8")))
        with suppress(OSError, ValueError, KeyError):  # never drawn, or not to the end
            drawn = json.loads((paths.DRAWN / f"{figure}.json").read_bytes())
            words.update(path.split(".")[0] for path in drawn["paths"])
        for experiment in {job.spec.experiment for job in self.jobs.values()}:
            for alias, target in declaration(experiment).aliases.items():
                if alias.split(".")[0] in words:
                    words.add(target.split(".")[0])
        return self.records(words)


def prepare(config: Mapping[str, str], *, main: bool, dry: bool, forceall: bool) -> Schedule:
    """The schedule; in Snakemake's main process also the lock and the token files.

    Raises:
        SettingsError: `--config` names settings or a device that there are not.
    """
    for name, value in {"settings": paths.SETTINGS, "device": "auto", **config}.items():
        if value not in CONFIG.get(name, ()):
            known = " ".join(f"{name}={'|'.join(values)}" for name, values in CONFIG.items())
            raise SettingsError(f"--config {name}={value}: there is only {known}")
    if main and not dry:
        wait_for_others(paths.BUILD / "lock")
    jobs = {job.spec.id: job for job in plan(paths.SETTINGS)}
    due = [run for run, job in jobs.items() if forceall or job.action in ("replay", "measure")]
    if paths.SETTINGS == "smoke":
        rules = dict.fromkeys(jobs, ("rehearse",))
    elif main:
        rules = {run: (rule_of(job, forceall),) for run, job in jobs.items()}
    else:  # on another machine of a cluster: Snakemake itself says which rule it wants
        rules = dict.fromkeys(jobs, ("replay", "measure"))
    if main:
        for job in jobs.values():
            write_token(job)
        print(summary(jobs, {run: rules[run][0] for run in due}), end="", file=sys.stderr)
    device = config.get("device", "auto")
    has_gpu = len(devices_here()) > 1 if device == "auto" else device != "cpu"
    return Schedule(jobs, rules, due, paths.SETTINGS, device, has_gpu)


def rule_of(job: Job, forceall: bool) -> str:
    return "replay" if job.action == "replay" and not forceall else "measure"


def write_token(job: Job) -> None:
    """As old as can be where a run is current, or measured elsewhere; else younger than it."""
    token = paths.BUILD / "plan" / f"{job.spec.id}.token"
    token.parent.mkdir(parents=True, exist_ok=True)
    if job.action in ("current", "elsewhere"):
        token.write_text("current\n", "utf-8")
        when = 0.0
    else:
        token.write_text(f"{job.action} {uuid.uuid4()}: {job.why}\n", "utf-8")
        when = time.time()
    os.utime(token, (when, when))
    if job.spec.path.exists() and job.spec.path.stat().st_mtime > time.time():
        os.utime(job.spec.path)  # a time in the future would make Snakemake stop


def summary(jobs: Mapping[str, Job], due: Mapping[str, str]) -> str:
    """What is to be done, as in "plan: replay 3, measure 2 (about 4 min on one core)"."""
    counts = Counter(due.values())
    parts = [f"{rule} {counts[rule]}" for rule in ("replay", "measure", "rehearse") if counts[rule]]
    estimates = [jobs[run].estimate_seconds for run, rule in due.items() if rule == "measure"]
    seconds = sum(estimate for estimate in estimates if estimate is not None)
    if seconds:
        least = "more than" if None in estimates else "about"
        parts[-1] += f" ({least} {duration(seconds)} on one core)"
    elsewhere = [run for run, job in jobs.items() if job.action == "elsewhere" and run not in due]
    if elsewhere:
        parts.append(f"elsewhere {len(elsewhere)}")
    lines = [f"plan: {', '.join(parts)}"] if parts else []
    lines += [f"  {run}: {jobs[run].why}; there: {jobs[run].command}" for run in elsewhere]
    return "".join(f"{line}\n" for line in lines)


def figures() -> list[str]:
    """The modules in figures/ that draw one; the others help them."""
    return sorted(
        path.stem
        for path in paths.FIGURES.glob("*.py")
        if re.search(r"^def draw\(", path.read_text("utf-8"), re.MULTILINE)
    )


def drawings(figure: str) -> list[str]:
    """The files of a figure: its data, what it cites, and one drawing a language and width."""
    ends = [f"{language}.{width}.svg" for language in ("pt", "en") for width in ("wide", "narrow")]
    return [f"{DRAWN}/{figure}.{end}" for end in ("csv", "json", *ends)]


def contents(name: str, *patterns: str, but: Collection[str] = ()) -> str:
    """One file in place of many: names and hashes of those that match, younger when one changed."""
    found = sorted({path for pattern in patterns for path in paths.ROOT.glob(pattern)})
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {paths.shown(path)}\n"
        for path in found
        if path.is_file() and path.stem not in but
    ]
    listed = paths.ROOT / "build" / "plan" / f"{name}.txt"  # sources are the same for any settings
    if not listed.is_file() or listed.read_text("utf-8") != "".join(lines):
        listed.parent.mkdir(parents=True, exist_ok=True)
        listed.write_text("".join(lines), "utf-8")
    return paths.shown(listed)


def wait_for_others(path: Path) -> None:
    """Wait until no other Snakemake works in this folder. A killed one holds nothing back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        print(f"waiting for another snakemake here (process {file.read()})", file=sys.stderr)
        fcntl.flock(file, fcntl.LOCK_EX)
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    _held.append(file)
