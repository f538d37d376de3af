"""Do the parts behind the figures hold: finished SVG, scales, ticks, labels, fonts, files?"""

import json
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import paths
from engine.errors import MedidaError
from figures import FigureError, fonts, load_figure, marks, output, palette, scales, svg
from figures.__main__ import main
from tests.figures.fakes import FakeBook, book

SMALL = (
    '<svg xmlns="http://www.w3.org/2000/svg" class="marks" width="100" height="40" '
    'viewBox="0 0 100 40"><defs><clipPath id="clip0"><path d="M0,0h5v5h-5Z" fill="#0B5F6B"/>'
    '</clipPath></defs><g role="graphics-object" aria-label="x" clip-path="url(#clip0)">'
    "{}</g></svg>"
)


def finished(inner: str, width: float | None = None) -> str:
    return svg.finish(SMALL.format(inner), "fig-x", width)


def test_colours_become_tokens() -> None:
    drawn = finished('<path d="M0,0L1,1" stroke="#0b5f6b"/><text fill="#FEFEFE">1</text>')
    assert 'stroke="var(--c1,#0B5F6B)"' in drawn
    assert 'fill="var(--on-hi,#FFFFFF)"' in drawn


def test_a_colour_outside_the_palette_is_an_error() -> None:
    with pytest.raises(svg.SvgError, match="#123456"):
        finished('<path d="M0,0L1,1" stroke="#123456"/>')


def test_identifiers_are_the_figures_own() -> None:
    drawn = finished('<text fill="#22262B">1</text>')
    assert 'id="fig-x-clip0"' in drawn
    assert 'clip-path="url(#fig-x-clip0)"' in drawn


def test_a_narrower_drawing_gets_room_and_a_wider_one_is_an_error() -> None:
    assert 'viewBox="0 0 120 40"' in finished("", 120)
    with pytest.raises(svg.SvgError, match="100 px wide, more than the 90 px"):
        finished("", 90)


def test_a_link_is_an_error() -> None:
    with pytest.raises(svg.SvgError, match="outside"):
        finished('<a href="https://example.org"><text fill="#22262B">1</text></a>')


def test_superscripts_are_raised() -> None:
    drawn = finished('<text fill="#22262B">10⁻⁷ x</text>')
    assert re.search(r">10<tspan dy=\"-0.45em\" font-size=\"75%\">−7</tspan><tspan dy=", drawn)


def test_palette_agrees_with_the_page() -> None:
    written = json.loads((paths.WEB / "palette.json").read_text(encoding="utf-8"))
    for token in palette.TOKENS:
        assert [token.light, token.dark] == written[token.name]
    assert len(palette.BY_HEX) == len(palette.TOKENS)


finite = st.floats(min_value=-1e12, max_value=1e12, allow_nan=False)
positive = st.floats(min_value=1e-30, max_value=1e30)


@given(st.lists(finite, min_size=1, max_size=6))
def test_linear_axes_hold_their_values(values: list[float]) -> None:
    scale = scales.linear(values)
    slack = 1e-9 * (scale.high - scale.low)
    assert all(scale.low - slack <= value <= scale.high + slack for value in values)
    assert 2 <= len(scale.ticks) <= 12
    assert list(scale.ticks) == sorted(set(scale.ticks))


@given(st.lists(finite, min_size=1, max_size=6), st.integers(2, 6))
def test_axes_without_zero_hold_their_values(values: list[float], count: int) -> None:
    scale = scales.linear(values, count, zero=False)
    assert all(scale.low <= value <= scale.high for value in values)
    assert len(scale.ticks) >= 2
    assert all(scale.low <= tick <= scale.high for tick in scale.ticks)


@given(st.lists(positive, min_size=1, max_size=6))
def test_logarithmic_axes_hold_their_values_and_say_where(values: list[float]) -> None:
    scale = scales.logarithmic(values)
    assert all(scale.low <= value <= scale.high for value in values)
    assert 2 <= len(scale.ticks) <= 9
    for language in ("pt", "en"):
        said = scales.tick_texts(scale, language)
        assert len(set(said)) == len(said)


@given(
    st.lists(st.tuples(st.floats(-50, 250), st.sampled_from([17.0, 34.0])), min_size=1, max_size=8)
)
def test_separated_labels_do_not_overlap(labels: list[tuple[float, float]]) -> None:
    wanted, heights = [at for at, _ in labels], [tall for _, tall in labels]
    placed = scales.separate(wanted, heights, 300.0)
    spans = sorted((at - tall / 2, at + tall / 2) for at, tall in zip(placed, heights, strict=True))
    assert all(a[1] <= b[0] + 1e-6 for a, b in pairwise(spans))
    if sum(heights) <= 300:
        assert spans[0][0] >= -1e-6
        assert spans[-1][1] <= 300 + 1e-6
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    assert [placed[index] for index in order] == sorted(placed)


def test_labels_that_do_not_collide_stay() -> None:
    assert scales.separate([50.0, 100.0], [17.0, 17.0], 200.0) == [50.0, 100.0]


def test_axis_labels_follow_the_language() -> None:
    scale = scales.linear([0.0, 1.0])
    assert scales.tick_texts(scale, "pt") == ["0", "0,25", "0,50", "0,75", "1,00"]
    assert scales.tick_texts(scale, "en") == ["0", "0.25", "0.50", "0.75", "1.00"]
    wide = scales.logarithmic([1e-9, 1e3])
    assert scales.tick_texts(wide, "pt")[0].startswith("10⁻")
    assert scales.tick_texts(scales.fixed((4096, 16384), log=True), "pt") == ["4096", "16.384"]


def test_shares_are_written_with_as_few_decimals_as_are_true() -> None:
    assert [scales.percent_text(x, "pt") for x in (1, 0.5, 1 / 128, 0.05)] == [
        "100%",
        "50%",
        "0,78%",
        "5%",
    ]
    assert scales.percent_text(1e-9, "en").startswith("<")


def test_fonts_are_measured_and_not_guessed() -> None:
    assert fonts.text_width("iiii") < fonts.text_width("WWWW") / 2
    assert fonts.text_width("média", 600) > fonts.text_width("média", 400)
    assert "√" not in fonts.characters()
    assert set("±×−áãçêõ0,%") <= fonts.characters()


def test_wrapped_lines_keep_within_their_limit() -> None:
    text = "média de tokens com posições"
    lines = fonts.wrap(text, 104).split("\n")
    assert " ".join(lines) == text
    assert all(fonts.text_width(line) <= 104 for line in lines)
    assert fonts.wrap("indivisível", 10) == "indivisível"


def test_missing_fonts_are_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "FOLDER", tmp_path)
    fonts.register.cache_clear()
    try:
        with pytest.raises(FigureError, match="npm ci --prefix web"):
            fonts.register()
    finally:
        monkeypatch.undo()
        fonts.register()


def test_a_number_of_a_row_must_be_one() -> None:
    with pytest.raises(FigureError, match="d is 'four', not a number"):
        marks.number({"d": "four"}, "d")


@pytest.fixture
def drawn_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "DRAWN", tmp_path)
    return tmp_path


def draw(name: str, values: FakeBook) -> list[Path]:
    return output.draw_figure(name, values)  # type: ignore[arg-type]


def why(name: str, values: FakeBook) -> str | None:
    return output.stale(name, values)  # type: ignore[arg-type]


def test_a_figure_is_six_files(drawn_at: Path) -> None:
    values = book()
    values.cited.add("earlier.path")
    draw("variance_line", values)
    assert {path.name for path in drawn_at.iterdir()} == set(output.file_names("variance_line"))
    described = json.loads((drawn_at / "variance_line.json").read_text(encoding="utf-8"))
    assert described["paths"] == sorted(
        f"dot_variance.d_{d}.variance" for d in (4, 16, 64, 256, 1024)
    )
    assert described["records"] == {"dot_variance/all": "0"}
    assert values.cited == {"earlier.path", *described["paths"]}


def test_the_download_has_full_precision(drawn_at: Path) -> None:
    draw("averages_perplexity", book())
    lines = (drawn_at / "averages_perplexity.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "row,validation_perplexity,std,seeds"
    assert "bigram,71.234567,,1" in lines


def test_only_what_changed_is_stale(drawn_at: Path) -> None:
    assert why("variance_line", book()) == "variance_line.csv is not there"
    draw("variance_line", book())
    assert why("variance_line", book()) is None
    other = book()
    other.hashes["triangle"] = "1"
    assert why("variance_line", other) is None
    other.hashes["dot_variance"] = "1"
    assert why("variance_line", other) == "records changed: dot_variance/all"
    (drawn_at / "variance_line.json").write_text("{", encoding="utf-8")
    assert why("variance_line", book()) == "variance_line.json cannot be read"


def test_a_changed_source_is_stale(drawn_at: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw("three_masks", book())
    assert why("three_masks", book()) is None
    monkeypatch.setattr(output, "source_digest", lambda name: "another")
    assert why("three_masks", book()) == "its source changed"


def test_nothing_of_a_removed_figure_survives(drawn_at: Path) -> None:
    draw("three_masks", book())
    (drawn_at / "of_old.pt.wide.svg").write_text("<svg/>", encoding="utf-8")
    assert [path.name for path in output.remove_unknown()] == ["of_old.pt.wide.svg"]
    assert (drawn_at / "three_masks.csv").is_file()


def test_a_failed_figure_leaves_the_old_one(drawn_at: Path) -> None:
    draw("variance_line", book())
    before = {path: path.read_bytes() for path in drawn_at.iterdir()}
    values = book()
    values.values["dot_variance.d_4.variance"] = "not a number"
    with pytest.raises(MedidaError):
        draw("variance_line", values)
    assert {path: path.read_bytes() for path in drawn_at.iterdir()} == before


def test_uneven_rows_are_an_error() -> None:
    with pytest.raises(FigureError, match="differ in their columns"):
        output.csv_text([{"a": 1}, {"b": 1}])
    with pytest.raises(FigureError, match="no rows"):
        output.csv_text([])


def test_unknown_figure_names_its_neighbour() -> None:
    with pytest.raises(FigureError, match="did you mean averaging_matrix"):
        load_figure("averaging_matrx")


def test_command_line_fails_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["draw"], ["draw", "nosuch"], ["draw", "three_masks", "--all"]):
        assert main(arguments) == 1
        said = capsys.readouterr().err
        assert said.startswith("figures: ")
        assert said.count("\n") == 1
    for arguments in ([], ["draw", "--nosuch"], ["paint"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 1
        assert capsys.readouterr().err.count("\n") == 1
    assert main(["list"]) == 0
    assert "three_masks" in capsys.readouterr().out


def test_a_missing_record_names_its_command(
    drawn_at: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paths, "RESULTS", drawn_at / "results")
    assert main(["draw", "variance_line"]) == 1
    said = capsys.readouterr().err
    assert "python -m experiments run dot_variance" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("wrong", [b"\xff", b"def (", b"\0"])
def test_a_figure_that_is_no_python_is_one_clear_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wrong: bytes,
) -> None:
    import figures

    (tmp_path / "broken.py").write_bytes(b"# a figure\n" + wrong)
    monkeypatch.setattr(figures, "FOLDER", tmp_path)
    assert main(["list"]) == 1
    said = capsys.readouterr().err
    assert "broken.py" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "accident", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "^C"]
)
def test_an_accident_is_one_clear_line_and_leaves_the_old_drawing(
    drawn_at: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    accident: BaseException,
) -> None:
    draw("three_masks", book())
    before = {path: path.read_bytes() for path in drawn_at.iterdir()}

    def fail(*_: object) -> None:
        raise accident

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(Path, "replace", fail)
    assert main(["draw", "three_masks"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("figures: ")
    assert said.count("\n") == 1
    assert {path: path.read_bytes() for path in drawn_at.iterdir()} == before
