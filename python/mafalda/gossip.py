"""The gossip matrix W: row i has the weights with which node i averages its own model and those of its neighbours."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .errors import ExportError


class Gossip:
    """W of an export (n×n, rows that add up to 1), from W.npy or W.mtx, read when it is first asked for."""

    def __init__(self, directory: str, files: dict[str, str], nodes: int) -> None:
        self._directory, self._nodes = directory, nodes
        self._name = next((name for name in ("W.npy", "W.mtx") if name in files), None)
        self._dense: np.ndarray | None = None
        self._rows: dict[int, list[tuple[int, float]]] | None = None

    def matrix(self) -> Any:
        """W as a float64 ndarray, or, where the export has W.mtx, as a scipy.sparse.csr_matrix (needs scipy)."""
        if self._file().endswith(".npy"):
            return self._array()
        try:
            from scipy.sparse import csr_matrix
        except ImportError as e:
            raise ImportError("W of this export is sparse: plan.W needs scipy (plan.neighbours does not)") from e
        rows = self._entries()
        at = [(i, j, w) for i in rows for j, w in rows[i]]
        i, j, w = zip(*at)
        return csr_matrix((w, (i, j)), shape=(self._nodes, self._nodes))

    def row(self, i: int) -> dict[int, float]:
        """The weights of node i that are not 0, by index, its own among them."""
        if self._file().endswith(".npy"):
            row = self._array()[i]
            return {int(j): float(row[j]) for j in np.flatnonzero(row)}
        return dict(self._entries()[i])

    def _file(self) -> str:
        if self._name is None:
            raise ExportError("the export has no W: it is of an older version of mafalda, of networks that change, or has no network")
        return self._name

    def _array(self) -> np.ndarray:
        if self._dense is None:
            w = np.load(os.path.join(self._directory, "W.npy"), allow_pickle=False)
            if w.shape != (self._nodes, self._nodes) or w.dtype != np.float64:
                raise ExportError(f"W.npy is a {w.shape} array of {w.dtype}, for {self._nodes} nodes")
            self._check(w.sum(axis=1))
            w.flags.writeable = False
            self._dense = w
        return self._dense

    def _entries(self) -> dict[int, list[tuple[int, float]]]:
        if self._rows is None:
            self._rows = read_mtx(os.path.join(self._directory, "W.mtx"), self._nodes)
            self._check(np.array([sum(w for _, w in self._rows[i]) for i in range(self._nodes)]))
        return self._rows

    def _check(self, sums: np.ndarray) -> None:
        if not np.all(np.abs(sums - 1) <= 1e-9):
            raise ExportError(f"the rows of {self._name} do not add up to 1")


def read_mtx(path: str, nodes: int) -> dict[int, list[tuple[int, float]]]:
    """The entries of a square MatrixMarket file of coordinates, by row."""
    with open(path, encoding="ascii") as f:
        head = f.readline().lower().split()
        if head[:4] != ["%%matrixmarket", "matrix", "coordinate", "real"] or head[4:] not in (["general"], ["symmetric"]):
            raise ExportError(f"{os.path.basename(path)} starts with {' '.join(head)!r}")
        line = f.readline()
        while line.startswith("%"):
            line = f.readline()
        rows, columns, count = (int(word) for word in line.split())
        if rows != nodes or columns != nodes:
            raise ExportError(f"{os.path.basename(path)} is {rows}×{columns}, for {nodes} nodes")
        entries: dict[int, list[tuple[int, float]]] = {i: [] for i in range(nodes)}
        for _ in range(count):
            i, j, w = f.readline().split()
            entries[int(i) - 1].append((int(j) - 1, float(w)))
            if head[4] == "symmetric" and i != j:
                entries[int(j) - 1].append((int(i) - 1, float(w)))
    return entries
