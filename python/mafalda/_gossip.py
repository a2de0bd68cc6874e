"""The gossip matrix W: row i has the weights with which node i averages its own model and those of its neighbours."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from . import _files
from .errors import ExportError, StepError
from ._types import Array, is_whole


DENSE = 1024  # nodes up to which W is multiplied as a dense matrix
TOGETHER = 1 << 24  # numbers of all models that are averaged at a time


class Gossip:
    """W of an export, from W.npy or W.mtx; of several networks if they take turns."""

    def __init__(self, directory: str, names: dict[str, str], nodes: int, turns: int) -> None:
        self._nodes, self._turns = nodes, turns
        self._name = next((name for name in ("W.npy", "W.mtx") if name in names), None)
        self._dense: Array | None = None
        self._operators: dict[Any, Any] = {}
        if self._name is None:
            return
        path, size = os.path.join(directory, self._name), nodes * turns
        if self._name == "W.npy":
            self._dense = np.array(_files.open_array(path, (turns, nodes, nodes) if turns > 1 else (nodes, nodes)))
            self._dense.flags.writeable = False
            w = self._dense.reshape(size, nodes)
            i, j = np.nonzero(w)
            self._entries = i, j, w[i, j]
        else:
            i, j, w = read_mtx(path, size)
            self._entries = i, j - i // nodes * nodes, w
        i, j, w = self._entries  # by rows; columns are counted within a network
        if not (w >= 0).all() or not np.all(np.abs(np.bincount(i, w, size) - 1) <= 1e-9):
            raise ExportError(f"{self._name} has a weight below 0, or its rows do not add up to 1")
        if not ((0 <= j) & (j < nodes)).all():
            raise ExportError(f"{self._name} has a weight between two networks")

    def matrix(self) -> Any:
        """W as a float64 ndarray, or, where the export has W.mtx, as a scipy.sparse.csr_matrix (needs scipy)."""
        self._turn(0)
        if self._dense is not None:
            return self._dense
        i, j, w = self._entries
        return _csr(w, i, j + i // self._nodes * self._nodes, self._nodes * self._turns)

    def mix_all(self, stacked: Any, step: int | None) -> Any:
        """The models of all nodes, a row each, after a gossip step: see Plan.mix_all."""
        n, shape = self._nodes, tuple(getattr(stacked, "shape", ()))
        if shape[:1] != (n,) or "float" not in str(stacked.dtype):
            said = f"{shape} of {stacked.dtype}" if shape else type(stacked).__name__
            raise ExportError(f"stacked is {said}: it must be an array or a tensor of real numbers, a row for each of {n} nodes")
        if isinstance(stacked, Array):
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
            n, (i, j, w) = self._nodes, self._network(turn)
            if not isinstance(like, Array):
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
        rows, columns, w = self._network(step)
        mine = slice(*np.searchsorted(rows, [i, i + 1]))
        return dict(zip(columns[mine].tolist(), w[mine].tolist()))

    def column(self, i: int, step: int | None) -> list[int]:
        """The nodes that give node i a weight, in ascending order."""
        rows, columns, _ = self._network(step)
        return rows[columns == i].tolist()

    def _network(self, step: int | None) -> tuple[Array, Array, Array]:
        """The rows, columns and values of the entries of a step's network, by rows."""
        first, (i, j, w) = self._turn(step) * self._nodes, self._entries
        part = slice(*np.searchsorted(i, [first, first + self._nodes]))
        return i[part] - first, j[part], w[part]

    def _turn(self, step: int | None) -> int:
        if self._name is None:
            raise ExportError("the export has no W: it was made without a network, for random neighbours, or is too large")
        if step is None and self._turns == 1:
            return 0
        if step is None:
            raise ExportError("the networks of this export take turns: say step=…")
        if not is_whole(step, 0):
            raise StepError(f"there is no step {step!r}: steps are 0, 1, 2, …")
        return int(step) % self._turns


def read_mtx(path: str, size: int) -> tuple[Array, Array, Array]:
    """The rows, columns and values of the entries of a square MatrixMarket file of coordinates, by rows."""
    name = os.path.basename(path)
    with io.TextIOWrapper(_files.open_regular(path), encoding="ascii") as f:
        try:
            *kind, symmetry = f.readline(1000).lower().split()
            line = "%"
            while line.startswith("%"):
                line = f.readline(1000)
            places, w = np.split(np.loadtxt(f, comments=None, ndmin=2), [2], axis=1)
            with np.errstate(invalid="ignore"):
                i, j = places.T.astype(np.int64) - 1
        except ValueError as e:
            raise ExportError(f"{name}: {e}") from e
    w = w[:, 0]
    sound = kind == ["%%matrixmarket", "matrix", "coordinate", "real"] and symmetry in ("general", "symmetric")
    sound = sound and line.split() == [str(size), str(size), str(len(w))] and (places.T == (i + 1, j + 1)).all()
    if not sound or min(i.min(), j.min()) < 0 or max(i.max(), j.max()) >= size or not np.isfinite(w).all():
        raise ExportError(f"{name} is no MatrixMarket file of {size}×{size} real coordinates")
    if symmetry == "symmetric":
        mirrored = i != j
        i, j, w = np.append(i, j[mirrored]), np.append(j, i[mirrored]), np.append(w, w[mirrored])
    order = np.lexsort((j, i))
    i, j, w = i[order], j[order], w[order]
    if not np.diff(i * size + j).all():
        raise ExportError(f"{name} has an entry twice")
    return i, j, w


def _csr(w: Any, i: Any, j: Any, size: int) -> Any:
    try:
        from scipy.sparse import csr_matrix
    except ImportError as e:
        raise ImportError("W of this export is sparse: plan.W and plan.mix_all need scipy (plan.neighbours does not)") from e
    return csr_matrix((w, (i, j)), shape=(size, size))
