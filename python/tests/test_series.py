"""Strategies of parameters alone: their rows, and what is refused of them."""

import json
import os
import subprocess

import numpy as np
import pytest
from conftest import REAL

import mafalda
from mafalda import ExportError, _checks as checks, _filters as filters

BLT = {"scale": 0.3, "sections": [[0.5, 0.1, 0.9, 0.2], [-0.3, 0.0, 0.99, 0.0]]}
STRATEGIES = {
    "comb": {"class": "comb", "bandwidth": 40, "coefficients": [0.4, 0.8], "column_scales": [1.0, -0.7, 0.2], **BLT},
    "a comb alone": {"class": "comb", "bandwidth": 40, "coefficients": [0.4, 0.8], "scale": 0.3},
}


def test_a_comb_alone_makes_the_noise_of_its_matrix():
    steps, z = 100, np.random.default_rng(5).normal(size=(100, 3))
    s = STRATEGIES["a comb alone"]
    rows = filters.start(s, steps)
    noise = np.array([rows.send(x) for x in z.copy()])
    c = np.zeros(steps)
    c[::40], c[0] = [0.3 * (0.8 - 0.4) * 0.8**i for i in range(-1, 2)], 0.3  # 0.3 (1 - 0.4 x^40)/(1 - 0.8 x^40)
    assert np.allclose(sum(c[j] * np.vstack([np.zeros((j, 3)), noise[: steps - j]]) for j in range(steps)), z, rtol=0, atol=1e-12)


@pytest.mark.skipif(REAL is None, reason="the program is not there")
def test_load_checks_the_sensitivity_of_parameters_alone(tmp_path):
    out = tmp_path / "out"
    arguments = ["--graph", "path:4", "--T", "12", "-k", "3", "--strategy", "blt", "--format", "parameters-only", "--no-baselines"]
    subprocess.run([REAL, "optimize", *arguments, "-o", out], check=True, capture_output=True)
    mafalda.load(out)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["strategy"]["scale"] *= 1.001
    (out / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ExportError, match="sens² is"):
        mafalda.load(out)


@pytest.mark.skipif(REAL is None, reason="the program is not there")
def test_parameters_without_a_network_are_loaded(tmp_path):
    out = tmp_path / "out"
    arguments = ["--workload", "prefix", "--T", "12", "-k", "3", "--strategy", "blt", "--format", "parameters-only", "--no-baselines"]
    subprocess.run([REAL, "optimize", *arguments, "-o", out], check=True, capture_output=True)
    assert os.listdir(out) == ["manifest.json"] and mafalda.load(out).steps == 12


@pytest.mark.skipif(REAL is None, reason="the program is not there")
def test_too_small_a_sensitivity_of_many_steps_is_refused_by_the_program(tmp_path):
    out = tmp_path / "out"
    arguments = ["--graph", "path:4", "--T", "5000", "-k", "100", "--mu", "1", "--strategy", "blt", "--no-baselines"]
    subprocess.run([REAL, "optimize", *arguments, "-o", out], check=True, capture_output=True)
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["strategy"]["scale"] *= 1.001
    (out / "manifest.json").write_text(json.dumps(manifest))
    plan = mafalda.load(out)
    with pytest.raises(mafalda.ServerError, match="sens² is"):
        plan.noise(plan.nodes[0], 3, state=tmp_path / "state", binary=REAL)
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("scales", [[1e308, 1e308, 1e308], [1.0, -1.5], [5e-324], "x", []])
def test_column_scales_that_are_no_numbers_are_refused(tmp_path, scales):
    m = {"steps": 60, "sens_squared": 1.0, "sens_kind": "bound", "participation": {"schema": "cyclic", "k": 1, "b": 60},
         "strategy": {**STRATEGIES["comb"], "column_scales": scales}}
    with pytest.raises(ExportError, match="parameters of the strategy|C is not|sens² is|inverse|no C"):
        checks.check_parameters(m)
