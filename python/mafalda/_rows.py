"""Rows of noise for a seed, of any node and step, in any order, where the model is. Everybody can make them: they protect nothing.

Row t of a node's Z comes in chunks, each of a generator of its own whose state is the SHA-256 of seed, node, step and
chunk: every worker makes the same rows. Numbers are those of numpy on processors (with torch, too; other kinds of
processors may round the last bit otherwise), those of torch elsewhere (the same bits on devices of a kind), and those
of the program where bits must be its own.
"""

from __future__ import annotations

import hashlib
import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from numbers import Real
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import _filters
from .errors import StepError
from ._export import Export
from ._generator import CHUNK, normals, seeded_key, seeded_pair_key
from ._types import is_whole

KEPT = 1 << 32  # bytes of earlier rows that are kept; beyond, they are made again


class Program:
    """The numbers of the Go program, bit for bit."""

    chunk, size, stack = 64 * CHUNK, 8, staticmethod(np.stack)
    normals = staticmethod(normals)


class Host(threading.local):
    """The numbers of numpy, on processors: SFC64, whose state is the whole hash, and in float32 Box and Muller's."""

    chunk, stack = 1 << 15, staticmethod(np.stack)

    def __init__(self, double: bool) -> None:
        self.size = 8 if double else 4
        self._bits = np.random.SFC64(0)  # of a thread

    def normals(self, key: bytes, t: int, offset: int, length: int) -> np.ndarray:
        words = np.frombuffer(_hash(key, t, offset // self.chunk), dtype="<u8").astype(np.uint64)
        self._bits.state = {"bit_generator": "SFC64", "state": {"state": words}, "has_uint32": 0, "uinteger": 0}
        if self.size == 8:
            return np.random.Generator(self._bits).standard_normal(length)
        half = (length + 1) // 2
        z = self._bits.random_raw(half).view(np.uint32).astype(np.float32).reshape(2, half)
        radius = np.sqrt(-2 * np.log((z[0] + 0.5) * 2.0**-32))
        angle = z[1] * (math.pi * 2.0**-31)
        np.cos(angle, out=z[0])
        np.sin(angle, out=z[1])
        z *= radius
        return z.reshape(-1)[:length]


class Device:
    """The numbers of torch on a device, seeded with 64 bits of the hash."""

    chunk = 1 << 23

    def __init__(self, double: bool, device: Any) -> None:
        import torch

        dtype, self.size = (torch.float64, 8) if double else (torch.float32, 4)
        self._generator, self.stack = torch.Generator(device), torch.stack
        self._empty = partial(torch.empty, dtype=dtype, device=device)

    def normals(self, key: bytes, t: int, offset: int, length: int) -> Any:
        self._generator.manual_seed(int.from_bytes(_hash(key, t, offset // self.chunk)[:8], "little"))
        return self._empty(length).normal_(generator=self._generator)


def _hash(key: bytes, t: int, chunk: int) -> bytes:
    return hashlib.sha256(b"mafalda rows 2" + key + t.to_bytes(8, "little") + chunk.to_bytes(8, "little")).digest()


class Source:
    """Rows of a node's Z: its own, and those it shares, in ascending order of the neighbours' indices."""

    def __init__(self, plan: Export, node: str, seed: int) -> None:
        parts = [(plan.own_std(node), seeded_key(seed, node))]
        others = {plan.index(p.b if p.a == node else p.a): p.std for p in plan.pairs if node in (p.a, p.b)}
        for other, std in sorted(others.items()):
            sign = 1 if plan.index(node) < other else -1
            parts.append((sign * std, seeded_pair_key(seed, node, plan.nodes[other])))
        self._parts = [part for part in parts if part[0] != 0] or parts[:1]

    def row(self, numbers: Any, t: int, offset: int, length: int) -> Any:
        (weight, key), *shared = self._parts
        z = numbers.normals(key, t, offset, length)
        z = z if weight == 1 else weight * z
        for weight, key in shared:
            z = z + weight * numbers.normals(key, t, offset, length)
        return z


class _Columns:
    """Some columns of the rows of nodes that are alike, and what is kept of earlier rows."""

    def __init__(self, rows: Rows, nodes: Sequence[str], columns: range, keep: bool) -> None:
        self._rows, self._columns, self.keep = rows, columns, keep
        self._sources = [rows.source(node) for node in nodes]
        self._strategy = rows.plan.manifest["strategy"]
        self._inverse = rows.plan.inverse(nodes[0]) if _filters.is_dense(self._strategy) else None
        self._past: dict[int, Any] = {}  # rows of Z of a dense strategy
        self._place: tuple[int, Any] | None = None

    def row(self, t: int) -> Any:
        if self._inverse is not None:
            *weights, last = self._inverse[t, : t + 1].tolist()
            row = last * self._drawn(t)
            for s, weight in enumerate(weights):
                _filters.add(row, weight, self._drawn(s))
            return row
        first = _filters.first(self._strategy, t)
        place, self._place = self._place, None  # after an interruption it starts anew
        if place is None or not first <= place[0] <= t:
            place = first, _filters.start(self._strategy, self._rows.steps)
        for s in range(place[0], t + 1):
            row = place[1].send(self._z(s))
        if self.keep:
            self._place = t + 1, place[1]
        return row

    def _drawn(self, t: int) -> Any:
        """Row t of Z, which is kept if there is room."""
        z = self._past.get(t)
        if z is None:
            z = self._z(t)
            if self._rows.booked(len(self._sources) * len(self._columns)):
                self._past[t] = z
        return z

    def _z(self, t: int) -> Any:
        numbers, columns = self._rows.numbers, self._columns
        rows = [source.row(numbers, t, columns.start, len(columns)) for source in self._sources]
        return numbers.stack(rows) if len(rows) > 1 else rows[0][None]


class Rows:
    """Rows of C⁻¹Z times noise_std, of nodes by their labels, from one kind of numbers."""

    def __init__(
        self,
        plan: Export,
        dim: int,
        seed: int,
        numbers: Any,
        std: Callable[[str], float],
        memory: int | None = None,
        threads: int | None = None,
    ) -> None:
        if not is_whole(seed, 0, 1 << 64):
            raise ValueError(f"a seed is a number from 0 to 2^64-1, not {seed!r}")
        for name, value, least in (("memory", memory, 0), ("threads", threads, 1)):
            if isinstance(value, bool) or value is not None and not (isinstance(value, Real) and value >= least):
                raise ValueError(f"{name} is a number, at least {least}, not {value!r}")
        self.plan, self.dim, self.steps, self.seed = plan, dim, plan.steps, int(seed)
        self.numbers, self._std = numbers, std
        self.room = KEPT if memory is None else memory
        self._threads = threads or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))
        self._kept: dict[Any, _Columns] = {}
        self._sources: dict[str, Source] = {}
        self._lock, self._booking = threading.Lock(), threading.Lock()

    def source(self, node: str) -> Source:
        if node not in self._sources:
            self._sources[node] = Source(self.plan, node, self.seed)
        return self._sources[node]

    def put(self, nodes: Sequence[str], t: int, out: Any, cast: Callable[[Any], Any] = lambda x: x) -> None:
        """Puts the rows of nodes into an array of one row a node."""
        if not is_whole(t, 0, self.steps):
            raise StepError(f"there is no row {t!r}: rows are of steps 0 to {self.steps - 1}")

        def make(part: tuple[_Columns, range, range, float]) -> None:
            made, mine, columns, std = part
            row, place = made.row(int(t)), out[mine.start : mine.stop, columns.start : columns.stop]
            if isinstance(place, np.ndarray):
                np.multiply(row, std, out=place, casting="same_kind")
            else:
                place.copy_(cast(row * std))

        with self._lock:
            parts = [(self._columns([nodes[i] for i in mine], columns), mine, columns, std) for mine, columns, std in self._parts(nodes)]
            alone = self._threads == 1 or len(parts) == 1 or isinstance(self.numbers, Device)
            with ThreadPoolExecutor(self._threads) as pool:
                list((map if alone else pool.map)(make, parts))

    def _parts(self, nodes: Sequence[str]) -> Iterator[tuple[range, range, float]]:
        """Nodes and columns that are made together: of one C and one level, as many as come in a chunk."""
        layers, chunk = self.plan.manifest.get("per_node", {}).get("layers"), self.numbers.chunk
        alike = groupby(range(len(nodes)), lambda i: (layers and layers[self.plan.index(nodes[i])], self._std(nodes[i])))
        many = max(1, chunk // self.dim)
        for (_, std), group in alike:
            mine = list(group)
            for i in range(mine[0], mine[-1] + 1, many):
                for offset in range(0, self.dim, chunk):
                    yield range(i, min(i + many, mine[-1] + 1)), range(offset, min(offset + chunk, self.dim)), std

    def _columns(self, nodes: Sequence[str], columns: range) -> _Columns:
        """What makes a part; it is kept while there is room."""
        key = (*nodes, columns.start)
        made = self._kept.get(key)
        if made is None:
            strategy = self.plan.manifest["strategy"]
            rows = 0 if _filters.is_dense(strategy) else _filters.kept(strategy, self.steps)
            made = _Columns(self, nodes, columns, keep=self.booked(rows * len(nodes) * len(columns)))
            if made.keep:
                self._kept[key] = made
        return made

    def booked(self, numbers: int) -> bool:
        """Whether there is room to keep some numbers, which is theirs then."""
        room = numbers * self.numbers.size
        with self._booking:
            fits = room <= self.room
            self.room -= fits * room
        return fits
