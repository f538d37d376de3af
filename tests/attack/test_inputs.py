"""Does any wrong input get through, or end in anything but one clear line?

Every option of every command line with wrong words, types, ranges and encodings; every setting of
every experiment with wrong types, names and ranges; the environment; and, for any float in any
magnitude, what is written to a record and what is shown on a page read back.
"""

from __future__ import annotations

import argparse
import ast
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine import __main__ as engine
from engine import paths
from engine.declaration import declaration, experiments, run_spec
from engine.errors import DeclarationError, MedidaError
from engine.number import format_number
from engine.record import read_record, write_record
from experiments import __main__ as measuring
from figures import __main__ as figures
from tests.attack.tally import Tally

NASTY = (
    "", " ", "-1", "0", "1e9", "nan", "1.5", "٣", "²", "../x", "/etc/passwd", "a b", "é", "日本",
    "\n", "a\nb", "--help-me", "*", "averages/", "averages//", "%s", "{x}", "x" * 5000,
)  # fmt: skip


# ---------------------------------------------------------------------------- command lines


def parsers(top: argparse.ArgumentParser) -> Iterator[tuple[list[str], argparse.ArgumentParser]]:
    """Each subcommand with its own parser."""
    for action in top._actions:  # pyright: ignore[reportPrivateUsage]
        if isinstance(action, argparse._SubParsersAction):  # pyright: ignore[reportPrivateUsage]
            for name, parser in action.choices.items():
                yield [name], parser


def wrong_lines(top: argparse.ArgumentParser) -> Iterator[list[str]]:
    """Command lines of which one word is wrong: a positional, or the value of an option."""
    for bad in NASTY:
        yield [bad]
    yield []
    for words, parser in parsers(top):
        yield [*words, "--no-such-option"]
        for action in parser._actions:  # pyright: ignore[reportPrivateUsage]
            if isinstance(action, argparse._HelpAction):  # pyright: ignore[reportPrivateUsage]
                continue
            for bad in NASTY:
                if not action.option_strings:
                    yield [*words, bad]
                elif action.nargs == 0:
                    yield [*words, f"{action.option_strings[0]}={bad}"]
                else:
                    yield [*words, action.option_strings[0], bad]
            if action.option_strings and action.nargs not in (0, "?"):
                yield [*words, action.option_strings[0]]


def refused(
    main: Callable[[list[str]], int], words: list[str], capsys: pytest.CaptureFixture[str]
) -> tuple[bool, str]:
    """Whether a line is refused with status 1 (or 2) and one line on standard error."""
    try:
        status = main(words)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    said = capsys.readouterr()
    lines = said.err.strip("\n").split("\n")
    return status == 1 and len(lines) == 1 and bool(lines[0].strip()), said.err


# Subcommands may work for minutes where a line is right; their words are tried all the same.
COMMANDS: dict[str, tuple[Callable[[list[str]], int], Callable[[], argparse.ArgumentParser]]] = {
    "engine": (engine.main, engine.parser),
    "experiments": (measuring.main, measuring.parser),
    "figures": (figures.main, figures._parser),  # pyright: ignore[reportPrivateUsage]
}
RIGHT = {  # words that are right although they look odd
    "engine": {("verify",), ("plan",), ("lint",), ("check",)},
    "experiments": {("list",)},
    "figures": {("list",)},
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_word_on_any_command_line_is_one_clear_line(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tally: Callable[[str], Tally],
) -> None:
    main, parser = COMMANDS[name]
    if name == "experiments":
        monkeypatch.setattr(measuring.os, "execv", refuse_to_begin_again)
    if name == "engine":  # what would be done with right words is not what is tried here
        monkeypatch.setattr(engine, "replay", lambda *_: True)
    wrong = tally(f"inputs.command_line_{list(COMMANDS).index(name)}")
    for words in wrong_lines(parser()):
        if tuple(words) in RIGHT[name] or is_right(name, words):
            continue
        fine, said = refused(main, words, capsys)
        wrong.count(fine, f"{name} {words}: {said[-300:]!r}")


def refuse_to_begin_again(*_: object) -> None:
    raise OSError(2, "begins again under other settings")


def is_right(name: str, words: list[str]) -> bool:
    """An option whose value may be anything, or a whole number where one is asked for."""
    if name == "engine" and words[:1] == ["verify"] and "--jobs" in words:
        return words[-1] in ("٣",)  # a digit, in another script
    return name == "engine" and words == ["preview", "--language", "pt"]


@pytest.mark.parametrize("value", [v for v in NASTY if v] + ["FULL", "Smoke"])
@pytest.mark.parametrize(
    "words", [["engine", "plan"], ["experiments", "list"]], ids=lambda words: words[0]
)
def test_settings_of_the_environment_that_there_are_not(words: list[str], value: str) -> None:
    if value in NASTY[8:]:  # a few are enough where a process is started
        return
    done = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=paths.ROOT,
        env={"PATH": "/usr/bin:/bin", "MEDIDA_SETTINGS": value, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert "full" in line
    assert "smoke" in line


@pytest.mark.parametrize("words", [["engine", "get"], ["experiments", "run"], ["figures", "draw"]])
def test_what_is_no_text_in_any_encoding_is_one_clear_line(words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *words, b"\xff\xfe"],
        cwd=paths.ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1, done.stderr


# ---------------------------------------------------------------------------- settings

WRONG = {
    "int": ('"3"', "1.5", "True", "None", "[3]", "-3", "1e3"),
    "float": ('"0.1"', "True", "None", "(0.1,)", "1e999", "-1e999"),
    "str": ("3", "None", "True", 'b"x"', "['x']"),
    "bool": ("1", "0", '"True"', "None"),
}


@pytest.fixture
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("experiments", "model"):
        shutil.copytree(paths.ROOT / name, tmp_path / name)
        monkeypatch.setattr(paths, name.upper(), tmp_path / name)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    return tmp_path


def test_every_setting_of_every_experiment_refuses_what_it_is_not(
    sources: Path, tally: Callable[[str], Tally]
) -> None:
    wrong = tally("inputs.settings")
    for name in experiments():
        path = sources / "experiments" / f"{name}.py"
        text = path.read_text(encoding="utf-8")
        declared = declaration(name)
        runs = declared.runs or declaration(name, include_waiting=True).runs
        if not runs:
            continue
        for setting, value in runs[0].settings.items():
            for bad in WRONG.get(type(value).__name__, ()):
                if isinstance(value, float) and bad == "-1e999":
                    continue
                attempt(path, text, setting, bad, f"{name}: {setting} = {bad}", wrong)
        for setting in ("no_such_setting", "", "2x", "Steps", "steps_", "дата"):
            attempt(path, text, setting, "1", f"{name}: {setting}", wrong)
        path.write_text(text, encoding="utf-8")


def attempt(path: Path, text: str, setting: str, bad: str, what: str, wrong: Tally) -> None:
    """Put a setting into FULL; reading the experiment must say file and line, in one line."""
    path.write_text(with_setting(text, setting, bad), encoding="utf-8")
    try:
        declaration(path.stem)
    except DeclarationError as error:
        said = str(error)
        wrong.count(path.name in said or "settings.py" in said or "model/" in said, said)
    else:
        wrong.count(False, what)


def with_setting(text: str, setting: str, bad: str) -> str:
    """The module with `FULL = Settings(..., setting=bad)`."""
    tree = ast.parse(text)
    node = next(
        n for n in tree.body
        if isinstance(n, ast.Assign | ast.AnnAssign) and "FULL" in ast.unparse(n).split("=")[0]
    )  # fmt: skip
    call = node.value
    assert isinstance(call, ast.Call)
    kept = [ast.unparse(keyword) for keyword in call.keywords if keyword.arg != setting]
    given = ", ".join([*kept, f"{setting}={bad}"])
    lines = text.split("\n")
    start, end = node.lineno - 1, (node.end_lineno or node.lineno)
    return "\n".join([*lines[:start], f"FULL = {ast.unparse(call.func)}({given})", *lines[end:]])


def test_rows_seeds_and_the_rest_refuse_what_they_are_not(
    sources: Path, tally: Callable[[str], Tally]
) -> None:
    wrong = tally("inputs.declarations")
    path = sources / "experiments" / "shuffle.py"
    text = path.read_text(encoding="utf-8")
    clean = re.sub(r"(?m)^(SEEDS|ROWS|UNITS|INPUTS|TRAINED|DEVICE|THREADS) *=.*\n", "", text)
    for line in (
        "SEEDS = 3", "SEEDS = (-1,)", "SEEDS = (0, 0)", 'SEEDS = ("0",)', "SEEDS = (0.5,)",
        "SEEDS = (True,)", "SEEDS = range(3)", 'SEEDS = {"x": (0,)}', "ROWS = 3", "ROWS = {3: {}}",
        'ROWS = {"a": 3}', 'ROWS = {"a": {"no_such": 1}}', 'ROWS = {"a b": {}}', 'ROWS = {"é": {}}',
        'ROWS = {"a": {}, "A": {}}', "THREADS = 0", 'THREADS = "1"', "THREADS = 1.5",
        'DEVICE = "gpu"', "DEVICE = 3", "UNITS = 3", 'UNITS = {"x": 3}', 'INPUTS = "corpus"',
        "INPUTS = (3,)", 'TRAINED = "yes"', 'TRAINED = ("x",)', 'ALIASES = {"a b": "c"}',
        "NONFINITE = 3", "MACHINE_DEPENDENT = (1,)", "WAITING = 3", 'SMOKE_ROWS = {"x": {}}',
    ):  # fmt: skip
        path.write_text(f"{clean}\n{line}\n", encoding="utf-8")
        try:
            declaration("shuffle")
        except MedidaError as error:
            wrong.count("shuffle.py" in str(error) and "\n" not in str(error), str(error))
        else:
            wrong.count(False, line)
    for data in (b"\xff\xfe", b"FULL = \x00", b"FULL = Settings(", "é".encode("latin-1")):
        path.write_bytes(data)
        try:
            declaration("shuffle")
        except MedidaError as error:
            wrong.count("\n" not in str(error), str(error))


# ---------------------------------------------------------------------------- numbers


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    return tmp_path


FEW = settings(
    max_examples=300,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@FEW
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_any_float_comes_back_from_a_record_bit_by_bit(
    elsewhere: Path, values: list[float]
) -> None:
    from engine.provenance import fingerprint, machine

    spec = run_spec("shuffle/s0")
    path = write_record(
        spec,
        {"one": values[0], "all": values},
        replay=None,
        fingerprint=fingerprint(spec),
        device=machine("cpu", 1),
        seconds=1.0,
    )
    record = read_record(path)
    found: Any = record.values["all"]
    assert [v.hex() for v in found] == [v.hex() for v in values]
    assert record.values["one"] == values[0]


def read_back(text: str, language: str) -> float:
    """A number as a reader types it into a calculator."""
    decimal, group = (",", ".") if language == "pt" else (".", ",")
    plain = text.replace("\u2212", "-").replace(group, "").replace(decimal, ".")
    mantissa, times, power = plain.partition("\u00a0×\u00a010")
    digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
    return float(mantissa) * 10.0 ** int(power.translate(digits)) if times else float(mantissa)


@FEW
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(min_value=1, max_value=15),
    st.sampled_from(["pt", "en"]),
    st.sampled_from(["digits", "scientific"]),
)
def test_any_float_reads_back_from_a_page_to_its_digits(
    value: float, digits: int, language: Any, form: str
) -> None:
    asked: Any = {form: digits}
    shown = format_number(value, language, **asked)
    assert "e" not in shown
    assert "-" not in shown
    found = read_back(shown, language)
    if value == 0 or abs(value) < 1e-300:
        assert abs(found) <= 1e-299
    elif abs(value) > 1e308:  # rounded up, it may be more than a float holds
        assert math.isinf(found) or math.isclose(found, value, rel_tol=0.51)
    else:
        assert math.isclose(found, value, rel_tol=0.51 * 10.0 ** (1 - digits) + 1e-15)
