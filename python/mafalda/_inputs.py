"""What Python has instead of files: graphs, matrices, patterns and labels, written for the program as it reads them."""

from __future__ import annotations

import csv
import io
import math
import os
from typing import Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from .errors import MafaldaError
from ._export import Export
from ._temporary import Folder
from ._types import Array


class Inputs:
    """Turns values into words of a command line; what must be a file is written to a folder."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def words(self, command: str, given: Mapping[str, Any]) -> list[str]:
        """The flags of keywords that are given, by the names of the program's flags."""
        words = []
        for name, value in given.items():
            if value is None:
                continue
            if name == "graph":
                graphs = _graphs(value)
                refuses_matrices = "several networks are graphs" if len(graphs) > 1 or command == "benchmark" else ""
                for found in (self.network(one, refuses_matrices) for one in graphs):
                    known = command in ("verify", "plot", "report")  # these know the direction
                    words += [word.replace("=directed:", "=", 1) for word in found] if known else found
            elif isinstance(value, Mapping) and name not in _WRITERS:
                words += [f"--{name}={self._part(name, str(key).replace('_', '-'), of)}" for key, of in value.items() if of is not None]
            else:
                words += [f"--{name}={self._value(name, value)}"]
        return words

    def _part(self, name: str, key: str, value: Any) -> str:
        """A part of a flag whose value has several, or, under the name of the flag itself, what they are of."""
        return self._value(name, value) if key == name else f"{key}={self._value(key, value)}"

    def _value(self, name: str, value: Any) -> str:
        if name == "gossip" and not _is_path(value):
            return self._matrix(value)
        if name == "data" and isinstance(value, Array):
            return self._array("data.npy", value)
        if name in _WRITERS and not _is_path(value) and not (name == "coalitions" and isinstance(value, int)):
            return self._write(name, _WRITERS[name](value))
        return text(name, value)

    def network(self, value: Any, refuses_matrices: str = "") -> list[str]:
        """The flags of a graph: a path, the name of a built-in one, a networkx graph, or a gossip matrix."""
        if _is_path(value):
            return [f"--graph={os.fspath(value)}"]
        if hasattr(value, "nodes") and hasattr(value, "edges") and hasattr(value, "is_directed"):
            path = self._write("graph.edges", edge_list(value))
            return [f"--graph={'directed:' if value.is_directed() else ''}{path}"]
        if hasattr(value, "shape") and not refuses_matrices:
            return [f"--gossip={self._matrix(value)}"]
        if isinstance(value, (list, tuple)):
            return [f"--graph={self._write('graph.edges', _listed(value))}"]
        raise MafaldaError(
            f"a graph is a path, the name of a built-in graph, a list of edges or a networkx graph, not a {type(value).__name__}"
            + (f": {refuses_matrices}" if refuses_matrices else ", or a gossip matrix W (numpy, scipy.sparse)")
        )

    def _matrix(self, value: Any) -> str:
        if _is_path(value):
            return os.fspath(value)
        w = value.tocoo() if hasattr(value, "tocoo") else _numbers(value)
        if w.ndim != 2 or w.shape[0] != w.shape[1]:
            raise MafaldaError(f"a gossip matrix is square, not {w.shape}")
        _check_rows(np.asarray(w.sum(axis=1)).ravel())
        return self._array("W.npy", w) if isinstance(w, Array) else self._write("W.mtx", matrix_market(w))

    def _array(self, name: str, value: Array) -> str:
        path = self._folder.join(name)
        np.save(path, np.ascontiguousarray(_numbers(value)))
        return path

    def _write(self, name: str, content: str) -> str:
        stem, dot, end = name.partition(".")
        path, count = self._folder.join(name), 1
        while os.path.exists(path):
            count += 1
            path = self._folder.join(f"{stem}{count}{dot}{end}")
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as f:
            f.write(content)
        return path


def plain(given: Mapping[str, Any]) -> list[str]:
    """The flags of values that need no file: those that are not None."""
    return [f"--{name}={text(name, value)}" for name, value in given.items() if value is not None]


def text(name: str, value: Any) -> str:
    """A value as the program reads it on its command line; a MafaldaError if there is no such form."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Export):
        return value.directory
    if isinstance(value, (Sequence, Array)) and len(value):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow([text(name, one) for one in value])
        return line.getvalue()
    raise MafaldaError(f"{name.replace('-', '_')}={value!r:.60}: a {type(value).__name__} is no value of it")


def _graphs(value: Any) -> Sequence[Any]:
    """Several graphs, or one: a list whose entries are edges is a graph."""
    edges = (isinstance(e, (list, tuple)) and not any(isinstance(x, (list, tuple)) for x in e) for e in value) if isinstance(value, (list, tuple)) else [True]
    return [value] if all(edges) else value


def edge_list(graph: Any) -> str:
    """A networkx graph as an edge list. Weights are written where edges have the attribute "weight"; labels are kept."""
    if graph.is_multigraph():
        raise MafaldaError("the graph has parallel edges: give nx.Graph(g) or nx.DiGraph(g)")
    return _lines_of(graph.nodes, ((u, v, data.get("weight")) for u, v, data in graph.edges(data=True)))


def _listed(edges: Sequence[Any]) -> str:
    """A list of edges (u, v) or (u, v, weight) as an edge list."""
    for edge in edges:
        if not isinstance(edge, (list, tuple)) or len(edge) not in (2, 3) or any(isinstance(x, float) for x in edge[:2]):
            raise MafaldaError(f"an edge is (u, v) or (u, v, weight), not {edge!r:.60}. Is this a matrix? Then give numpy.array(W)")
    return _lines_of([node for edge in edges for node in edge[:2]], [(*edge, None)[:3] for edge in edges])


def _lines_of(nodes: Iterable[Any], found: Iterable[Any]) -> str:
    labels = {node: str(node) for node in nodes}
    if len(set(labels.values())) != len(labels):
        raise MafaldaError("two nodes of the graph have the same label, as text: use nx.relabel_nodes")
    for label in labels.values():
        if not label or label != label.strip() or "," in label or label[0] in "#%" or any(c in label for c in "\t\r\n"):
            raise MafaldaError(
                f"the label {label!r} cannot be in an edge list (commas, tabs, # or % in front, spaces at the ends): use "
                "nx.relabel_nodes"
            )
    separator = "," if any(c.isspace() or c == ";" for label in labels.values() for c in label) else "\t"
    edges = [(labels[u], labels[v], _weight(labels[u], labels[v], weight)) for u, v, weight in found]
    weighted = any(weight is not None for _, _, weight in edges)
    if weighted and any(weight is None for _, _, weight in edges):
        raise MafaldaError("some edges of the graph have a weight and some have none: give all of them one, or none")
    touched = {label for u, v, _ in edges for label in (u, v)}
    edges += [(label, label, 1.0) for label in labels.values() if label not in touched]  # nodes without edges
    lines = [separator.join([u, v] + ([repr(weight)] if weighted else [])) for u, v, weight in edges]
    return "# of networkx\n" + "".join(line + "\n" for line in lines)


def _weight(u: str, v: str, weight: Any) -> float | None:
    try:
        return None if weight is None else float(weight)
    except (TypeError, ValueError):
        raise MafaldaError(f"the edge from {u!r} to {v!r} has the weight {weight!r:.40}, which is no number") from None


def _numbers(value: Any) -> Array:
    """An array of real numbers as float64."""
    found = np.asarray(value)
    if found.dtype.kind not in "biuf":
        raise MafaldaError(f"an array of real numbers is needed, not of {found.dtype}")
    return found.astype(np.float64)


def matrix_market(matrix: Any) -> str:
    """A sparse matrix in MatrixMarket's format, with every bit of its numbers."""
    w = matrix.tocsr().tocoo()  # what is there twice adds up
    lines = [f"{i + 1} {j + 1} {float(value)!r}" for i, j, value in zip(w.row, w.col, w.data) if value]
    return "\n".join(["%%MatrixMarket matrix coordinate real general", f"{w.shape[0]} {w.shape[1]} {len(lines)}", *lines, ""])


def _check_rows(sums: Array) -> None:
    worst = sums[np.argmax(np.abs(np.nan_to_num(sums, nan=math.inf) - 1))] if len(sums) else 1
    if not abs(worst - 1) <= 1e-9:
        if abs(worst - 1) < 1e-3:
            raise MafaldaError(
                f"the rows of W sum to 1, and one is off by {worst - 1:.1e}: is it in single precision, or rounded? Then make it "
                "float64, and divide every row by its sum"
            )
        raise MafaldaError(
            f"the rows of W sum to 1, and one sums to {worst:.6g}: is this an adjacency matrix? Then give nx.from_numpy_array(A)"
        )


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _lines(rows: Iterable[Iterable[Any]], between: str) -> str:
    return "".join(between.join(str(one) for one in row) + "\n" for row in rows)


def _of_nodes(value: Any) -> str:
    """Lines "label something", for every node of a mapping."""
    if not isinstance(value, Mapping):
        raise MafaldaError(f"what nodes have is a path, or a mapping of their labels, not a {type(value).__name__}")
    for label in value:
        if any(c in str(label) for c in " \t\r\n,;"):
            raise MafaldaError(f"the label {str(label)!r} cannot be in such a file (spaces, commas): use nx.relabel_nodes")
    return _lines(((label, repr(float(x)) if isinstance(x, (float, np.floating)) else x) for label, x in value.items()), " ")


def _spectrum(value: Any) -> str:
    rows = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if rows.ndim == 1:
        rows = np.stack([rows, np.ones(len(rows))], axis=1)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise MafaldaError(f"a curvature is a number, a list of them, or rows (x, directions), not of the shape {rows.shape}")
    return "".join(f"{float(x)!r},{float(n)!r}\n" for x, n in rows)


_WRITERS: dict[str, Callable[[Any], str]] = {
    "curvature": _spectrum,
    "schema": lambda value: _lines((map(int, pattern) for pattern in value), " "),
    "learning-rates": lambda value: "".join(f"{float(rate)!r}\n" for rate in value),
    "coalitions": lambda value: "".join(text("coalitions", list(one)) + "\n" for one in value),
    "secrets": lambda value: _lines(value, ","),
    "sequence": lambda value: "\n".join(map(edge_list, value)),
    "values": _of_nodes,
    "chosen": _of_nodes,
}
