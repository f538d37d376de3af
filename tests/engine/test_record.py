# ruff: noqa: E501
"""Does a record come back as it was written, and is anything else refused?"""

import errno
import json
import math
import os
import resource
import signal
import string
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_book import CPU, Tree

from engine import provenance, record
from engine.declaration import run_spec
from engine.errors import MissingRecord, RecordError, StaleRecord
from engine.provenance import fingerprint
from engine.record import load_record, read_record, reattest, write_record

RUN = "shuffle/s0"


def write(values: Any, run: str = RUN, **more: Any) -> Path:
    spec = run_spec(run)
    arguments: dict[str, Any] = {
        "replay": None,
        "fingerprint": fingerprint(spec),
        "device": CPU,
        "seconds": 1.5,
    }
    return write_record(spec, values, **arguments | more)


def thawed(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return {key: thawed(item) for key, item in value.items()}  # pyright: ignore
    return [thawed(item) for item in value] if isinstance(value, tuple) else value  # pyright: ignore


def same(a: Any, b: Any) -> bool:
    """Equal, type by type and bit by bit."""
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)  # pyright: ignore
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))  # pyright: ignore
    if isinstance(a, float) and isinstance(b, float):
        both = math.isnan(a) and math.isnan(b)  # the sign of a NaN means nothing
        return both or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return type(a) is type(b) and a == b


NAMES = st.text(string.ascii_letters + string.digits + "_", min_size=1, max_size=8)
TEXTS = st.text(st.characters(exclude_categories=("Cs",))) | st.sampled_from(
    ["</script><b>&amp;", "\u2028\x00\x1f", "nan", "{{ x }} {% %} << >>", "\U0001f600", '"\\']
)
LEAVES = (
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**300), 10**300) | st.booleans() | TEXTS
)  # fmt: skip
LISTS = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4), max_leaves=8)
VALUES = st.recursive(
    st.dictionaries(NAMES, LISTS, min_size=1, max_size=4),
    lambda inner: st.dictionaries(NAMES, inner | LISTS, min_size=1, max_size=3),
    max_leaves=10,
)
OFTEN = settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@OFTEN
@given(values=VALUES)
def test_whatever_is_written_is_read(tree: Tree, values: dict[str, Any]) -> None:
    found = read_record(write(values))
    assert same(values, thawed(found.values))
    assert set(found.units) == {leaf for leaf, _ in record.walk(values)}


@OFTEN
@given(value=st.floats())
def test_any_float_where_it_is_declared(tree: Tree, value: float) -> None:
    values = {"odd": {"a": value, "b": [value, [1, value, "x"]]}, "even": 1.0}
    path = write(values, "averages/bigram")
    assert same(values, thawed(read_record(path).values))
    json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(word))


@OFTEN
@given(values=VALUES, data=st.data())
def test_a_changed_byte_is_noticed(tree: Tree, values: dict[str, Any], data: st.DataObject) -> None:
    path = write(values)
    content = bytearray(path.read_bytes())
    before = thawed(read_record(path).values)
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    with suppress(RecordError):  # else white space, or another spelling of the same number
        assert same(before, thawed(read_record(path).values))


@OFTEN
@given(values=VALUES, data=st.data())
def test_a_truncated_record_is_noticed(tree: Tree, values: dict[str, Any], data: st.DataObject) -> None:  # fmt: skip
    path = write(values)
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 3))])
    with pytest.raises(RecordError, match="measure it again: python -m experiments run shuffle/s0"):
        read_record(path)


class NumPyFloat(float):
    """As numpy.float64 is one: a float by inheritance, another by its name."""

    __module__ = "numpy"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"a": math.nan}, r"'a' is nan.*NONFINITE = \('a',\)"),
        ({"a": {"b": [1.0, math.inf]}}, r"'a\.b' is inf"),
        ({"a": NumPyFloat(1.5)}, r"'a' is of type numpy\.NumPyFloat; .*float\("),
        ({"a": [NumPyFloat(1.5)]}, "of type numpy"),
        ({"a": None}, "NoneType"),
        ({"a": 1j}, "complex"),
        ({"a": b"x"}, "bytes"),
        ({"a": {1, 2}}, "of type set"),
        ({"a": 10**400}, "too large"),
        ({"a": "\ud800"}, "lone surrogate"),
        ({"a": {}}, "'a' is an empty group"),
        ({}, "an empty group"),
        ([1], "must return a dictionary"),
        ({"a b": 1}, "letters, digits and underscores"),
        ({"a.b": 1}, "letters, digits and underscores"),
        ({"": 1}, "letters, digits and underscores"),
        ({"../a": 1}, "letters, digits and underscores"),
        ({"é": 1}, "letters, digits and underscores"),
        ({1: 1}, "letters, digits and underscores"),
        ({"a": [{"b": 1}]}, "of type dict"),
    ],
)
def test_what_a_record_may_not_hold(tree: Tree, values: Any, message: str) -> None:
    old = write({"a": 1.0})
    before = old.read_bytes()
    with pytest.raises(RecordError, match=message):
        write(values)
    assert old.read_bytes() == before


def test_numpy_and_torch_scalars(tree: Tree) -> None:
    import numpy
    import torch

    for value in (numpy.float64(1.5), numpy.int64(1), numpy.bool_(True), numpy.ones(2), torch.ones(())):  # fmt: skip
        with pytest.raises(RecordError, match=r"of type (numpy|torch)\."):
            write({"a": value})


def test_a_string_that_means_a_float_is_ambiguous(tree: Tree) -> None:
    with pytest.raises(RecordError, match="is the string 'nan'"):
        write({"odd": {"a": "nan"}}, "averages/bigram")


def test_the_file(tree: Tree) -> None:
    path = write({"a": {"x_ms": 1, "y": [0.1, True, "a"]}, "b": -0.0}, seconds=3)
    assert path == tree.root / "results/shuffle/s0.json"
    content = json.loads(path.read_text())
    assert tuple(content) == record.KEYS
    assert content["values"] == {"a": {"x_ms": 1, "y": [0.1, True, "a"]}, "b": -0.0}
    assert content["units"] == {"a.x_ms": "1", "a.y": "1", "b": "1"}
    assert (content["row"], content["seed"], content["run"]) == ("", 0, "s0")
    assert content["settings"] == {"n": 8}
    assert path.read_text().count("\n") > 20
    plain = tree.write("plain", "")
    assert path.stat().st_mode == plain.stat().st_mode


def test_units_and_machine_dependence_come_from_the_declaration(tree: Tree) -> None:
    found = read_record(tree.record("timing/all", {"n_8": {"total_ms": 1.0, "mb": 2}}))
    assert dict(found.units) == {"n_8.total_ms": "ms", "n_8.mb": "1"}
    assert found.machine_dependent == ("n_8.total_ms",)
    assert (found.prefix, found.seed, found.row, found.seconds) == ("timing", None, "", 2.0)


def test_a_record_is_frozen(tree: Tree) -> None:
    found: Any = read_record(write({"a": {"b": [1, [2]]}}))
    with pytest.raises(TypeError):
        found.values["a"]["b"] = 1
    with pytest.raises(TypeError):
        found.values["a"]["b"][1][0] = 1
    with pytest.raises(TypeError):
        found.provenance["device"]["kind"] = "cuda"
    with pytest.raises(AttributeError):
        found.seconds = 1.0


def test_dates_are_in_utc(tree: Tree) -> None:
    there = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=-3)))
    assert read_record(write({"a": 1}, measured_at=there)).measured_at == "2026-03-01T15:00:00Z"


# bad records


def edited(path: Path, **changes: Any) -> Path:
    """A record changed by hand, its own hash made right again."""
    content = json.loads(path.read_text())
    content |= changes
    content = {key: value for key, value in content.items() if value is not ...}
    content["hash"] = record._hash(content)  # pyright: ignore[reportPrivateUsage]
    path.write_text(json.dumps(content))
    return path


def test_an_edit_by_hand(tree: Tree) -> None:
    path = write({"a": 1.5})
    path.write_text(path.read_text().replace("1.5", "1.6", 1))
    with pytest.raises(RecordError, match=r"results/shuffle/s0\.json: .*own hash.*edited by hand") as caught:  # fmt: skip
        read_record(path)
    assert str(caught.value).endswith("python -m experiments run shuffle/s0")
    assert "\n" not in str(caught.value)


def test_another_layout_is_no_edit(tree: Tree) -> None:
    path = write({"a": 1.5, "b": "é"})
    path.write_text(json.dumps(json.loads(path.read_text()), sort_keys=True, indent=7))
    assert read_record(path).values["a"] == 1.5


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": 2}, "schema 2, and this engine reads schema 1"),
        ({"schema": True}, "schema True"),
        ({"schema": "1"}, "schema '1'"),
        ({"units": ...}, "lacks units"),
        ({"more": 1}, "the unknown more"),
        ({"experiment": "other"}, "belongs elsewhere"),
        ({"experiment": "../../etc"}, "names no experiment"),
        ({"run": "../s0"}, "names no run"),
        ({"run": "s1"}, "belongs elsewhere"),
        ({"row": "a"}, "not its name's"),
        ({"seed": 1}, "not its name's"),
        ({"seed": -1}, "has no seed"),
        ({"seed": True}, "has no seed"),
        ({"settings": []}, "no settings"),
        ({"values": {}}, "no values"),
        ({"values": [1]}, "no values"),
        ({"values": {"a": None}}, "'a' that is none"),
        ({"values": {"a": {}}}, "empty group"),
        ({"values": {"a b": 1}}, "under the name 'a b'"),
        ({"units": {}}, "units that are not its values'"),
        ({"units": {"a": 1}}, "units that are not its values'"),
        ({"machine_dependent": ["b"]}, "names no value"),
        ({"nonfinite": "a"}, "names no value"),
        ({"replay": {}}, "a replay that is none"),
        ({"replay": {"losses": [], "values": {"a": 1}, "tolerance": 1, "device_tolerance": 1}}, "losses"),
        ({"replay": {"losses": [1.0], "values": [], "tolerance": 1, "device_tolerance": 1}}, "without values"),
        ({"replay": {"losses": [1.0], "values": {"a": 1}, "tolerance": "x", "device_tolerance": 1}}, "without tolerance"),
        ({"provenance": {}}, "a provenance that is none"),
        ({"measured_at": "yesterday"}, "no date"),
        ({"measured_at": 1}, "no date"),
        ({"seconds": -1}, "no duration"),
        ({"seconds": True}, "no duration"),
        ({"attestations": {}}, "no attestations"),
        ({"attestations": [{}]}, "an attestation that is none"),
    ],
)  # fmt: skip
def test_whatever_is_not_of_the_schema(tree: Tree, changes: Any, message: str) -> None:
    path = write({"a": 1.5})
    with pytest.raises(RecordError, match=message) as caught:
        read_record(edited(path, **changes))
    assert str(caught.value).startswith("results/shuffle/s0.json: ")
    assert "python -m experiments run shuffle/s0" in str(caught.value)


@pytest.mark.parametrize("changes", [{"hash": 1}, {"hash": "0" * 64}])
def test_the_hash_is_checked(tree: Tree, changes: Any) -> None:
    path = write({"a": 1.5})
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(RecordError, match=r"no hash|own hash"):
        read_record(path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("digest", "abc", "no digest"),
        ("digest", 1, "no digest"),
        ("definitions", {"a": 1}, "no definitions"),
        ("inputs", [], "no inputs"),
        ("versions", None, "no versions"),
        ("device", {"kind": "cpu"}, "no device"),
        ("device", {"kind": 1, "name": "x", "threads": 1}, "no device"),
    ],
)
def test_provenance_is_checked(tree: Tree, key: str, value: Any, message: str) -> None:
    path = write({"a": 1.5})
    content = json.loads(path.read_text())["provenance"] | {key: value}
    with pytest.raises(RecordError, match=message):
        read_record(edited(path, provenance=content))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"1",
        b"null",
        b"\xff\xfe",
        b'{"schema": 1, "schema": 1}',
        b'{"schema": NaN}',
        b'{"schema": 1e999}',
        b"[" * 100000,
        b'{"schema": 1, "values": {"a": ' + b"[" * 700 + b"]" * 700 + b"}}",
        b'{"schema": 1' + b"0" * 5000 + b"}",
        "\ufeff{}".encode(),
    ],
)
def test_what_is_no_record_at_all(tree: Tree, content: bytes) -> None:
    path = write({"a": 1.5})
    path.write_bytes(content)
    with pytest.raises(RecordError, match=r"results/shuffle/s0\.json.*run shuffle/s0"):
        read_record(path)


def test_there_is_no_record(tree: Tree) -> None:
    with pytest.raises(MissingRecord, match="run shuffle/s0"):
        read_record(tree.root / "results/shuffle/s0.json")
    with pytest.raises(MissingRecord, match="shuffle/s0 has not been measured yet: python -m"):
        load_record(run_spec(RUN))


def test_a_link_out_of_the_results(tree: Tree) -> None:
    path = write({"a": 1.5})
    elsewhere = tree.write("elsewhere/shuffle/s0.json", path.read_text())
    path.unlink()
    path.symlink_to(elsewhere)
    with pytest.raises(RecordError, match="a link that leads elsewhere"):
        read_record(path)


def test_what_is_no_file_is_never_waited_for(tree: Tree) -> None:
    import os

    path = write({"a": 1.5})
    path.unlink()
    path.symlink_to(path.name)
    with pytest.raises(RecordError, match=r"s0\.json: cannot be read"):
        read_record(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(RecordError, match="is a pipe"):
        read_record(path)


def test_a_record_of_another_run_put_in_its_place(tree: Tree) -> None:
    path = write({"a": 1.5}, "shuffle/s1")
    path.rename(path.with_name("s0.json"))
    with pytest.raises(RecordError, match="belongs elsewhere"):
        load_record(run_spec(RUN))


def test_a_smoke_record_names_the_smoke_command(tree: Tree) -> None:
    path = tree.record(RUN, {"a": 1.0}, settings="smoke")
    assert path == tree.root / "build/smoke/results/shuffle/s0.json"
    path.write_text("{}")
    with pytest.raises(RecordError, match="run shuffle/s0 --settings smoke"):
        read_record(path)


# current or stale


def test_a_current_record(tree: Tree) -> None:
    write({"a": 1.5})
    assert load_record(run_spec(RUN)).values["a"] == 1.5


def test_a_stale_record_says_what_changed(tree: Tree) -> None:
    write({"a": 1.5})
    tree.replace("experiments/shuffle.py", "n: int = 8", "n: int = 9")
    with pytest.raises(StaleRecord) as caught:
        load_record(run_spec(RUN))
    assert str(caught.value) == (
        "shuffle/s0 is out of date (setting n: 8 -> 9): python -m experiments run shuffle/s0"
    )
    assert isinstance(caught.value.record, record.Record)


def test_a_stale_trained_record_is_to_be_replayed(tree: Tree) -> None:
    tree.record("averages/none.s0", {"a": 1.5})
    tree.replace("model/train.py", "return 0.5", "return 0.25")
    with pytest.raises(StaleRecord, match=r"replay averages/none\.s0 --attest"):
        load_record(run_spec("averages/none.s0"))
    tree.replace("experiments/averages.py", "steps=3000", "steps=2000")
    with pytest.raises(StaleRecord, match=r"run averages/none\.s0$"):
        load_record(run_spec("averages/none.s0"))


# trained runs


REPLAY: dict[str, Any] = {
    "losses": [5.0, 4.0],
    "values": {"perplexity": 1.0, "odd": {"x": [math.nan, math.inf]}},
    "tolerance": 1e-4,
    "device_tolerance": 1e-2,
}


def test_a_trained_run_records_its_replay(tree: Tree) -> None:
    path = write({"perplexity": 1.0, "odd": {"x": [math.nan]}}, "averages/none.s0", replay=REPLAY)
    found = read_record(path)
    assert found.replay is not None
    assert same(thawed(found.replay), REPLAY)


@pytest.mark.parametrize(
    ("run", "replay", "message"),
    [
        ("averages/none.s0", None, "must record"),
        (RUN, REPLAY, "not declared TRAINED"),
        ("averages/none.s0", {"losses": [1.0]}, "a replay holds losses"),
        ("averages/none.s0", REPLAY | {"losses": [math.nan]}, "cannot be written|no finite"),
        ("averages/none.s0", REPLAY | {"values": {"a": math.nan}}, "replayed value 'a' is nan"),
    ],
)
def test_a_replay_that_is_none(tree: Tree, run: str, replay: Any, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        write({"a": 1.0}, run, replay=replay)


def test_a_record_is_attested_anew(tree: Tree) -> None:
    spec = run_spec("averages/none.s0")
    values = {"perplexity": 1.0, "odd": {"x": [math.nan, 1.0]}}
    old = read_record(write(values, spec.id, replay=REPLAY))
    tree.replace("model/train.py", "return 0.5", "return 0.25")
    now = fingerprint(spec)
    at = datetime(2027, 1, 1, tzinfo=UTC)
    reattest(old, spec, now, 2e-4, CPU, at)
    new = load_record(spec)
    assert same(thawed(new.values), thawed(old.values))
    assert new.replay is not None
    assert same(thawed(new.replay), REPLAY)
    assert (new.digest, new.measured_at, new.seconds) == (now.digest, old.measured_at, old.seconds)
    (attestation,) = new.attestations
    assert thawed(attestation) == {
        "from": old.digest,
        "to": now.digest,
        "at": "2027-01-01T00:00:00Z",
        "tolerance": 2e-4,
        "changed": ["model.train.rate"],
        "device": CPU,
    }


def test_changed_settings_are_never_attested(tree: Tree) -> None:
    old = read_record(tree.record("averages/none.s0", {"a": 1.0}))
    tree.replace("experiments/averages.py", "steps=3000", "steps=2000")
    spec = run_spec("averages/none.s0")
    with pytest.raises(RecordError, match="settings or inputs have changed"):
        reattest(old, spec, fingerprint(spec), 1e-4, CPU)


def test_times_are_never_attested(tree: Tree) -> None:
    old = read_record(tree.record("timing/all", {"a_ms": 1.0}))
    tree.replace("experiments/timing.py", "1.0", "2.0")
    spec = run_spec("timing/all")
    with pytest.raises(RecordError, match="a_ms belongs to the machine"):
        reattest(old, spec, fingerprint(spec), 1e-4, CPU)


def test_how_long_it_took(tree: Tree) -> None:
    assert record.last_seconds(run_spec("averages/none.s0")) is None
    tree.record("averages/none.s1", {"a": 1.0}, seconds=60)
    tree.record("averages/head.s0", {"a": 1.0}, seconds=90)
    assert record.last_seconds(run_spec("averages/none.s0")) == 60
    tree.record("averages/none.s0", {"a": 1.0}, seconds=70)
    assert record.last_seconds(run_spec("averages/none.s0")) == 70


# disks


def test_a_failing_disk_leaves_the_old_record(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write({"a": 1.5})
    before = path.read_bytes()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RecordError, match=r"no space left.*before is intact.*run shuffle/s0"):
        write({"a": 2.5})
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == ["s0.json"]


def test_a_file_that_may_not_grow(tree: Tree) -> None:
    """A real limit of the system, as a full disk is one."""
    path = write({"a": 1.5})
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(RecordError, match=r"file too large.*intact"):
            write({"a": [0.1] * 10000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == ["s0.json"]


def test_results_that_cannot_be_a_folder(tree: Tree) -> None:
    tree.write("results", "a file")
    with pytest.raises(RecordError, match="could not be written"):
        write({"a": 1.0})


def test_what_a_killed_writer_left_is_removed(tree: Tree) -> None:
    path = write({"a": 1.5})
    dead = path.with_name(".s0.json.4194305.tmp")
    alive = path.with_name(f".s0.json.{os.getppid()}.tmp")
    for left in (dead, alive):
        left.write_text("half")
    write({"a": 2.5})
    assert not dead.exists()
    assert alive.exists()
    assert read_record(path).values["a"] == 2.5


def test_the_hash_is_of_the_canonical_text() -> None:
    assert provenance.canonical({"b": (1, 2.0), "a": "é"}) == '{"a":"\\u00e9","b":[1,2.0]}'
