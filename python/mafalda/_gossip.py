"""The gossip matrix W: row i has the weights with which node i averages its own model and those of its neighbours."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from . import _files
from .errors import ExportError, StepError


DENSE = 1024  # nodes up to which W is multiplied as a dense matrix
TOGETHER = 1 << 24  # numbers of all models that are averaged at a time


class Gossip:
    """W of an export, from W.npy or W.mtx; of several networks if they take turns."""

    def __init__(self, directory: str, names: dict[str, str], nodes: int, turns: int) -> None:
        self._directory, self._nodes, self._turns = directory, nodes, turns
        self._name = next((name for name in ("W.npy", "W.mtx") if name in names), None)
        self._dense: np.ndarray | None = None
        self._operators: dict[Any, Any] = {}
        self._rows: list[list[tuple[int, float]]] | None = None
        if self._name == "W.npy":
            self._array()
        elif self._name is not None:
            self._entries()

    def matrix(self) -> Any:
        """W as a float64 ndarray, or, where the export has W.mtx, as a scipy.sparse.csr_matrix (needs scipy)."""
        if self._file() == "W.npy":
            return self._array() if self._turns > 1 else self._array()[0]
        i, j, w = zip(*((i, j, w) for i, row in enumerate(self._entries()) for j, w in row))
        return _csr(w, i, j, self._nodes * self._turns)

    def mix_all(self, stacked: Any, step: int | None) -> Any:
        """The models of all nodes, a row each, after a gossip step: see Plan.mix_all."""
        n, shape = self._nodes, tuple(getattr(stacked, "shape", ()))
        if shape[:1] != (n,) or "float" not in str(stacked.dtype):
            said = f"{shape} of {stacked.dtype}" if shape else type(stacked).__name__
            raise ExportError(f"stacked is {said}: it must be an array or a tensor of real numbers, a row for each of {n} nodes")
        if isinstance(stacked, np.ndarray):
            precise = np.promote_types(stacked.dtype, np.float32)
            out, convert = np.empty((n, stacked.size // n), stacked.dtype), lambda x: x.astype(precise, copy=False)
        else:
            import torch

            stacked, precise = stacked.detach(), torch.promote_types(stacked.dtype, torch.float32)
            out, convert = stacked.new_empty(n, stacked.numel() // n), lambda x: x.to(precise)
        w, flat, width = self._operator(out, precise, self._turn(step)), stacked.reshape(out.shape), -(-TOGETHER // n)
        for at in range(0, out.shape[1], width):
            out[:, at : at + width] = w @ convert(flat[:, at : at + width])
        return out.reshape(shape)

    def _operator(self, like: Any, dtype: Any, turn: int) -> Any:
        """W of a turn where an array or a tensor is: dense for few nodes, and else sparse."""
        key = turn, str(dtype), str(getattr(like, "device", "numpy"))
        if key not in self._operators:
            n = self._nodes
            i, j, w = map(np.array, zip(*((i, j, w) for i in range(n) for j, w in self.row(i, turn).items())))
            if not isinstance(like, np.ndarray):
                import torch

                made = torch.sparse_coo_tensor(np.stack([i, j]), w, (n, n), dtype=dtype, device=like.device).coalesce()
                made = made.to_dense() if n <= DENSE else made
            elif n <= DENSE:
                made = np.zeros((n, n), dtype)
                made[i, j] = w
            else:
                made = _csr(w.astype(dtype), i, j, n)
            self._operators[key] = made
        return self._operators[key]

    def row(self, i: int, step: int | None) -> dict[int, float]:
        """The weights of node i in a step that are not 0, by index, its own among them."""
        turn = self._turn(step)
        if self._file() == "W.npy":
            row = self._array()[turn, i]
            return {int(j): float(row[j]) for j in np.flatnonzero(row)}
        first = turn * self._nodes
        return {j - first: w for j, w in self._entries()[first + i]}

    def column(self, i: int, step: int | None) -> list[int]:
        """The nodes that give node i a weight, in ascending order."""
        turn = self._turn(step)
        if self._file() == "W.npy":
            return [int(j) for j in np.flatnonzero(self._array()[turn, :, i])]
        first = turn * self._nodes
        return [
            j
            for j, row in enumerate(self._entries()[first : first + self._nodes])
            if any(k == first + i for k, _ in row)
        ]

    def _turn(self, step: int | None) -> int:
        if self._turns == 1:
            return 0
        if step is None:
            raise ExportError("the networks of this export take turns: say step=…")
        if isinstance(step, bool) or not isinstance(step, (int, np.integer)) or step < 0:
            raise StepError(f"step {step!r}: networks take turns in steps 0, 1, 2, …")
        return int(step) % self._turns

    def _file(self) -> str:
        if self._name is None:
            raise ExportError(
                "the export has no W: it was made without a network, for random neighbours, or is too large"
            )
        return self._name

    def _array(self) -> np.ndarray:
        if self._dense is None:
            n, m = self._nodes, self._turns
            shape = (m, n, n) if m > 1 else (n, n)
            w = np.array(_files.open_array(os.path.join(self._directory, "W.npy"), shape)).reshape(m, n, n)
            if not w.min() >= 0:
                raise ExportError("W.npy has a weight below 0")
            self._check(w.sum(axis=-1))
            w.flags.writeable = False
            self._dense = w
        return self._dense

    def _entries(self) -> list[list[tuple[int, float]]]:
        if self._rows is None:
            self._rows = read_mtx(os.path.join(self._directory, "W.mtx"), self._nodes * self._turns)
            self._check(np.array([sum(w for _, w in row) for row in self._rows]))
        return self._rows

    def _check(self, sums: np.ndarray) -> None:
        if not np.all(np.abs(sums - 1) <= 1e-9):
            raise ExportError(f"the rows of {self._name} do not add up to 1")


def read_mtx(path: str, size: int) -> list[list[tuple[int, float]]]:
    """The entries of a square MatrixMarket file of coordinates, by row."""
    try:
        return _read_mtx(path, size)
    except ValueError as e:
        if isinstance(e, ExportError):
            raise
        raise ExportError(f"{os.path.basename(path)}: {e}") from e


def _read_mtx(path: str, size: int) -> list[list[tuple[int, float]]]:
    name = os.path.basename(path)
    with io.TextIOWrapper(_files.open_regular(path), encoding="ascii") as f:
        head = f.readline(1000).lower().split()
        if head[:4] != ["%%matrixmarket", "matrix", "coordinate", "real"] or head[4:] not in (
            ["general"],
            ["symmetric"],
        ):
            raise ExportError(f"{name} starts with {' '.join(head)!r}")
        line = f.readline(1000)
        while line.startswith("%"):
            line = f.readline(1000)
        rows, columns, count = (int(word) for word in line.split())
        if rows != size or columns != size or not 0 <= count <= size * size:
            raise ExportError(f"{name} is {rows}×{columns} with {count} entries, where {size} rows are needed")
        entries: list[list[tuple[int, float]]] = [[] for _ in range(size)]
        for _ in range(count):
            first, second, text = f.readline(1000).split()
            i, j, w = int(first) - 1, int(second) - 1, _files.number(text, name)
            if not (0 <= i < size and 0 <= j < size):
                raise ExportError(f"{name} has an entry ({first}, {second})")
            entries[i].append((j, w))
            if head[4] == "symmetric" and i != j:
                entries[j].append((i, w))
        if f.read(1):
            raise ExportError(f"{name} has more than {count} entries")
    if any(len({j for j, _ in row}) != len(row) for row in entries):
        raise ExportError(f"{name} has an entry twice")
    return entries


def _csr(w: Any, i: Any, j: Any, size: int) -> Any:
    try:
        from scipy.sparse import csr_matrix
    except ImportError as e:
        raise ImportError("W of this export is sparse: plan.W and plan.mix_all need scipy (plan.neighbours does not)") from e
    return csr_matrix((w, (i, j)), shape=(size, size))
