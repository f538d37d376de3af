"""What happens from a run's name to its record?

In: a run as declared. Out: its record written, or its first steps compared with those in the
record. A trained run first goes through the short run that every later replay repeats.
"""

import fcntl
import importlib
import math
import re
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from engine import errors, paths, provenance, record
from engine.declaration import RunSpec
from engine.plan import duration
from experiments import as_imported, session
from model.corpus import CorpusError
from model.train import CheckpointError

# listing: tolerances
TOLERANCE = 2e-4  # relative, on one kind of device
DEVICE_TOLERANCE = 5e-3  # relative, between kinds of device
MEASURED_AGAIN = 60.0  # s; untrained, below: replayed whole
# end: tolerances
DEVICE_FAILED = re.compile(r"\b(?:CUDA|cuDNN|cuBLAS|MPS|HIP)\b|out of memory", re.IGNORECASE)


def measure_run(spec: RunSpec, device_name: str) -> None:
    """Measure one run and write its record; a killed one goes on at its checkpoint."""
    with plain_errors(spec), alone(spec) as waited:
        fingerprint = as_imported.fingerprint(spec)
        if waited and current(spec):
            print(f"{spec.id}: measured by the other process", file=sys.stderr)
            spec.path.touch()  # for whoever compares times, as Snakemake does
            return
        device = chosen(spec, device_name)
        module, settings = prepared(spec, device)
        print(f"{spec.id}: {estimate(spec)}", file=sys.stderr, flush=True)
        began = time.monotonic()
        replay = None
        if spec.trained:
            replay = replay_of(*first_steps(module, spec, settings, device))
        checkpoint = session.checkpoint_path(spec.id, fingerprint.digest)
        run = session.Run(spec.id, spec.seed, device, checkpoint=checkpoint)
        values = module.measure(settings, run)
        if replay is not None and device.type == "cpu" and run.losses != replay["losses"]:
            raise errors.MedidaError(
                f"{spec.id}: the first losses differ from those of its own replay; nothing recorded"
            )
        seconds = time.monotonic() - began + run.earlier_seconds
        path = record.write_record(
            spec,
            values,
            replay=replay,
            fingerprint=fingerprint,
            device=described(device, spec.threads),
            seconds=seconds,
        )
        checkpoint.unlink(missing_ok=True)
        print(f"{spec.id}: {paths.shown(path)}, {duration(seconds)}", file=sys.stderr)


def replay_run(spec: RunSpec, device_name: str, attest: bool) -> bool:
    """Repeat what a replay can reach and compare; True where it agrees.

    With `attest`, a record whose code has changed is re-attested if everything agrees and every
    changed definition was called on the way.
    """
    with plain_errors(spec), alone(spec):
        old = record.read_record(spec.path)
        fingerprint = as_imported.fingerprint(spec)
        device = chosen(spec, device_name)
        module, settings = prepared(spec, device)
        began = time.monotonic()
        with provenance.CallTrace() as trace:
            if spec.trained:
                if old.replay is None:  # it was not yet a training when it was recorded
                    raise errors.MedidaError(f"{spec.id}: records no first steps: {spec.command}")
                losses, values = first_steps(module, spec, settings, device)
                new: dict[str, Any] = {"losses": losses, "values": values}
                expected = {name: old.replay[name] for name in new}
            elif old.seconds <= MEASURED_AGAIN:
                new = dict(module.measure(settings, session.Run(spec.id, spec.seed, device)))
                expected = dict(old.values)
            else:
                took = duration(old.seconds)
                print(f"{spec.id}: not replayed; measuring it, all there is to do, took {took}")
                return not attest
        same_kind = old.device["kind"] == device.type
        tolerance = TOLERANCE if same_kind else DEVICE_TOLERANCE
        prefix = "values." if spec.trained else ""
        left_out = {f"{prefix}{leaf}" for leaf in old.machine_dependent}
        differing = disagreements(expected, new, tolerance, same_kind, left_out)
        took = time.monotonic() - began
        if differing:
            print(f"{spec.id}: differs: {'; '.join(differing[:3])}", file=sys.stderr)
            return False
        print(f"{spec.id}: agrees within {tolerance:g}, {took:.1f} s", file=sys.stderr)
        if old.digest == fingerprint.digest:
            spec.path.touch()  # another process may just have attested it
            return True
        missed = provenance.uncovered(old, spec, trace.called)
        if missed or not attest or not record.is_replayable(old, spec, fingerprint):
            reason = (
                f"the replay did not call {', '.join(missed)}"
                if missed
                else "; ".join(provenance.difference(old, spec, fingerprint))
            )
            print(f"{spec.id}: yet the record is stale ({reason}): {spec.command}", file=sys.stderr)
            return False
        record.reattest(old, spec, fingerprint, tolerance, described(device, spec.threads))
        print(f"{spec.id}: re-attested", file=sys.stderr)
        return True


def first_steps(
    module: Any, spec: RunSpec, settings: Any, device: torch.device
) -> tuple[list[float], Mapping[str, Any]]:
    """The short run: its losses and every value the finished run records, on a small fixed part."""
    scratch = session.scratch_checkpoint(spec.id)
    try:
        run = session.Run(spec.id, spec.seed, device, short=True, checkpoint=scratch)
        values = module.measure(settings, run)
        return run.losses, values
    finally:
        scratch.unlink(missing_ok=True)


def replay_of(losses: list[float], values: Mapping[str, Any]) -> dict[str, Any]:
    """What a record keeps for later replays."""
    return {
        "losses": losses,
        "values": values,
        "tolerance": TOLERANCE,
        "device_tolerance": DEVICE_TOLERANCE,
    }


def disagreements(
    expected: Any, found: Any, tolerance: float, same_kind: bool, left_out: set[str], path: str = ""
) -> list[str]:
    """Leaves that differ by more than `tolerance` (relative, absolute below one).

    On devices of one kind counts agree exactly. Texts are compared only between these: a sampled
    letter flips on a rounding.
    """
    if path in left_out:
        return []
    if isinstance(expected, str | bool) or isinstance(found, str | bool):
        agrees = expected == found or (isinstance(expected, str) and not same_kind)
        return [] if agrees else [f"{path}: {found!r} instead of {expected!r}"]
    if isinstance(expected, int | float) and isinstance(found, int | float):
        if same_kind and isinstance(expected, int) and isinstance(found, int):
            tolerance = 0.0
        if math.isfinite(expected) and math.isfinite(found):
            agrees = abs(expected - found) <= tolerance * max(1.0, abs(expected))
        else:  # an infinity is within no distance of anything but itself
            agrees = expected == found or (math.isnan(expected) and math.isnan(found))
        return [] if agrees else [f"{path}: {found!r} instead of {expected!r}"]
    wanted, got = branches(expected), branches(found)
    if wanted is None or got is None or set(wanted) != set(got):
        return [f"{path}: other names, or another length"]
    return [
        line
        for name, inner in wanted.items()
        for line in disagreements(
            inner, got[name], tolerance, same_kind, left_out, f"{path}.{name}" if path else name
        )
    ]


def branches(value: Any) -> dict[str, Any] | None:
    """What lies under a group or a list, by name or place; None under anything else."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, list | tuple):
        return {str(place): item for place, item in enumerate(value)}
    return None


def prepared(spec: RunSpec, device: torch.device) -> tuple[Any, Any]:
    """The experiment's module and the run's settings as its own dataclass."""
    session.settle(spec.threads, device)
    module = importlib.import_module(f"experiments.{spec.experiment}")
    as_imported.note()
    return module, type(module.FULL)(**spec.settings)


def chosen(spec: RunSpec, wanted: str) -> torch.device:
    """The device asked for; an experiment that belongs on the CPU stays there."""
    try:
        device = session.choose_device(wanted)
    except ValueError as error:
        raise errors.MedidaError(str(error)) from error
    return torch.device("cpu") if spec.device == "cpu" else device


def described(device: torch.device, threads: int) -> dict[str, Any]:
    """The device as a record names it."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else None
    return provenance.machine(device.type, threads, name)


def estimate(spec: RunSpec) -> str:
    """How long it may take: what the last record of the run, or of its row, took."""
    seconds = record.last_seconds(spec)
    if seconds is None:
        return "never measured here; the time left is shown after the first steps"
    return f"about {duration(seconds)}, as the last time"


def current(spec: RunSpec) -> bool:
    """Whether the run's record is there and of the present code and settings."""
    try:
        record.load_record(spec)
    except errors.MedidaError:
        return False
    return True


@contextmanager
def alone(spec: RunSpec) -> Generator[bool]:
    """One process a run: a second one waits, and is told so; a lock goes with its process."""
    lock = paths.BUILD / "locks" / f"{spec.id.replace('/', '.')}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{spec.id}: another process measures it; waiting", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
            waited = True
        else:
            waited = False
        sweep(spec)
        yield waited


def sweep(spec: RunSpec) -> None:
    """Remove what killed processes left half-written of this run's checkpoints: no one else writes
    them while the lock is held."""
    checkpoint = paths.BUILD / "checkpoints" / spec.id
    for pattern in ("*.short.pt", "*.part"):
        for left in checkpoint.parent.glob(f"{checkpoint.name}.{pattern}"):
            left.unlink(missing_ok=True)


@contextmanager
def plain_errors(spec: RunSpec) -> Generator[None]:
    """What can go wrong outside the book's own checks, as one line."""
    try:
        yield
    except (CorpusError, CheckpointError) as error:
        raise errors.MedidaError(f"{spec.id}: {error}") from error
    except OSError as error:
        said = errors.accident(error, paths.shown(paths.BUILD))
        raise errors.MedidaError(f"{spec.id}: {said}") from error
    except RuntimeError as error:
        if isinstance(error.__context__, OSError):  # what PyTorch makes of a full disk
            said = errors.accident(error.__context__, paths.shown(paths.BUILD))
            raise errors.MedidaError(f"{spec.id}: {said}") from error
        if isinstance(error.__context__, KeyboardInterrupt):  # and of Ctrl-C while it writes
            raise error.__context__ from None
        if not DEVICE_FAILED.search(str(error)):
            raise  # a fault of the code: its traceback is wanted
        said = str(error).split("\n")[0]
        raise errors.MedidaError(
            f"{spec.id}: the device failed ({said}); the record is as it was, and the same command"
            " goes on at the last checkpoint"
        ) from error
