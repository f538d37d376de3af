"""How is the whole book measured in one call, on a machine with a GPU and little else?

    python -m experiments run --all --device cuda --seeds 5 --out DIR
    python -m experiments adopt DIR/records.tar.gz

In: a device, how many seeds, a folder. Out: records there, shortest runs first, and one archive of
them; what is there already is not measured again. The seeds of a trained row are trained as one
batch of models. `adopt` checks an archive and puts its records into results/.
"""

import io
import sys
import tarfile
import tempfile
import threading
import time
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from engine import declaration, errors, paths, provenance, record
from engine.declaration import RunSpec
from engine.plan import duration
from experiments import as_imported, runner, session
from experiments.session import Progress, Run
from model.language_model import LanguageModel
from model.settings import LanguageModelSettings
from model.train import Draw, Training, Watch
from model.train_together import train_together

ARCHIVE = "records.tar.gz"
LARGEST = 20 << 20  # bytes of one record in an archive


@dataclass
class Meeting:
    """Where the runs of several seeds wait for each other to be trained as one batch.

    Each run measures in a thread of its own, one at a time (`baton`), until it comes to train; the
    last to come trains for all. What is random is drawn from each run's own generator, so the order
    of the threads decides nothing.
    """

    size: int
    checkpoint: Path | None
    name: str
    baton: threading.Lock = field(default_factory=threading.Lock)
    models: list[LanguageModel] = field(default_factory=list[LanguageModel])
    draws: list[Draw] = field(default_factory=list[Draw])
    watches: list[Watch] = field(default_factory=list[Watch])
    runs: list[Run] = field(default_factory=list[Run])
    trainings: list[Training] | None = None
    failed: BaseException | None = None
    ready: threading.Event = field(default_factory=threading.Event)

    def train(
        self,
        model: LanguageModel,
        draw: Draw,
        settings: LanguageModelSettings,
        run: Run,
        watch: Watch,
    ) -> Training:
        """What `material.fit` calls in place of the loop; the baton is in the caller's hand."""
        place = len(self.models)
        self.models.append(model)
        self.draws.append(draw)
        self.watches.append(watch)
        self.runs.append(run)
        if len(self.models) == self.size:
            try:
                self.trainings = train_together(
                    self.models,
                    self.draws,
                    settings,
                    generators=[each.generator for each in self.runs],
                    watches=self.watches,
                    checkpoint=self.checkpoint,
                    report=Progress(self.name, short=False),
                )
            except BaseException as error:
                self.failed = error
            self.ready.set()
        else:
            self.baton.release()
            self.ready.wait()
            self.baton.acquire()
        if self.trainings is None:
            raise errors.MedidaError(f"{self.name}: the training failed") from self.failed
        return self.trainings[place]


def measure_seeds(specs: Sequence[RunSpec], device_name: str) -> None:
    """Measure the seeds of one trained row as one batch of models and write their records."""
    with ExitStack() as held:
        held.enter_context(runner.plain_errors(specs[0]))
        if any([held.enter_context(runner.alone(spec)) for spec in specs]):  # all of the locks
            specs = [spec for spec in specs if not runner.current(spec)]
        if specs:
            _measure_together(specs, device_name)


def _measure_together(specs: Sequence[RunSpec], device_name: str) -> None:
    first = specs[0]
    fingerprints = [as_imported.fingerprint(spec) for spec in specs]
    device = runner.chosen(first, device_name)
    module, settings = runner.prepared(first, device)
    name = f"{first.experiment}/{first.row or 'all'} ({len(specs)} seeds)"
    checkpoint = session.checkpoint_path(name.replace(" ", "-"), fingerprints[0].digest)
    meeting = Meeting(len(specs), checkpoint, name)
    began = time.monotonic()
    replays = [runner.first_steps(module, spec, settings, device) for spec in specs]
    found: dict[int, dict[str, object]] = {}

    def measure(place: int, spec: RunSpec) -> None:
        with meeting.baton:
            try:
                run = Run(spec.id, spec.seed, device, meet=meeting.train)
                found[place] = module.measure(settings, run)
            except BaseException as error:
                meeting.failed = meeting.failed or error
                meeting.ready.set()

    threads = [
        threading.Thread(target=measure, args=(place, spec), daemon=True)
        for place, spec in enumerate(specs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if meeting.failed is not None:
        raise meeting.failed
    earlier = meeting.trainings[0].earlier_seconds if meeting.trainings else 0.0
    seconds = (time.monotonic() - began + earlier) / len(specs)
    for place, spec in enumerate(specs):
        losses, values = replays[place]
        record.write_record(
            spec,
            found[place],
            replay=runner.replay_of(losses, values),
            fingerprint=fingerprints[place],
            device=runner.described(device, spec.threads),
            seconds=seconds,
        )
    checkpoint.unlink(missing_ok=True)


def rows(seeds: int) -> list[list[RunSpec]]:
    """Every row of the book with so many seeds (one where it is deterministic), shortest first."""
    found: list[list[RunSpec]] = []
    for experiment in declaration.experiments():
        by_row: dict[str, list[RunSpec]] = {}
        for spec in declaration.declaration(experiment, include_waiting=True).runs:
            by_row.setdefault(spec.row, []).append(spec)
        for specs in by_row.values():
            if specs[0].seed is None:
                found.append(specs[:1])
            elif specs[0].trained:
                found.append([replace(specs[0], seed=seed) for seed in range(seeds)])
            else:
                found.append(specs)
    return sorted(found, key=lambda specs: expected_work(specs[0]))


def expected_work(spec: RunSpec) -> float:
    """A rough measure of a run's work, to take short ones first: numbers multiplied in training."""
    sizes = spec.settings
    if not spec.trained:
        return 0.0
    work = 1.0
    for name in ("steps", "batch", "context", "width"):
        value = sizes.get(name, 1)
        work *= value if isinstance(value, int | float) else 1
    blocks, inner = sizes.get("blocks", 1), sizes.get("head_width", 1)
    factor = blocks if isinstance(blocks, int) else 1
    return work * factor * (1 + (inner / 1000 if isinstance(inner, int) else 0))


def measure_all(device_name: str, seeds: int, out: Path) -> Path:
    """Measure everything into `out`; give the archive. Only what is missing there is measured."""
    paths.RESULTS = out / "results"
    began = time.monotonic()
    every = rows(seeds)
    for number, specs in enumerate(every, 1):
        missing = [spec for spec in specs if not runner.current(spec)]
        if not missing:
            continue
        print(f"row {number} of {len(every)}: {specs[0].experiment}/{specs[0].row or 'all'}, "
              f"{duration(time.monotonic() - began)} so far",
              file=sys.stderr, flush=True)  # fmt: skip
        if specs[0].trained and len(missing) > 1:
            measure_seeds(missing, device_name)
        else:
            for spec in missing:
                runner.measure_run(spec, device_name)
        pack(out)
    return pack(out)


def pack(out: Path) -> Path:
    """All records below `out` as one archive, written whole."""
    archive = out / ARCHIVE
    partial = archive.with_suffix(".part")
    with tarfile.open(partial, "w:gz") as tar:
        for path in sorted((out / "results").glob("*/*.json")):
            tar.add(path, arcname=path.relative_to(out).as_posix())
    partial.replace(archive)
    return archive


def adopt(archive: Path) -> list[str]:
    """Check every record of an archive, then put them into results/; all of them or none.

    Raises MedidaError for what is no archive of records, for a name that leads elsewhere, for a
    record that is not of the present code.
    """
    try:
        with tarfile.open(archive, "r:*") as tar:
            contents = [(member, _content(tar, member)) for member in tar.getmembers()]
    except (OSError, tarfile.TarError, EOFError, zlib.error, ValueError) as error:
        raise errors.MedidaError(f"{archive}: not an archive of records ({error})") from error
    with tempfile.TemporaryDirectory() as scratch:
        checked = [_checked(archive, *content, Path(scratch)) for content in contents]
    beside = {spec.id: spec.path.with_suffix(".adopted") for spec, _ in checked}
    try:
        for spec, content in checked:  # all are on the disk before the first takes its place
            record.write_atomically(
                beside[spec.id], content, f"{spec.id}: the record", spec.command
            )
        for spec, _ in checked:
            beside[spec.id].replace(spec.path)
    finally:
        for path in beside.values():
            path.unlink(missing_ok=True)
    return [spec.id for spec, _ in checked]


def _checked(
    archive: Path, member: tarfile.TarInfo, content: bytes, scratch: Path
) -> tuple[RunSpec, bytes]:
    """The run that a member of an archive is the record of, once it is seen to be that."""
    parts = Path(member.name).parts
    if not member.isfile() or len(parts) != 3 or parts[0] != "results" or ".." in parts:
        raise errors.MedidaError(f"{archive}: {member.name!r} is no record")
    path = scratch / parts[1] / parts[2]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    try:
        found = record.read_record(path)
    except errors.RecordError as error:
        said = str(error).replace(f"{scratch.as_posix()}/", "results/")
        raise errors.MedidaError(f"{archive}: {said}") from error
    spec = declaration.run_spec(found.id)
    if found.digest != provenance.fingerprint(spec).digest:
        raise errors.MedidaError(f"{archive}: {spec.id} was measured with other code or settings")
    return spec, content


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    if member.size > LARGEST:
        raise tarfile.TarError(f"{member.name} is too large for a record")
    file = tar.extractfile(member) if member.isfile() else io.BytesIO()
    return file.read() if file else b""
