"""The ``neocc`` command and its demo."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from neocc import __version__
from neocc.cli import app
from neocc.cli._demo import demo_answer, make_view, page
from neocc.cli._picture import ASCII, UNICODE, Side, draw
from neocc.cli._terminal import Terminal
from neocc.datasets._southern_women import neutral_order
from neocc.plot.arrange import arrange


@pytest.fixture(scope="module")
def demo_output():
    """What ``neocc demo`` prints into a pipe."""
    result = CliRunner().invoke(app, ["demo"], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


@pytest.fixture
def view():
    """A hand-made result: one woman in both groups, one outlier, one event outside."""
    data = neutral_order()
    n_rows, n_columns = data.data.shape
    U = np.zeros((n_rows, 2), dtype=bool)
    U[: n_rows // 2, 1] = U[n_rows // 2 :, 0] = True
    U[3] = True
    U[5] = False
    V = np.eye(3, dtype=bool)[np.arange(n_columns) % 3]
    V[-1] = False
    model = SimpleNamespace(
        row_membership_=U,
        column_membership_=V,
        block_means_=(U.T @ data.data @ V) / np.outer(U.sum(axis=0), V.sum(axis=0)),
        history_=np.array([50.0, 41.25, 40.5]),
        n_iter_=1,
    )
    return make_view(data, model)


def printed(view, glyphs=UNICODE, **options):
    console = Console(file=io.StringIO(), highlight=False, **{"width": 80, **options})
    for part in page(view, glyphs):
        console.print(part)
    return console.file.getvalue()


def run_demo(console):
    Terminal(console=console).tell(demo_answer(console))


def test_the_data_are_in_an_order_that_gives_nothing_away():
    data = neutral_order()
    assert (data.row_names[0], data.column_names[0]) == ("Brenda Rogers", "E11")
    assert data.row_names == sorted(data.row_names)
    assert data.column_dates == sorted(data.column_dates)


# ------------------------------------------------------------------------------------ drawing


def test_draw_marks_members_overlap_and_outliers():
    X = np.ones((3, 3))
    U = np.array([[1, 0], [1, 1], [0, 0]], dtype=bool)
    V = np.array([[1], [1], [0]], dtype=bool)
    picture = draw(
        X,
        Side(["one", "two", "three"], arrange(U).segments, ["A", "B"]),
        Side(["x", "y", "z"], arrange(V).segments, ["1"]),
        ASCII,
    )
    rows = [line for line in picture.plain.splitlines() if re.match("one|two|three", line)]
    assert [re.sub(r"\s+", " ", row).strip() for row in rows] == [
        "one A # # | o",
        "two A+B @ @ | o",
        "three out o o | o",
    ]


def test_draw_whole_shows_every_entry():
    X = np.array([[1.0, 0.0], [1.0, 1.0]])
    picture = draw(X, Side.unsorted(["a", "b"]), Side.unsorted(["x", "y"])).plain
    assert picture.count(UNICODE.member) == 3
    assert picture.count(UNICODE.zero) == 1
    assert UNICODE.horizontal not in picture


def test_page_fits_80_columns(view):
    assert max(map(len, printed(view).splitlines())) <= 80


def test_page_has_an_ascii_form(view):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console(file=stream, width=80, highlight=False)
    for part in page(view, ASCII):
        console.print(part)
    stream.flush()
    text = stream.buffer.getvalue().decode("ascii")
    assert "A+B" in text
    assert text.count(ASCII.overlap) > 1


def test_page_shows_the_numbers_of_the_model(view):
    text = " ".join(printed(view).split())
    assert "from 50.00 to 40.50 in 1 iteration:" in text
    assert "50.00 → 41.25 → 40.50" in text
    for mean in view.block_means.ravel():
        assert f"{mean:.0%}" in text


def test_long_history_is_shortened(view):
    model = SimpleNamespace(history_=np.linspace(20.0, 1.0, 20), n_iter_=10)
    view = replace(view, model=model)
    assert "20.00 → 19.00 → 18.00 → 17.00 → 16.00 → ... → 1.00" in printed(view)


def test_colour_is_never_the_only_sign(view):
    coloured = printed(view, force_terminal=True, color_system="256")
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == printed(view)


# ------------------------------------------------------------------------------------ command


def test_demo_is_plain_and_narrow_in_a_pipe(demo_output):
    assert "\x1b" not in demo_output
    assert max(map(len, demo_output.splitlines())) <= 80


def test_demo_shows_everyone_before_and_after(demo_output):
    data = neutral_order()
    for name in data.row_names:
        assert demo_output.count(name) >= 3
    attended = sum(map(demo_output.count, (UNICODE.member, UNICODE.overlap, UNICODE.outlier)))
    in_legends = 4
    assert attended == 2 * int(data.data.sum()) + in_legends


def test_demo_finds_overlap_and_an_outlier(demo_output):
    women, events = demo_output.split("Groups of women")[1].split("Groups of events")
    assert re.search(r"A and B +Pearl Oglethorpe, Ruth DeSand", women)
    assert re.search(r"outlier +E8", events)


def test_demo_differs_from_the_book_in_one_answer(demo_output):
    assert "answers 35 as they did. The exceptions: Pearl Oglethorpe." in " ".join(
        demo_output.split()
    )


def test_demo_lowers_the_objective(demo_output):
    text = " ".join(demo_output.split())
    start, end = map(float, re.search(r"went from ([\d.]+) to ([\d.]+) in", text).groups())
    assert end <= start


def test_demo_repeats_itself(demo_output):
    assert CliRunner().invoke(app, ["demo"]).output == demo_output


def test_demo_for_programs_says_what_the_page_says(demo_output):
    result = CliRunner().invoke(app, ["demo", "--json"])
    assert (result.exit_code, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    several = [row["name"] for row in answer["rows"] if len(row["groups"]) > 1]
    none = [column["name"] for column in answer["columns"] if not column["groups"]]
    groups = " ".join(demo_output.split("Groups of women")[1].split())
    assert re.search(rf"A and B +{several[0]}", groups)
    assert re.search(rf"outlier +{none[0]}", groups)
    assert f"to {answer['objective']:.2f} in" in " ".join(demo_output.split())
    assert len(answer["columns"]) == 14
    assert answer["settings"]["n_column_clusters"] == len(answer["block_means"][0])


def test_demo_can_be_quiet():
    result = CliRunner().invoke(app, ["demo", "--quiet"])
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")


def test_demo_draws_ascii_where_nothing_else_can_be_shown():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    run_demo(Console(file=stream, width=80, highlight=False))
    stream.flush()
    assert b"attended" in stream.buffer.getvalue()


def test_demo_says_when_the_terminal_is_too_narrow():
    console = Console(file=io.StringIO(), width=60, highlight=False)
    run_demo(console)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 60
    assert "need 80 columns" in " ".join(lines[-2:])


def test_version():
    result = CliRunner().invoke(app, ["--version"])
    assert result.exit_code == 0
    assert result.output.strip() == f"neocc {__version__}"


def test_help_lists_demo_as_a_command():
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert re.search(r"\bdemo\b", result.output)


def test_unknown_command_exits_with_2():
    assert CliRunner().invoke(app, ["no-such-command"]).exit_code == 2


def test_module_runs_without_loading_numerical_libraries():
    code = (
        "import sys; from neocc.cli import app\n"
        "try:\n    app(['--version'])\n"
        "except SystemExit: pass\n"
        "print({'numpy', 'scipy', 'sklearn', 'numba'} & set(sys.modules))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["neocc", __version__, "set()"]


def test_python_m_neocc():
    command = [sys.executable, "-m", "neocc", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"neocc {__version__}"
