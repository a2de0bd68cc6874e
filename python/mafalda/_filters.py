"""C⁻¹Z row by row, for every class of strategies, in the order of operations that `go doc mafalda/noise` gives (the same bits).

A filter is a generator: it is sent row t of Z (float64, one dimension at least) and answers with row t of C⁻¹Z. It keeps what later
rows need: all rows of Z for a dense strategy, w-1 rows for one of w bands, two buffers a section for BLT, and a period's rows for a comb.
"""

from __future__ import annotations

from typing import Any, Generator

import numpy as np

Filter = Generator[np.ndarray, np.ndarray, None]
CACHED = 8192  # numbers that a processor works on at a time


def start(strategy: dict[str, Any], steps: int, inverse: np.ndarray | None) -> Filter:
    """The filter of a manifest's strategy; inverse is C⁻¹ (T×T), which dense strategies need."""
    f = _dense(inverse, steps) if is_dense(strategy) else _STRUCTURED[strategy["class"]](strategy, steps)
    next(f)
    return f


def is_dense(strategy: dict[str, Any]) -> bool:
    """Whether rows of noise need C⁻¹."""
    return strategy["class"] not in _STRUCTURED


def _dense(inverse: np.ndarray, steps: int) -> Filter:
    past: list[np.ndarray] = []
    row = np.zeros(0)
    for t in range(steps):
        z = yield row
        row = inverse[t, t] * z
        terms = [(inverse[t, s], past[s]) for s in range(t) if inverse[t, s] != 0]
        for at in range(0, len(row), CACHED):
            part = row[at : at + CACHED]
            term = np.empty_like(part)
            for factor, earlier in terms:
                np.multiply(factor, earlier[at : at + CACHED], out=term)
                part += term
        past.append(z)
    yield row


def _autoregression(diagonals: list[list[float]], steps: int) -> Filter:
    past: list[np.ndarray] = []  # newest first
    row = np.zeros(0)
    for t in range(steps):
        row = yield row
        for j, earlier in enumerate(past):
            row = row + -diagonals[j + 1][t - j - 1] * earlier
        row = 1 / diagonals[0][t] * row
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
            row = row + r[j + 1] * earlier
        past = ([z] + past)[: len(r) - 1]
    yield row


def _blt(s: dict[str, Any], steps: int) -> Filter:
    sections = s.get("sections", [])  # a comb alone has none
    buffers: list[list[Any]] = [[0.0, 0.0] for _ in sections]
    row = np.zeros(0)
    for _ in range(steps):
        row = 1 / s["scale"] * (yield row)
        for (p, q, a, b), state in zip(sections, buffers):
            y = row + state[0]
            state[0] = (p * y - a * row) + state[1]
            state[1] = b * row - q * y
            row = y
    yield row


def _comb(s: dict[str, Any], steps: int) -> Filter:
    p, a = s["coefficients"]
    past: list[Any] = [0.0] * s["bandwidth"]  # newest first
    blt = _blt(s, steps)
    row, scaled = next(blt), np.zeros(0)
    for t in range(steps):
        row = blt.send((yield scaled)) + past[-1]
        past = [a * past[-1] + (p - a) * row] + past[:-1]
        scaled = polynomial(s["column_scales"], t, steps) * row if "column_scales" in s else row
    yield scaled


def polynomial(e: list[float], t: int, steps: int) -> float:
    """e_0 + e_1 t/T + e_2 (t/T)² + …: one over the scale of column t of a comb."""
    v = 0.0
    for coefficient in reversed(e):
        v = v * (t / steps) + coefficient
    return v


_STRUCTURED = {
    "banded": _banded,
    "toeplitz": _toeplitz,
    "banded-inverse": _banded_inverse,
    "blt": _blt,
    "comb": _comb,
}
CLASSES = ("dense", *_STRUCTURED)
