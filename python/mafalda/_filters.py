"""C⁻¹Z row by row, for every class of strategies, in the order of operations that `go doc mafalda/noise` gives (the same bits).

A filter is a generator: it is sent row t of Z (an array of numpy, or a tensor; one dimension at least), which becomes
its own, and answers with row t of C⁻¹Z, which the caller reads before the next. It keeps what later rows need: w-1
rows for w bands, two buffers a section for BLT, and a period's rows for a comb. Dense strategies have none: their
rows need all of Z.
"""

from __future__ import annotations

from typing import Any, Generator

import numpy as np

Filter = Generator[Any, Any, None]


def start(strategy: dict[str, Any], steps: int) -> Filter:
    """The filter of a manifest's strategy that is not dense."""
    f = _STRUCTURED[strategy["class"]][0](strategy, steps)
    next(f)
    return f


def is_dense(strategy: dict[str, Any]) -> bool:
    """Whether rows of noise need C⁻¹."""
    return strategy["class"] not in _STRUCTURED


def kept(strategy: dict[str, Any], steps: int) -> int:
    """How many rows a filter keeps for later ones, at most."""
    return steps if is_dense(strategy) else _STRUCTURED[strategy["class"]][1](strategy)


def first(strategy: dict[str, Any], t: int) -> int:
    """The first row of Z that a filter needs for row t, where it starts anew: all but banded inverses remember every row."""
    return max(0, t - kept(strategy, t)) if strategy["class"] == "banded-inverse" else 0


def add(row: Any, factor: float, x: Any) -> Any:
    """row + factor·x, in place of row; of tensors in one pass."""
    if hasattr(row, "add_"):
        return row.add_(x, alpha=factor)
    row += factor * x
    return row


def _autoregression(diagonals: list[list[float]], steps: int) -> Filter:
    past: list[np.ndarray] = []  # newest first
    row = np.zeros(0)
    for t in range(steps):
        row = yield row
        for j, earlier in enumerate(past):
            add(row, -diagonals[j + 1][t - j - 1], earlier)
        row *= 1 / diagonals[0][t]
        past = ([row] + past)[: len(diagonals) - 1]
    yield row


def _banded(s: dict[str, Any], steps: int) -> Filter:
    return _autoregression(s["diagonals"], steps)


def _toeplitz(s: dict[str, Any], steps: int) -> Filter:
    columns = s.get("column_scales") or [1.0] * steps
    return _autoregression(
        [[c * columns[i] for i in range(steps - lag)] for lag, c in enumerate(s["coefficients"])], steps
    )


def _banded_inverse(s: dict[str, Any], steps: int) -> Filter:
    past: list[np.ndarray] = []
    r, row = s["coefficients"], np.zeros(0)
    for _ in range(steps):
        z = yield row
        row = r[0] * z
        for j, earlier in enumerate(past):
            add(row, r[j + 1], earlier)
        past = ([z] + past)[: len(r) - 1]
    yield row


def _blt(s: dict[str, Any], steps: int) -> Filter:
    sections = s.get("sections", [])  # a comb alone has none
    buffers: list[list[Any]] = [[0.0, 0.0] for _ in sections]
    row = np.zeros(0)
    for _ in range(steps):
        row = yield row
        row *= 1 / s["scale"]
        for (p, q, a, b), state in zip(sections, buffers):
            y = row + state[0]
            state[0] = add(p * y, -a, row)
            state[0] += state[1]
            row *= b
            state[1] = add(row, -q, y)
            row = y
    yield row


def _comb(s: dict[str, Any], steps: int) -> Filter:
    p, a = s["coefficients"]
    past: list[Any] = [0.0] * s["bandwidth"]  # newest first
    blt = _blt(s, steps)
    row = next(blt)
    for t in range(steps):
        row = blt.send((yield row))
        row += past[-1]
        past = [add(a * past[-1], p - a, row)] + past[:-1]
        if "column_scales" in s:
            row *= polynomial(s["column_scales"], t, steps)
    yield row


def polynomial(e: list[float], t: int, steps: int) -> float:
    """e_0 + e_1 t/T + e_2 (t/T)² + …: one over the scale of column t of a comb."""
    v = 0.0
    for coefficient in reversed(e):
        v = v * (t / steps) + coefficient
    return v


_STRUCTURED = {  # by class: the filter, and how many rows it keeps
    "banded": (_banded, lambda s: len(s["diagonals"]) - 1),
    "toeplitz": (_toeplitz, lambda s: len(s["coefficients"]) - 1),
    "banded-inverse": (_banded_inverse, lambda s: len(s["coefficients"]) - 1),
    "blt": (_blt, lambda s: 2 * len(s.get("sections", []))),
    "comb": (_comb, lambda s: s["bandwidth"] + 2 * len(s.get("sections", []))),
}
CLASSES = ("dense", *_STRUCTURED)
