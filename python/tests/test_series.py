"""Sensitivities of many steps, of which no matrix is made: the numbers of the definition, never less."""

import json
import subprocess

import numpy as np
import pytest
from conftest import REAL

import mafalda
from mafalda import ExportError, checks, filters


def definition(c, d, k, b):
    """The largest sum of |CᵀC| over a pattern."""
    steps = len(c)
    at = np.arange(steps)
    matrix = np.zeros((steps, steps))
    for lag in range(steps):
        matrix[at[lag:], at[: steps - lag]] = c[lag]
    x = np.abs((matrix * d).T @ (matrix * d))
    patterns = ([s + i * b for i in range(k) if s + i * b < steps] for s in range(steps))
    return max(float(x[np.ix_(q, q)].sum()) for q in patterns)


def test_series_have_the_sensitivity_of_their_matrix():
    rng = np.random.default_rng(33)
    for _ in range(200):
        steps = int(rng.integers(1, 30))
        b = int(rng.integers(1, steps + 1))
        k = int(rng.integers(1, (steps - 1) // b + 2))
        c = np.where(np.arange(steps) < rng.integers(1, steps + 1), rng.normal(size=steps), 0.0)
        c[0] = abs(c[0]) + 0.1
        scaled = steps <= k * b and rng.random() < 0.5
        d = rng.uniform(0.1, 3, steps) if scaled else np.ones(steps)
        want, found = definition(c, d, k, b), checks.series_sensitivity(c, d, k, b)
        assert want * (1 - 1e-14) <= found <= want * (1 + 1e-10), (steps, k, b, c, d)


BLT = {"scale": 0.3, "sections": [[0.5, 0.1, 0.9, 0.2], [-0.3, 0.0, 0.99, 0.0]]}
STRATEGIES = {
    "toeplitz": {"class": "toeplitz", "bandwidth": 90, "coefficients": [1.0] + [-0.3 / (j + 1) for j in range(89)]},
    "banded-inverse": {"class": "banded-inverse", "bandwidth": 3, "coefficients": [1.0, -0.6, 0.1]},
    "blt": {"class": "blt", **BLT},
    "comb": {"class": "comb", "bandwidth": 40, "coefficients": [0.4, 0.8], "column_scales": [1.0, -0.7, 0.2], **BLT},
    "a comb alone": {"class": "comb", "bandwidth": 40, "coefficients": [0.4, 0.8], "scale": 0.3},
}


@pytest.mark.parametrize("kind", STRATEGIES)
def test_too_small_a_sensitivity_of_many_steps_is_refused(kind):
    steps, participation = 250, {"schema": "cyclic", "k": 5, "b": 60}
    m = {"steps": steps, "participation": participation, "strategy": STRATEGIES[kind], "sens_kind": "bound"}
    if kind == "comb":
        participation["b"] = 50  # scaled columns, where patterns do not overlap
    checks._check_strategy(m)
    truth = checks.sensitivity(checks.matrix(m["strategy"], steps), participation).squared
    checks.check_series({**m, "sens_squared": truth * (1 + 1e-10)})
    with pytest.raises(ExportError, match="sens² is"):
        checks.check_series({**m, "sens_squared": truth * (1 - 1e-6)})


def test_a_comb_alone_makes_the_noise_of_its_matrix():
    steps, z = 100, np.random.default_rng(5).normal(size=(100, 3))
    s = STRATEGIES["a comb alone"]
    rows = filters.start(s, steps, None)
    noise = np.array([rows.send(x) for x in z])
    assert np.allclose(checks.matrix(s, steps) @ noise, z, rtol=0, atol=1e-12)


@pytest.mark.skipif(REAL is None, reason="the program is not there")
def test_load_checks_the_sensitivity_of_many_steps(tmp_path, monkeypatch):
    out = tmp_path / "out"
    arguments = ["--graph", "path:4", "--T", "12", "-k", "3", "--strategy", "blt", "--no-dense", "--no-baselines"]
    subprocess.run([REAL, "optimize", *arguments, "-o", out], check=True, capture_output=True)
    monkeypatch.setattr(checks, "LONGEST", 8)
    mafalda.load(out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["strategy"]["scale"] *= 1.001
    (out / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ExportError, match="sens² is"):
        mafalda.load(out)


@pytest.mark.parametrize("scales", [[float("inf")], [1e308, 1e308, 1e308], [float("nan"), 1.0], [1.0, -1.5], [5e-324]])
def test_column_scales_that_are_no_numbers_are_refused(scales):
    m = {"steps": 60, "strategy": {**STRATEGIES["comb"], "column_scales": scales}}
    with pytest.raises(ExportError, match="column_scales"):
        checks._check_strategy(m)
