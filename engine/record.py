"""What was measured, by which code, where and when?

Input: the values that an experiment's `measure` returned, with the run and its fingerprint.
Output: one JSON file per run, results/<experiment>/<run>.json, written atomically, at full
precision, with a hash over its own content. Reading gives a deeply frozen `Record`, or an error
that names the file and the command that mends it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from engine import paths
from engine.declaration import PART, Declaration, RunSpec, declaration, run_command, run_name
from engine.errors import MissingRecord, RecordError, StaleRecord
from engine.provenance import (
    Fingerprint,
    canonical,
    changed_definitions,
    difference,
    fingerprint,
    only_definitions_changed,
    plain,
    versions,
)

SCHEMA = 1

KEYS = (
    "schema",
    "experiment",
    "run",
    "row",
    "seed",
    "settings",
    "values",
    "units",
    "machine_dependent",
    "nonfinite",
    "replay",
    "provenance",
    "measured_at",
    "seconds",
    "attestations",
    "hash",
)

_PROVENANCE = ("digest", "definitions", "inputs", "device", "versions")
_REPLAY = ("losses", "values", "tolerance", "device_tolerance")
_ATTESTATION = ("from", "to", "at", "tolerance", "changed", "device")
_RUN = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*\Z")
_HEX = re.compile(r"[0-9a-f]{64}\Z")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z\Z")
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_Require = Callable[[bool, str], None]
_LARGEST = 2**1023  # a whole number that a float could not hold is no number of a book


@dataclass(frozen=True)
class Record:
    """One run as it was measured. Mappings are read-only and lists are tuples, all the way down."""

    path: Path
    experiment: str
    run: str
    row: str
    seed: int | None
    settings: Mapping[str, object]
    values: Mapping[str, object]
    units: Mapping[str, str]
    machine_dependent: tuple[str, ...]
    nonfinite: tuple[str, ...]
    replay: Mapping[str, Any] | None
    provenance: Mapping[str, Any]
    measured_at: str
    seconds: float
    attestations: tuple[Mapping[str, object], ...]
    hash: str

    @property
    def id(self) -> str:
        """The name of the run in the whole book: "averages/mean.s0"."""
        return f"{self.experiment}/{self.run}"

    @property
    def digest(self) -> str:
        """The digest of what produced the record, or was last attested to produce it."""
        return str(self.provenance["digest"])

    @property
    def definitions(self) -> Mapping[str, str]:
        """The pieces of source that the digest covers, with their hashes."""
        return cast("Mapping[str, str]", self.provenance["definitions"])

    @property
    def inputs(self) -> Mapping[str, str]:
        """The inputs that the digest covers, with their hashes."""
        return cast("Mapping[str, str]", self.provenance["inputs"])

    @property
    def device(self) -> Mapping[str, Any]:
        """Where it was measured: kind, name, threads."""
        return cast("Mapping[str, Any]", self.provenance["device"])

    @property
    def versions(self) -> Mapping[str, str]:
        """With which versions it was measured."""
        return cast("Mapping[str, str]", self.provenance["versions"])

    @property
    def prefix(self) -> str:
        """The path under which the values are found: "averages.mean"."""
        return f"{self.experiment}.{self.row}" if self.row else self.experiment

    @property
    def command(self) -> str:
        """The command that measures this run again."""
        return run_command(self.id, _size_of(self.path))


# ---------------------------------------------------------------------------------------------
# Writing


def write_record(
    spec: RunSpec,
    values: Mapping[str, object],
    *,
    replay: Mapping[str, object] | None,
    fingerprint: Fingerprint,
    device: Mapping[str, object],
    seconds: float,
    measured_at: datetime | None = None,
) -> Path:
    """Write the record of a run, atomically: after any failure the old one is as it was.

    `fingerprint` must have been taken before the run started, so that code edited meanwhile makes
    the record stale; `device` is what `provenance.machine` returns.

    Raises:
        RecordError: a value is none that a record may hold, or the file cannot be written.
    """
    declared = declaration(spec.experiment, spec.size)
    stored, nonfinite = _stored_values(spec, declared, values)
    leaves = [leaf for leaf, _ in walk(stored)]
    content: dict[str, object] = {
        "schema": SCHEMA,
        "experiment": spec.experiment,
        "run": spec.name,
        "row": spec.row,
        "seed": spec.seed,
        "settings": plain(spec.settings),
        "values": stored,
        "units": {leaf: declared.unit(leaf) for leaf in leaves},
        "machine_dependent": [leaf for leaf in leaves if declared.is_machine_dependent(leaf)],
        "nonfinite": nonfinite,
        "replay": _stored_replay(spec, declared, replay),
        "provenance": {
            "digest": fingerprint.digest,
            "definitions": dict(fingerprint.definitions),
            "inputs": dict(fingerprint.inputs),
            "device": dict(device),
            "versions": versions(),
        },
        "measured_at": _utc(measured_at),
        "seconds": seconds,
        "attestations": [],
    }
    return _write(spec.path, spec.id, spec.command, content)


def reattest(
    record: Record,
    spec: RunSpec,
    fingerprint: Fingerprint,
    tolerance: float,
    device: Mapping[str, object],
    at: datetime | None = None,
) -> Path:
    """Write that a replay of a record's first steps agreed within `tolerance`, so that its digest
    is the present one. Values, device, versions and date stay as measured.

    The caller has seen that the replay called every changed definition (`provenance.uncovered`).

    Raises:
        RecordError: more than definitions has changed, or a value belongs to a machine.
    """
    if record.id != spec.id or not only_definitions_changed(record, spec, fingerprint):
        raise RecordError(f"{spec.id}: its settings or inputs have changed: {spec.command}")
    if record.machine_dependent:
        raise RecordError(
            f"{spec.id}: {record.machine_dependent[0]} belongs to the machine that measured it, and"
            f" no replay can attest it: {spec.command}"
        )
    attestation = {
        "from": record.digest,
        "to": fingerprint.digest,
        "at": _utc(at),
        "tolerance": tolerance,
        "changed": list(changed_definitions(record, fingerprint)),
        "device": dict(device),
    }
    content = _content(record)
    content["provenance"] = {
        **cast("dict[str, object]", plain(record.provenance)),
        "digest": fingerprint.digest,
        "definitions": dict(fingerprint.definitions),
        "inputs": dict(fingerprint.inputs),
    }
    content["attestations"] = [
        *cast("list[object]", plain(record.attestations)),
        attestation,
    ]
    return _write(record.path, record.id, record.command, content)


def _content(record: Record) -> dict[str, object]:
    """A record as it stands in its file, less its hash."""
    content: dict[str, object] = {"schema": SCHEMA}
    for key in KEYS[1:-1]:
        content[key] = plain(getattr(record, key))
    content["values"] = _words_for_nonfinite(content["values"])
    if content["replay"] is not None:
        replay = cast("dict[str, object]", content["replay"])
        content["replay"] = {**replay, "values": _words_for_nonfinite(replay["values"])}
    return content


def _write(path: Path, run: str, command: str, content: dict[str, object]) -> Path:
    content = {**content, "hash": _hash(content, f"{run}: ")}
    try:
        _check_schema(content, path)
        text = _layout(content) + "\n"
        data = text.encode("utf-8")
    except UnicodeEncodeError:
        raise RecordError(f"{run}: a string holds half a character (a lone surrogate)") from None
    write_atomically(path, data, f"{run}: the record", command)
    return path


def write_atomically(path: Path, data: bytes, what: str, command: str) -> None:
    """Put bytes into a file so that at every moment it holds all of the old or all of the new.

    Raises:
        RecordError: the disk is full, the folder is read-only, ...; the old file is intact.
    """
    waiting = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(waiting, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(waiting, path)
        _sync_folder(path.parent)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise RecordError(
            f"{what} could not be written to {paths.shown(path)} ({reason.lower()});"
            f" what was there before is intact; then again: {command}"
        ) from None
    finally:
        with suppress(OSError):  # the folder itself may be what is wrong
            waiting.unlink(missing_ok=True)
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        if not _is_running(left.name.split(".")[-2]):  # of a writer that was killed
            left.unlink(missing_ok=True)


def _is_running(process: str) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a loss of power, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EACCES, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def _utc(moment: datetime | None) -> str:
    moment = datetime.now(UTC) if moment is None else moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _hash(content: Mapping[str, object], where: str = "") -> str:
    """SHA-256 of the canonical JSON of everything but the hash itself."""
    rest = {key: item for key, item in content.items() if key != "hash"}
    try:
        return hashlib.sha256(canonical(rest).encode()).hexdigest()
    except (ValueError, TypeError) as error:
        raise RecordError(f"{where}cannot be written as JSON: {error}") from None


def _layout(value: object, indent: str = "") -> str:
    """JSON with one line per name and lists in one line, so that a diff shows what changed."""
    if isinstance(value, dict) and value:
        inner = indent + " "
        table = cast("dict[str, object]", value)
        lines = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_layout(item, inner)}"
            for key, item in table.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


# values


def walk(values: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of nested values, with their paths, in order."""
    for name, item in values.items():
        path = f"{prefix}{name}"
        if isinstance(item, Mapping):
            yield from walk(cast("Mapping[str, object]", item), path + ".")
        else:
            yield path, item


def _stored_values(
    spec: RunSpec, declared: Declaration, values: Mapping[str, object], what: str = "value"
) -> tuple[dict[str, object], list[str]]:
    """The values as JSON holds them, and the paths of those that are not finite.

    Raises:
        RecordError: a name or a value is none that a record may hold.
    """
    nonfinite: list[str] = []

    def store(item: object, path: str) -> object:
        if isinstance(item, Mapping):
            table = cast("Mapping[object, object]", item)
            if not table:
                raise RecordError(f"{spec.id}: {what} {path!r} is an empty group")
            stored: dict[str, object] = {}
            for name, inner in table.items():
                if not isinstance(name, str) or not PART.match(name):
                    raise RecordError(
                        f"{spec.id}: {what} name {name!r} under {path!r}: a part of a path holds"
                        " letters, digits and underscores only"
                    )
                stored[name] = store(inner, f"{path}.{name}" if path else name)
            return stored
        return leaf(item, path, top=True)

    def leaf(item: object, path: str, *, top: bool) -> object:
        if type(item) in (list, tuple):
            return [leaf(inner, path, top=False) for inner in cast("list[object]", item)]
        if type(item) is float:
            if math.isfinite(item):
                return item
            if not declared.may_be_nonfinite(path):
                raise RecordError(
                    f"{spec.id}: {what} {path!r} is {item}; a value that may be NaN or infinite"
                    f" is declared: NONFINITE = ({path!r},) in experiments/{spec.experiment}.py"
                )
            if path not in nonfinite:
                nonfinite.append(path)
            return _word(item)
        if type(item) is int:
            if abs(item) >= _LARGEST:
                raise RecordError(f"{spec.id}: {what} {path!r} is too large for a float")
            return item
        if type(item) is str:
            if item in _WORDS and declared.may_be_nonfinite(path):
                raise RecordError(
                    f"{spec.id}: {what} {path!r} is the string {item!r}, where that means a float"
                )
            return item
        if type(item) is bool:
            return item
        kind = f"{type(item).__module__}.{type(item).__qualname__}".removeprefix("builtins.")
        raise RecordError(
            f"{spec.id}: {what} {path!r} is of type {kind}; a record holds Python's own float,"
            " int, bool, str and lists of these: convert it with float(...), int(...) or .tolist()"
        )

    if not isinstance(values, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise RecordError(f"{spec.id}: measure must return a dictionary of values")
    stored = store(values, "")
    return cast("dict[str, object]", stored), nonfinite


def _stored_replay(
    spec: RunSpec, declared: Declaration, replay: Mapping[str, object] | None
) -> dict[str, object] | None:
    if replay is None:
        if spec.trained:
            raise RecordError(f"{spec.id}: a trained run must record what a replay is held against")
        return None
    if not spec.trained:
        raise RecordError(f"{spec.id}: is not declared TRAINED, and has a replay")
    if set(replay) != set(_REPLAY):
        raise RecordError(f"{spec.id}: a replay holds {', '.join(_REPLAY)}")
    stored = {key: plain(replay[key]) for key in _REPLAY}
    values = cast("Mapping[str, object]", replay["values"])
    stored["values"] = _stored_values(spec, declared, values, "replayed value")[0]
    return stored


def _word(value: float) -> str:
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _words_for_nonfinite(value: object) -> object:
    """The words for every float that JSON has no number for."""
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        return {key: _words_for_nonfinite(item) for key, item in table.items()}
    if isinstance(value, list):
        return [_words_for_nonfinite(item) for item in cast("list[object]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return _word(value)
    return value


def _floats_for_words(value: object) -> object:
    if isinstance(value, list):
        return [_floats_for_words(item) for item in cast("list[object]", value)]
    return _WORDS.get(value, value) if isinstance(value, str) else value


def _decoded(values: object, may_be: frozenset[str], prefix: str = "") -> object:
    """Values as floats again, where the record says that a leaf is not finite."""
    if isinstance(values, dict):
        table = cast("dict[str, object]", values)
        return {
            name: _decoded(item, may_be, f"{prefix}.{name}" if prefix else name)
            for name, item in table.items()
        }
    return _floats_for_words(values) if prefix in may_be else values


# ---------------------------------------------------------------------------------------------
# Reading


def read_record(path: Path) -> Record:
    """The record in a file, validated in itself: schema, names, hash. Whether it is current is not
    asked here.

    Raises:
        MissingRecord: there is no such file.
        RecordError: the file is corrupt, was edited by hand, or says it is another run's.
    """
    shown = paths.shown(path)
    run = f"{path.parent.name}/{path.name.removesuffix('.json')}"
    mend = f"measure it again: {run_command(run, _size_of(path))}"
    try:
        expected = path.parent.parent.resolve() / path.parent.name / path.name
        if Path(os.path.realpath(path)) != expected:  # which bears links in a circle
            raise RecordError(f"{shown}: is a link that leads elsewhere; a record is a file")
        if stat.S_ISFIFO(path.stat().st_mode):  # reading it would wait for ever
            raise RecordError(f"{shown}: is a pipe; a record is a file")
        text = path.read_bytes().decode("utf-8")
        content = json.loads(
            text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite
        )
    except FileNotFoundError:
        raise MissingRecord(f"{shown}: there is no such record; {mend}") from None
    except OSError as error:
        raise RecordError(f"{shown}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, json.JSONDecodeError) else "not a record's JSON"
        raise RecordError(f"{shown}: is damaged ({reason}); {mend}") from None
    try:
        _check_schema(content, path)
    except RecordError as error:
        raise RecordError(f"{error}; {mend}") from None
    except RecursionError:
        raise RecordError(f"{shown}: is damaged (lists within lists without end); {mend}") from None
    table = cast("dict[str, object]", content)
    if table["hash"] != _hash(table, f"{shown}: "):
        raise RecordError(
            f"{shown}: its content does not agree with its own hash, so it was edited by hand or"
            f" damaged; {mend}"
        )
    may_be = frozenset(cast("list[str]", table["nonfinite"]))
    replay = cast("dict[str, object] | None", table["replay"])
    if replay is not None:
        replay = {**replay, "values": _floats_anywhere(replay["values"])}
    return Record(
        path=path,
        experiment=cast("str", table["experiment"]),
        run=cast("str", table["run"]),
        row=cast("str", table["row"]),
        seed=cast("int | None", table["seed"]),
        settings=_frozen_table(table["settings"]),
        values=_frozen_table(_decoded(table["values"], may_be)),
        units=cast("Mapping[str, str]", _frozen_table(table["units"])),
        machine_dependent=tuple(cast("list[str]", table["machine_dependent"])),
        nonfinite=tuple(cast("list[str]", table["nonfinite"])),
        replay=None if replay is None else _frozen_table(replay),
        provenance=_frozen_table(table["provenance"]),
        measured_at=cast("str", table["measured_at"]),
        seconds=float(cast("float", table["seconds"])),
        attestations=cast("tuple[Mapping[str, object], ...]", _frozen(table["attestations"])),
        hash=cast("str", table["hash"]),
    )


def load_record(spec: RunSpec, current: Fingerprint | None = None) -> Record:
    """The record of a run, if it is current.

    Raises:
        MissingRecord: the run was never measured.
        StaleRecord: it was, but its settings or source have changed since (`.record` has it).
        RecordError: the record is corrupt or edited by hand.
    """
    try:
        record = read_record(spec.path)
    except MissingRecord:
        raise MissingRecord(f"{spec.id} has not been measured yet: {spec.command}") from None
    current = current or fingerprint(spec)
    if record.digest != current.digest:
        changes = difference(record, spec, current)
        more = f" and {len(changes) - 3} more" if len(changes) > 3 else ""
        what = ", ".join(changes[:3]) + more if changes else "the way digests are made"
        command = spec.command
        if is_replayable(record, spec, current):
            suffix = "" if spec.size == "full" else f" --settings {spec.size}"
            command = f"python -m experiments replay {spec.id} --attest{suffix}"
        raise StaleRecord(f"{spec.id} is out of date ({what}): {command}", record)
    return record


def last_seconds(spec: RunSpec) -> float | None:
    """How long the run took when it was last measured, or else another seed of its row did."""
    try:
        return read_record(spec.path).seconds
    except RecordError:
        pass
    pattern = f"{spec.row}.s*.json" if spec.row else "s*.json"
    for path in sorted(spec.path.parent.glob(pattern)):
        try:
            record = read_record(path)
        except RecordError:
            continue
        if record.row == spec.row:
            return record.seconds
    return None


def is_replayable(record: Record, spec: RunSpec, current: Fingerprint | None = None) -> bool:
    """Whether a replay of the first steps can attest a stale record: a trained run of which only
    definitions have changed and no value belongs to the machine that measured it."""
    return (
        spec.trained
        and record.replay is not None
        and not record.machine_dependent
        and only_definitions_changed(record, spec, current)
    )


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        raise ValueError("a name occurs twice")
    return table


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large for a float")
    return value


def _frozen(value: object) -> object:
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        return MappingProxyType({key: _frozen(item) for key, item in table.items()})
    if isinstance(value, list):
        return tuple(_frozen(item) for item in cast("list[object]", value))
    return value


def _frozen_table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", _frozen(value))


def _floats_anywhere(values: object) -> object:
    """Replayed values have the experiment's own NONFINITE; a bare word among them is a float."""
    if isinstance(values, dict):
        table = cast("dict[str, object]", values)
        return {name: _floats_anywhere(item) for name, item in table.items()}
    return _floats_for_words(values)


def _size_of(path: Path) -> str:
    """Under which settings a record file was measured, told by the folder it lies in."""
    smoke = paths.results_of("smoke").resolve()
    return "smoke" if Path(os.path.realpath(path)).is_relative_to(smoke) else "full"


# the schema


def _check_schema(content: object, path: Path) -> None:
    """Refuse whatever is not a record of exactly this schema, lying where it says it belongs."""
    shown = paths.shown(path)

    def require(condition: bool, message: str) -> None:
        if not condition:
            raise RecordError(f"{shown}: {message}")

    require(isinstance(content, dict), "is no record")
    table = cast("dict[str, object]", content)
    schema = table.get("schema")
    require(
        type(schema) is int and schema == SCHEMA,
        f"has schema {schema!r}, and this engine reads schema {SCHEMA}",
    )
    missing = [key for key in KEYS if key not in table]
    unknown = [key for key in table if key not in KEYS]
    require(not missing, f"lacks {', '.join(missing)}")
    require(not unknown, f"holds the unknown {', '.join(unknown)}")

    experiment, run, row, seed = (table[key] for key in ("experiment", "run", "row", "seed"))
    require(isinstance(experiment, str) and bool(PART.match(experiment)), "names no experiment")
    require(isinstance(run, str) and bool(_RUN.match(run)), "names no run")
    require(isinstance(row, str) and (not row or bool(_RUN.match(row))), "names no row")
    require(seed is None or (type(seed) is int and seed >= 0), "has no seed")
    require(
        experiment == path.parent.name and f"{run}.json" == path.name,
        f"says it is the record of {experiment}/{run}, which belongs elsewhere",
    )
    require(
        run == run_name(cast("str", row), cast("int | None", seed)),
        "has a row and a seed that are not its name's",
    )

    require(isinstance(table["settings"], dict), "has no settings")
    values = _as_table(table["values"])
    require(bool(values), "has no values")
    leaves = _checked_leaves(values, require)
    units = _as_table(table["units"])
    require(
        set(units) == set(leaves) and all(isinstance(item, str) for item in units.values()),
        "has units that are not its values'",
    )
    for key in ("machine_dependent", "nonfinite"):
        listed = table[key]
        require(
            isinstance(listed, list)
            and all(
                isinstance(item, str) and item in leaves for item in cast("list[object]", listed)
            ),
            f"has {key} that names no value",
        )
    _check_replay(table["replay"], require)
    _check_provenance(table["provenance"], require)
    require(
        isinstance(table["measured_at"], str) and bool(_TIME.match(table["measured_at"])),
        "has no date",
    )
    require(_is_amount(table["seconds"]), "has no duration")
    attestations = table["attestations"]
    require(isinstance(attestations, list), "has no attestations")
    for item in cast("list[object]", attestations):
        require(
            isinstance(item, dict) and set(cast("dict[str, object]", item)) == set(_ATTESTATION),
            "has an attestation that is none",
        )
    require(isinstance(table["hash"], str), "has no hash")


def _as_table(value: object) -> dict[str, object]:
    """The value where it is an object of JSON, else an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _checked_leaves(values: dict[str, object], require: _Require) -> list[str]:
    leaves: list[str] = []

    def look(item: object, path: str) -> None:
        if isinstance(item, dict):
            table = cast("dict[str, object]", item)
            require(bool(table), f"has an empty group {path!r}")
            for name, inner in table.items():
                require(bool(PART.match(name)), f"has a value under the name {name!r}")
                look(inner, f"{path}.{name}" if path else name)
            return
        require(_is_leaf(item), f"has a value {path!r} that is none")
        leaves.append(path)

    look(values, "")
    return leaves


def _is_leaf(item: object) -> bool:
    if isinstance(item, list):
        return all(_is_leaf(inner) for inner in cast("list[object]", item))
    if isinstance(item, float):
        return math.isfinite(item)
    if isinstance(item, int) and not isinstance(item, bool):
        return abs(item) < _LARGEST
    return isinstance(item, bool | str)


def _is_amount(item: object) -> bool:
    return (
        type(item) in (int, float)
        and math.isfinite(cast("float", item))
        and cast("float", item) >= 0
    )


def _check_replay(replay: object, require: _Require) -> None:
    if replay is None:
        return
    require(
        isinstance(replay, dict) and set(cast("dict[str, object]", replay)) == set(_REPLAY),
        "has a replay that is none",
    )
    table = cast("dict[str, object]", replay)
    losses = table["losses"]
    require(
        isinstance(losses, list)
        and bool(cast("list[object]", losses))
        and all(
            type(item) is float and math.isfinite(item) for item in cast("list[object]", losses)
        ),
        "has a replay whose losses are no finite numbers",
    )
    require(isinstance(table["values"], dict), "has a replay without values")
    _checked_leaves(cast("dict[str, object]", table["values"]), require)
    for key in ("tolerance", "device_tolerance"):
        require(_is_amount(table[key]), f"has a replay without {key}")


def _check_provenance(provenance: object, require: _Require) -> None:
    require(
        isinstance(provenance, dict)
        and set(cast("dict[str, object]", provenance)) == set(_PROVENANCE),
        "has a provenance that is none",
    )
    table = cast("dict[str, object]", provenance)
    require(isinstance(table["digest"], str) and bool(_HEX.match(table["digest"])), "has no digest")
    for key in ("definitions", "inputs", "versions"):
        inner = table[key]
        require(
            isinstance(inner, dict)
            and all(isinstance(item, str) for item in cast("dict[str, object]", inner).values()),
            f"has no {key}",
        )
    device = _as_table(table["device"])
    require(
        set(device) == {"kind", "name", "threads"}
        and type(device["kind"]) is str
        and type(device["name"]) is str
        and type(device["threads"]) is int,
        "has no device (kind, name, threads)",
    )
