"""How batches are made, in the numbers of participation in Go (docs/sampling-samplers.md)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from ._generator import label_bytes, uniform_bits
from ._types import Array, Json

FOR_GROUPS, FOR_POISSON, FOR_BINS, FOR_ALLOCATED_GROUPS, FOR_ALLOCATION = 0, 1, 2, 5, 6  # purposes of random numbers


def seeded_key(seed: int, node: str) -> bytes:
    """The key of a simulation, which everybody can make."""
    return hashlib.sha256(b"mafalda sampling seed 1" + seed.to_bytes(8, "little") + label_bytes(node)).digest()


class Batches(Protocol):
    """Who takes part in a step: always the same answer."""

    records: int
    expected: float

    def of(self, step: int) -> Array:
        """Numbers of records, ascending, int64."""


class Turns:
    """Record i is in batch i mod b, and step t uses batch t mod b.

    Where a run is longer than k·b, records also have a window of k turns, (i div b) mod windows, out of which they rest.
    """

    def __init__(self, records: int, b: int, k: int, windows: int) -> None:
        self.batches = b * windows
        self.records, self.expected = records, records / self.batches
        self._b, self._k, self._windows = b, k, windows

    def of(self, step: int) -> Array:
        window = step // self._b // self._k if self._windows > 1 else 0
        return np.arange(step % self._b + self._b * window, self.records, self.batches)


class Patterns:
    """Record i takes part in the steps of pattern i mod P."""

    def __init__(self, records: int, patterns: list[list[int]], steps: int) -> None:
        self.records, self._patterns = records, [frozenset(p) for p in patterns]
        self.expected = sum(len(p) for p in patterns) / len(patterns) * records / steps

    def of(self, step: int) -> Array:
        takes = np.array([step in p for p in self._patterns])
        return np.flatnonzero(takes[np.arange(self.records) % len(takes)])


class Poisson:
    """Every record in one of w groups; step t takes each record of group t mod w with probability q."""

    def __init__(self, records: int, groups: int, probability: float, key: bytes) -> None:
        self.records, self.expected, self._groups, self._key = records, records / groups * probability, groups, key
        self._threshold = int(math.ldexp(probability, 64))  # rounded down: never above q
        self._of = assign(key, FOR_GROUPS, records, groups)

    def of(self, step: int) -> Array:
        mine = self._of == step % self._groups
        if self._threshold < 1 << 64:
            mine &= uniform_bits(self._key, FOR_POISSON, step, self.records) < np.uint64(self._threshold)
        return np.flatnonzero(mine)


class Truncated(Poisson):
    """Poisson's batches, cut to `most` records: those with the largest random numbers are dropped."""

    def __init__(self, records: int, groups: int, probability: float, most: int, key: bytes) -> None:
        super().__init__(records, groups, probability, key)
        self.most = most

    def of(self, step: int) -> Array:
        drawn = super().of(step)
        if drawn.size <= self.most:
            return drawn
        numbers = uniform_bits(self._key, FOR_POISSON, step, self.records)[drawn]
        return np.sort(drawn[np.argsort(numbers, kind="stable")[: self.most]])


class Bins:
    """Every record in one of b bins; step t takes all of bin t mod b."""

    def __init__(self, records: int, bins: int, key: bytes) -> None:
        self.records, self.expected, self._bins = records, records / bins, bins
        self._of = assign(key, FOR_BINS, records, bins)

    def of(self, step: int) -> Array:
        return np.flatnonzero(self._of == step % self._bins)


class Allocation:
    """Every record in one of w groups, and in one step, drawn at random, of each of the k blocks of its group's steps."""

    def __init__(self, records: int, groups: int, participations: int, steps: int, key: bytes) -> None:
        self.records, self.expected = records, records * participations / steps
        self._groups, self._k, self._steps, self._key = groups, participations, steps, key
        self._of = assign(key, FOR_ALLOCATED_GROUPS, records, groups)

    def block(self, step: int) -> tuple[int, int, int]:
        """Which block of its group a step is in, the place in it, and the number of the group's steps in it."""
        n, at = (self._steps - step % self._groups - 1) // self._groups + 1, step // self._groups
        block = ((at + 1) * self._k - 1) // n
        first = block * n // self._k
        return block, at - first, (block + 1) * n // self._k - first

    def of(self, step: int) -> Array:
        block, place, size = self.block(step)
        chosen = assign(self._key, FOR_ALLOCATION, self.records, size, block, self._k)
        return np.flatnonzero((self._of == step % self._groups) & (chosen == place))


# Who draws a scheme's batches, from the block sampling of a manifest.
SCHEMES: dict[str, Callable[[int, Json, int, bytes], Batches]] = {
    "poisson": lambda n, s, steps, key: Poisson(n, s["groups"], s["probability"], key),
    "bins": lambda n, s, steps, key: Bins(n, s["groups"], key),
    "allocation": lambda n, s, steps, key: Allocation(n, s["groups"], s["rounds"], steps, key),
    "truncated": lambda n, s, steps, key: Truncated(n, s["groups"], s["probability"], s["max_batch"], key),
}
ROUNDS_OF_K = ("bins", "allocation")  # a record takes part in k rounds, not in as many as its group has steps


def assign(key: bytes, purpose: int, records: int, m: int, first: int = 0, apart: int = 1) -> Array:
    """One of 0, …, m-1 for every record, independently and exactly uniformly: by rejection, int64.

    Attempts take the numbers of the rounds first, first + apart, …
    """
    of = np.full(records, -1, dtype=np.int64)
    attempt, left = first, np.arange(records)
    whole = np.uint64((1 << 64) // m * m - 1)  # numbers up to here are taken
    while left.size:
        numbers = uniform_bits(key, purpose, attempt, int(left[-1]) + 1)[left]
        ok = numbers <= whole
        of[left[ok]] = (numbers[ok] % np.uint64(m)).astype(np.int64)
        attempt, left = attempt + apart, left[~ok]
    return of
