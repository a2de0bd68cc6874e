"""The spectrum of a loss: that of linear regression is known, and optimize takes it."""

import numpy as np
import pytest

import mafalda

torch = pytest.importorskip("torch")


def mean_squared(output, target):
    return (output.reshape(-1) - target.reshape(-1)).square().mean() / 2


def regression(features, records=40):
    torch.manual_seed(1)
    model = torch.nn.Linear(features, 1, bias=False).double()
    x = torch.randn(records, features).double() * torch.linspace(0.1, 1, features).double()
    return model, x, torch.randn(records).double(), np.linalg.eigvalsh((x.T @ x / records).numpy())


def test_the_spectrum_of_linear_regression():
    model, x, y, eigenvalues = regression(5)
    rows = mafalda.estimate_curvature(model, mean_squared, [(x[:20], y[:20]), (x[20:], y[20:])], rate=0.3, probes=200)
    assert rows[:, 1].sum() == pytest.approx(5)
    assert rows[:, 0].min() >= 0.3 * eigenvalues[0] * (1 - 1e-9) and rows[:, 0].max() <= 0.3 * eigenvalues[-1] * (1 + 1e-9)
    assert rows[:, 0] @ rows[:, 1] == pytest.approx(0.3 * eigenvalues.sum(), rel=0.1)  # the trace, by random vectors
    assert rows[:, 0] ** 2 @ rows[:, 1] == pytest.approx(0.09 * (eigenvalues**2).sum(), rel=0.15)


def test_few_points_and_many_parameters():
    model, x, y, eigenvalues = regression(60, records=30)
    rows = mafalda.estimate_curvature(model, mean_squared, [(x, y)], rate=1, points=6)
    assert rows.shape == (6, 2) and rows[:, 1].sum() == pytest.approx(60)
    assert rows[-1, 0] <= eigenvalues[-1] * (1 + 1e-9)


@pytest.mark.parametrize("wrong", [{"rate": 0}, {"rate": float("nan")}, {"rate": 1, "points": 0}, {"rate": 1, "batches": []}])
def test_what_is_no_estimate(wrong):
    model, x, y, _ = regression(3)
    with pytest.raises(ValueError):
        mafalda.estimate_curvature(model, mean_squared, wrong.pop("batches", [(x, y)]), **wrong)


def test_optimize_takes_a_spectrum():
    rows = np.array([[0.01, 3.0], [0.4, 1.0]])
    plan = mafalda.optimize("cycle:5", steps=8, k=2, curvature=rows, no_baselines=True)
    assert plan.manifest["curvature"] == {"risk": "excess", "x": [0.01, 0.4], "directions": [3, 1]}
    one = mafalda.optimize("cycle:5", steps=8, k=2, curvature=0.4, no_baselines=True)
    assert one.manifest["curvature"]["x"] == [0.4]
    several = mafalda.optimize("cycle:5", steps=8, k=2, curvature=[0.1, 0.4], risk="distance", no_baselines=True)
    assert several.manifest["curvature"] == {"risk": "distance", "x": [0.1, 0.4], "directions": [1, 1]}


@pytest.mark.parametrize("wrong", [{"risk": "none"}, {"x": []}, {"x": [-1.0]}, {"directions": [1.0, 2.0]}, {"extra": 1}])
def test_load_refuses_curvatures_that_are_none(tmp_path, wrong):
    from conftest import write

    write(tmp_path / "good", curvature={"risk": "excess", "x": [0.1], "directions": [1.0]})
    mafalda.load(tmp_path / "good")
    write(tmp_path / "bad", curvature={"risk": "excess", "x": [0.1], "directions": [1.0], **wrong})
    with pytest.raises(mafalda.ExportError):
        mafalda.load(tmp_path / "bad")
