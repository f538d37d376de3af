"""What does the book hold, is it still true, and what is left to be done?

    python -m engine get PATH [--all]    a value at full precision; the mean over its seeds
    python -m engine check               every record, every claim, and the lint
    python -m engine lint                hand-typed numbers, parity of the two languages, dead names
    python -m engine lint --reviewed CHAPTER   both languages were read side by side as they stand
    python -m engine why NAME            whether a run, experiment or value is current, what changed
    python -m engine verify [--replay]   the digests of all records; --replay runs first steps again
    python -m engine verify --site       build the site again: is the one that lies there the same?
    python -m engine plan                what is to be replayed and measured, and for how long
    python -m engine preview CHAPTER     one page as Markdown, and what is wrong with it

Exit status: 0, or 1 after clear lines on standard error. The settings are MEDIDA_SETTINGS's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from engine import paths
from engine.declaration import RunSpec, declaration, experiments, run_spec
from engine.errors import (
    DeclarationError,
    MedidaError,
    Parser,
    QuantityError,
    SiteError,
    accident,
)
from engine.plan import Job, about, duration, job_of, orphans, plan, remaining
from engine.quantity import Book, Quantity
from engine.record import Record, load_record, read_record

CHUNK = 4  # runs that share one process in `verify --replay`, since importing torch takes a while


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = Parser(
        prog="python -m engine",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)

    get = commands.add_parser("get", help="print a value at full precision")
    get.add_argument("path", metavar="PATH", help="such as averages.mean.validation_perplexity")
    get.add_argument("--all", action="store_true", help="the value of each seed, as a list")

    commands.add_parser("check", help="records, claims and lint: all as they should be?")
    lint = commands.add_parser("lint", help="hand-typed numbers, parity of languages, dead names")
    lint.add_argument(
        *("--reviewed", "-r"),
        nargs="+",
        metavar="CHAPTER",
        help="write down that both languages of a chapter were read side by side as they stand",
    )

    why = commands.add_parser("why", help="is it current, and what has changed?")
    why.add_argument("name", metavar="NAME", help="an experiment, a run or the path of a value")

    verify = commands.add_parser("verify", help="do records and source agree?")
    verify.add_argument("runs", nargs="*", metavar="EXPERIMENT/RUN", help="default: all")
    verify.add_argument("--replay", action="store_true", help="run the first steps again too")
    verify.add_argument(
        *("--site",),
        nargs="?",
        const=str(paths.SITE),
        metavar="FOLDER",
        help="build the site again and compare it with the one in FOLDER (default: build/site)",
    )
    verify.add_argument(
        "--jobs", type=_count, default=os.cpu_count() or 1, metavar="N", help="replays at a time"
    )

    commands.add_parser("plan", help="what is to be replayed and measured, and for how long")

    preview = commands.add_parser("preview", help="one page as Markdown, and its mistakes")
    preview.add_argument("chapter", metavar="CHAPTER", help="such as 02-average")
    preview.add_argument("--language", choices=("pt", "en"), default="pt")
    return top


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0, or 1 after clear lines on standard error."""
    options = parser().parse_args(arguments)
    try:
        status = _COMMANDS[options.command](options)
        sys.stdout.flush()
        return status
    except MedidaError as error:
        return complain([str(error)])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return complain([accident(error)])
    except KeyboardInterrupt:
        return complain(["interrupted; nothing was changed"])


def complain(lines: Iterable[str]) -> int:
    """Print problems to standard error; status 1 if there are any."""
    status = 0
    for line in lines:
        print(line, file=sys.stderr)
        status = 1
    return status


# ---------------------------------------------------------------------------------------------
# get


def get_value(options: argparse.Namespace) -> int:
    """Print a value, or all its seeds' values."""
    quantity = Book().get(options.path)
    if options.all:
        print(json.dumps(list(quantity.values.values()), ensure_ascii=False))
    else:
        print(shown(quantity))
    return 0


def shown(quantity: Quantity) -> str:
    """The value at full precision: a string as it is, anything else as JSON has it."""
    try:
        value = quantity.value
    except QuantityError:
        raise QuantityError(
            f"{quantity.expression} differs between seeds and is no number; --all prints each"
        ) from None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# ---------------------------------------------------------------------------------------------
# check and lint


def check(options: argparse.Namespace) -> int:
    """Every record, every claim, and the lint; each problem on a line of its own."""
    records, problems = check_records()
    print(f"{records} records are valid and current")
    holding, wrong = check_claims()
    print(f"{holding} claims are as the chapters expect")
    problems += wrong
    try:
        problems += lint_findings()
    except MedidaError as error:  # what stops the lint must not hide what was found before
        problems.append(str(error))
    return complain(dict.fromkeys(problems))


def check_records() -> tuple[int, list[str]]:
    """How many records are valid and current, and what is wrong with the others."""
    problems: list[str] = []
    count = 0
    for spec, record in _records(problems, _all_runs(problems)):
        stated = _mislabelled(spec, record)
        if stated:
            problems.append(stated)
        else:
            count += 1
    with suppress(DeclarationError):  # which is said above
        for path in orphans():
            problems.append(_orphaned(path))
    return count, problems


def _orphaned(path: Path) -> str:
    """What to do with a record of no declared run."""
    name = paths.shown(path)
    try:
        spec = run_spec(f"{path.parent.name}/{path.stem}")
    except MedidaError:
        return f"{name}: belongs to no declared run (renamed?); git rm {name}"
    return (
        f"{name}: SEEDS in experiments/{spec.experiment}.py does not name its seed;"
        f" add it there, or git rm {name}"
    )


def _all_runs(problems: list[str]) -> list[RunSpec]:
    specs: list[RunSpec] = []
    for experiment in experiments():
        try:
            specs += declaration(experiment).runs
        except DeclarationError as error:
            problems.append(str(error))
    return specs


def _records(problems: list[str], specs: Iterable[RunSpec]) -> Iterable[tuple[RunSpec, Record]]:
    for spec in specs:
        try:
            yield spec, load_record(spec)
        except MedidaError as error:
            problems.append(str(error))


def _mislabelled(spec: RunSpec, record: Record) -> str:
    """What a record says of its values' units that its experiment no longer says."""
    declared = declaration(spec.experiment, spec.size)
    for leaf, unit in record.units.items():
        if declared.unit(leaf) != unit:
            return (
                f"{spec.id}: the record gives {leaf} in {unit!r}, experiments/{spec.experiment}.py"
                f" in {declared.unit(leaf)!r}: {spec.command}"
            )
    return ""


def check_claims() -> tuple[int, list[str]]:
    """How many claims are as expected, and what is wrong with the others.

    Under smoke settings the values mean nothing: claims must be decidable, and may come out
    either way.
    """
    from engine import claims  # with Babel behind it: not for `get`

    book = Book()
    problems: list[str] = []
    count = 0
    for path in sorted(paths.CHAPTERS.glob("*/claims.toml")):
        try:
            found = claims.load_claims(path.parent)
        except MedidaError as error:
            problems.append(str(error))
            continue
        for claim in found.values():
            try:
                outcome = claims.check_claim(claim, book)
            except MedidaError as error:
                text = str(error)
                problems.append(text if claim.where in text else f"{claim.where}: {text}")
                continue
            if outcome.as_expected or paths.SETTINGS == "smoke":
                count += 1
            else:
                problems.append(outcome.complaint())
    return count, problems


def lint_findings() -> list[str]:
    """What the lint finds that must be mended, a line each; its warnings are printed."""
    from engine import lint  # with Jinja and Babel behind it: not for `get`

    found = lint.lint_book()
    wrong = lint.failing(found)
    for finding in found:
        if finding not in wrong:
            print(f"warning: {finding}")
    print(f"lint: {len(wrong)} findings, {len(found) - len(wrong)} warnings")
    return [str(finding) for finding in wrong]


def run_lint(options: argparse.Namespace) -> int:
    """The lint alone, or the note that both languages of some chapters were read side by side."""
    if options.reviewed:
        from engine import lint

        for chapter in options.reviewed:
            print(f"{paths.shown(lint.review(chapter))} is written: both languages as they stand")
        return 0
    return complain(lint_findings())


# ---------------------------------------------------------------------------------------------
# why, plan, verify


def why(options: argparse.Namespace) -> int:
    """For each run behind a name: current or not, and what changed."""
    for spec in runs_named(options.name):
        job = job_of(spec)
        print(f"{spec.id}: {job.why}" if job.action == "current" else f"{spec.id}: {_due(job)}")
        try:
            record = read_record(spec.path)
        except MedidaError:
            continue
        device = record.device
        print(
            f"  measured {record.measured_at} on {device['name']} ({device['kind']}) in"
            f" {duration(record.seconds)}; digest {record.digest[:12]}"
        )
        for attestation in record.attestations:
            changed: Any = attestation["changed"]
            print(f"  attested {attestation['at']} after a change of {', '.join(changed)}")
    return 0


def runs_named(name: str) -> tuple[RunSpec, ...]:
    """The runs that a name means: an experiment, a run's id, or the path of a value."""
    if "/" in name:
        return (run_spec(name),)
    if name in experiments():
        return declaration(name).runs
    return Book().runs(name)


def _due(job: Job) -> str:
    if job.action == "elsewhere":
        return f"{job.why}; on such a machine: {job.command}"
    return f"{job.why}; {job.command}"


def show_plan(options: argparse.Namespace) -> int:
    """What is left to do, why, and how long it takes."""
    jobs = plan()
    due = remaining(jobs)
    for action, those in due.items():
        for job in those:
            seconds = job.estimate_seconds
            took = f" ({about(seconds)})" if seconds is not None else ""
            print(f"{action} {job.spec.id}{took}: {job.why}")
    parts = [f"{action} {len(those)}" for action, those in due.items()]
    print(f"{len(jobs)} runs: {', '.join(parts) or 'all current'}{_total(due.get('measure', []))}")
    return 0


def _total(jobs: Sequence[Job]) -> str:
    known = [job.estimate_seconds for job in jobs if job.estimate_seconds is not None]
    unknown = len(jobs) - len(known)
    if not jobs:
        return ""
    if not known:
        return "; how long it takes is not known yet"
    more = f" and {unknown} of unknown length" if unknown else ""
    return f"; measuring takes {about(sum(known))} on one core{more}"


def verify(options: argparse.Namespace) -> int:
    """Whether records and source agree: digests, and with --replay the first steps too."""
    if options.site is not None:
        if options.runs or options.replay:
            raise MedidaError("verify --site compares a site, and takes no runs and no --replay")
        return verify_site(Path(options.site))
    problems: list[str] = []
    named = [run_spec(name) for name in options.runs]
    specs = named or _all_runs(problems)
    good = [spec for spec, _ in _records(problems, specs)]
    print(f"{len(good)} of {len(specs)} records are valid and current", flush=True)
    status = complain(problems)
    if options.replay and not replay(specs, options.jobs):
        status = 1
    return status


def verify_site(site: Path) -> int:
    """Whether a built site is what the book makes, file by file."""
    from engine.rebuilt import differences

    if not (site / "404.html").is_file():
        raise SiteError(f"{paths.shown(site)}: there is no such site: snakemake --cores all")
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "site"
        build_site(fresh)
        return complain(differences(site, fresh))


def build_site(folder: Path) -> None:
    """The site as the book makes it now. Raises SiteError with what stopped it."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir"]
    done = subprocess.run(
        [*command, str(folder)], cwd=paths.ROOT, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise SiteError(f"the site cannot be built: {lines[-1] if lines else 'no message'}")


def replay(specs: Sequence[RunSpec], jobs: int) -> bool:
    """Replay the runs that have a record, several processes at a time; whether all agreed."""
    names = [spec.id for spec in specs if spec.path.exists()]
    chunks = [names[start : start + CHUNK] for start in range(0, len(names), CHUNK)]
    environment = {**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")}

    def run(chunk: list[str]) -> tuple[int, list[str]]:
        command = [sys.executable, "-m", "experiments", "replay", *chunk]
        done = subprocess.run(
            command,
            cwd=paths.ROOT,
            env=environment,
            stdout=subprocess.PIPE,  # there stand the runs that are too long to repeat
            encoding="utf-8",
            check=False,
        )
        return done.returncode, done.stdout.splitlines()

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        outcomes = list(pool.map(run, chunks))
    failed = sum(1 for status, _ in outcomes if status)
    left_out = [line for _, lines in outcomes for line in lines]
    if failed:
        print(f"{failed} of {len(chunks)} groups of replays did not agree", file=sys.stderr)
    else:
        print(f"{len(names) - len(left_out)} runs replayed, all agree")
    for line in left_out:
        print(line)
    return not failed


def preview(options: argparse.Namespace) -> int:
    """A page for its author: Markdown with its numbers, then every mistake of the chapter."""
    from engine import render  # with Jinja and Babel behind it: not for `get`

    text, mistakes = render.preview(options.chapter, options.language)
    print(text, flush=True)
    return complain(mistakes)


_COMMANDS = {
    "get": get_value,
    "check": check,
    "lint": run_lint,
    "why": why,
    "verify": verify,
    "plan": show_plan,
    "preview": preview,
}


if __name__ == "__main__":
    reconfigure: Any = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:  # a terminal that has no é must not end in a traceback
        reconfigure(errors="backslashreplace")
    sys.exit(main())
