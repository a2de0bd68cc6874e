"""Pictures with matplotlib: the same numbers as in the program's own, strings for labels, units on axes."""

import os
import sys

import numpy as np
import pytest

import mafalda
from mafalda import _plot

pytestmark = pytest.mark.skipif(not os.environ.get("MAFALDA"), reason="needs the program: $MAFALDA")


@pytest.fixture
def pyplot():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def plan():
    return mafalda.optimize("path:4", steps=8, k=2, epsilon=2, delta=1e-6)


def test_a_plan_draws_its_errors_and_its_correlations(plan, pyplot):
    ax = plan.plot()
    assert ax.get_xlabel() == "step" and "unit noise" in ax.get_ylabel() and ax.get_yscale() == "log"
    lines = {line.get_label(): np.asarray(line.get_ydata()) for line in ax.get_lines()}
    assert set(lines) == {"this strategy", "D-MF", "DP-D-SGD"} and all(len(y) == 8 for y in lines.values())
    squared = 4 * (lines["this strategy"] ** 2).sum() / plan.manifest["squared_error"]
    assert squared == pytest.approx(1, rel=1e-9)  # root mean squares over 4 nodes
    given = pyplot.subplots(1, 2)[1]
    for at, name in zip(given, ("convergence", "spectrum")):
        assert plan.plot(name, at) is at and at.get_xlabel() and at.get_ylabel()
    c, inverse = plan.plot("matrices", pyplot.subplots(2)[1])
    signed = np.sign(plan.C_inv) * np.sqrt(np.abs(plan.C_inv) / np.abs(plan.C_inv).max())
    assert np.array_equal(inverse.get_images()[0].get_array(), signed) and "step" in c.get_ylabel()


def test_results_draw_theirs(plan, pyplot):
    account = mafalda.account(plan, attackers="all", reaction="fixed")
    ax = account.plot()
    assert ax.get_xlabel() == "distance from the attacker" and "divergence" in ax.get_ylabel()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2", "3"]
    table = account.table
    most = [table["rdp"][table["distance"] == d].max() for d in (1, 2, 3)]
    line = next(line for line in ax.get_lines() if line.get_label() == "most")
    assert line.get_ydata() == pytest.approx(most, rel=1e-9)
    several = mafalda.simulate(plan, seeds=2, task={"records": 200}, epsilon=[1, 8], delta=1e-6)
    places = several.plot("privacy-utility")
    assert len(places) == 2 and all("ε of local DP" in at.get_xlabel() for at in places)
    with pytest.raises(mafalda.MafaldaError, match="has 2 plots: ax is as many axes, not 1"):
        several.plot("privacy-utility", pyplot.subplots()[1])


def test_rows_are_strings_and_what_is_beyond_the_frame_stays_there(pyplot):
    curve = {"name": "a", "x": [1, 10], "y": [0, 1], "colour": "#0072b2"}
    plot = {"title": "t", "x": "cost (s)", "y": "", "log_x": True, "log_y": False, "dots": True, "marks": False, "rows": ["7", "11"], "curves": [curve]}
    ax = pyplot.subplots()[1]
    _plot._draw(ax, **plot)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["7", "11"] and ax.get_xlabel() == "cost (s)"
    band = {**curve, "y": [1, 2], "low": [1e-9, 1], "high": [2, 3], "labels": ["one", "two"], "dashed": True}
    ax = pyplot.subplots()[1]
    del plot["rows"]
    _plot._draw(ax, **{**plot, "dots": False, "log_y": True, "max_y": 2.5, "curves": [band]})
    assert ax.get_ylim()[1] == 2.5 and [text.get_text() for text in ax.texts] == ["one", "two"]
    assert ax.collections[0].get_paths()[0].vertices[:, 1].min() == pytest.approx(0.1)


def test_what_cannot_be_drawn_is_said_in_one_line(plan, tmp_path, monkeypatch):
    (tmp_path / "g.edges").write_text("a b\nb c\n")
    mafalda.optimize(tmp_path / "g.edges", steps=8, k=2, out=tmp_path / "out")
    loaded = mafalda.load(tmp_path / "out")
    for draw, says in (
        (loaded.plot, r"^errors is not drawn: name the network's file with graph FILE \(it was .*g.edges\)$"),
        (lambda: plan.plot("nothing"), "^nothing is not drawn: there are convergence, errors, matrices, spectrum$"),
        (lambda: mafalda.epsilon(mu=1, delta=1e-6).plot(), "this result has no figures"),
        (lambda: mafalda.plot(plan).plot("matrices"), "has no curves: figures has it as SVG"),
    ):
        with pytest.raises(mafalda.MafaldaError, match=says):
            draw()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (plan.plot, lambda: plan.plot("matrices")):
        with pytest.raises(mafalda.MafaldaError, match=r"^matplotlib is not installed \(pip install matplotlib\), and figures has the pictures as SVG$"):
            draw()


def test_the_network_of_a_file_is_named(tmp_path, pyplot):
    (tmp_path / "g.edges").write_text("a b\nb c\n")
    mafalda.optimize(tmp_path / "g.edges", steps=8, k=2, out=tmp_path / "out")
    assert "step" == mafalda.plot(tmp_path / "out", graph=tmp_path / "g.edges").plot("errors").get_xlabel()
