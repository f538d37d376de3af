"""How is one row measured, or measured again?

    python -m experiments run averages/mean.s0     measure, write the record
    python -m experiments replay averages/mean.s0  repeat the first steps, compare with the record
    python -m experiments list                     every run, and how long it took
    python -m experiments run --all --seeds 5 --out DIR    the whole book, on another machine
    python -m experiments adopt DIR/records.tar.gz         its records, brought home

In: names of runs. Out: records in results/, progress on standard error. Exit status: 0; 1 where
something failed; 3 where `replay --attest` found a record that only a measurement can mend.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from engine import declaration, paths
from engine.errors import MedidaError, Parser, accident

MEASURE = 3
"""The exit status on which the Snakefile goes from a replay to a measurement."""


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = Parser(prog="python -m experiments", description=__doc__,
                 formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    commands = top.add_subparsers(dest="command", required=True, parser_class=Parser)
    run = commands.add_parser("run", help="measure runs and write their records")
    replay = commands.add_parser("replay", help="repeat the first steps and compare")
    listing = commands.add_parser("list", help="every run, and how long it took")
    adopting = commands.add_parser("adopt", help="check an archive of records and take them over")
    adopting.add_argument("archive", type=Path)
    run.add_argument("runs", nargs="*", metavar="EXPERIMENT/RUN")
    run.add_argument("--all", action="store_true", help="the whole book, shortest runs first")
    run.add_argument("--seeds", type=int, help="with --all: seeds of each trained row (default: 1)")
    run.add_argument("--out", type=Path, help="with --all: where records and their archive go")
    replay.add_argument("runs", nargs="+", metavar="EXPERIMENT/RUN")
    for command in (run, replay):
        command.add_argument("--device", default="auto", help="auto (default), cuda, mps or cpu")
    replay.add_argument(
        "--attest", action="store_true", help="re-attest records whose code changed and who agree"
    )
    for command in (run, replay, listing, adopting):
        command.add_argument("--settings", choices=("full", "smoke"), default=paths.SETTINGS)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status: 0, or 1 after one clear line on standard error."""
    options = parser().parse_args(arguments)
    if options.settings != paths.SETTINGS:  # the folders hang on the environment: begin again
        os.environ["MEDIDA_SETTINGS"] = options.settings
        module = [sys.executable, "-m", "experiments"]
        os.execv(sys.executable, [*module, *(arguments or sys.argv[1:])])
    try:
        if options.command == "list":
            status = list_runs()
            sys.stdout.flush()
            return status
        from experiments import (  # PyTorch takes a second and a half: not for --help
            runner,
            together,
        )

        if options.command == "adopt":
            return adopt(together.adopt(options.archive))
        if options.command == "run" and options.all:
            seeds = 1 if options.seeds is None else options.seeds
            if options.runs or options.out is None or seeds < 1:
                raise MedidaError("run --all takes --out DIR and --seeds N, and no names of runs")
            print(together.measure_all(options.device, seeds, options.out))
            return 0
        if options.command == "run" and (options.seeds is not None or options.out is not None):
            raise MedidaError("--seeds and --out belong to run --all; a seed is named: mean.s0")
        if not options.runs:
            raise MedidaError("which run? EXPERIMENT/RUN, or --all; python -m experiments list")
        specs = [declaration.run_spec(name) for name in options.runs]
        if options.command == "run":
            for spec in specs:
                runner.measure_run(spec, options.device)
            return 0
        outcomes = [runner.replay_run(spec, options.device, options.attest) for spec in specs]
        if all(outcomes):
            return 0
        return MEASURE if options.attest else 1
    except MedidaError as error:
        print(error, file=sys.stderr)
        return 1
    except SyntaxError as error:  # a module that cannot even be imported
        where = f"{paths.shown(Path(error.filename))}: " if error.filename else ""
        print(f"{where}is not valid Python: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever read has gone away
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        print(accident(error), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "interrupted; the same command goes on, a training at its last checkpoint",
            file=sys.stderr,
        )
        return 1


def adopt(runs: list[str]) -> int:
    """Say what was taken over, and which of it the experiments do not declare yet."""
    declared = {
        spec.id
        for experiment in declaration.experiments()
        for spec in declaration.declaration(experiment).runs
    }
    undeclared = [run for run in runs if run not in declared]
    print(f"{len(runs)} records adopted")
    if undeclared:
        print(f"not part of the book before SEEDS or WAITING say so: {', '.join(undeclared)}")
    return 0


def list_runs() -> int:
    """Every declared run with the seconds its record took."""
    from engine import record

    for experiment in declaration.experiments():
        for spec in declaration.declaration(experiment).runs:
            try:
                took = f"{record.read_record(spec.path).seconds:10.1f} s"
            except MedidaError:
                took = "         no record"
            print(f"{spec.id:48}{took}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
