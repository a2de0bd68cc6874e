"""Which noise a node gets: real rows from the program, or simulated ones of a seed."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .errors import ExportError, MafaldaError
from ._export import Export
from ._noise import Noise
from ._served import ServedNoise
from ._simulated import SimulatedNoise, SimulatedRows


def open_noise(
    plan: Export,
    node: str,
    dim: int,
    state: str | os.PathLike[str] | None,
    seed: int | None,
    *,
    noise_std: float | None = None,
    **options: Any,
) -> Noise:
    """The noise of a node: real where there is a state, simulated where there is a seed. See Plan.noise."""
    node = plan.check_node(node)
    if any(isinstance(given, SimulatedRows) for given in (state, seed, *options.values())):
        raise MafaldaError("rows of plan.simulated protect nothing, and train nobody in private: give state=FILE, for real noise")
    if (state is None) == (seed is None):
        raise ValueError(
            "noise needs exactly one of state (a file: real noise) and seed (a number: simulated, not private)"
        )
    if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)) or dim < 1:
        raise ValueError(f"dim is the number of parameters of the model, at least 1, not {dim!r}")
    std = _level(plan, node, noise_std)
    if seed is not None:
        if options:
            raise TypeError(f"simulated noise does not know {', '.join(options)}")
        return SimulatedNoise(plan, node, int(dim), std, seed)
    return ServedNoise(plan, node, int(dim), std, os.fspath(state), given_std=noise_std, **options)


def open_rows(plan: Export, like: Any, seed: int, noise_std: float | None = None, **options: Any) -> SimulatedRows:
    """Simulated rows of all nodes. See Plan.simulated."""
    return SimulatedRows(plan, like, seed, lambda node: _level(plan, node, noise_std), **options)


def _level(plan: Export, node: str, wanted: float | None) -> float:
    said = plan.level(node).noise_std
    std = said if wanted is None else float(wanted)
    if std is None:
        raise ExportError("the export has no noise level (it was made without epsilon or mu): give noise_std")
    if not 1e-280 <= std <= 1e280 or said is not None and not std >= said:
        raise ExportError(f"a noise level of {std}, where the export says {said}")
    return std
