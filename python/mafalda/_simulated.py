"""Simulated noise: the program's rows for a seed, bit for bit, with numpy. Everybody can make them: they protect nothing."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from . import _filters
from .errors import StepError
from ._export import Export
from ._generator import CHUNK, normals, seeded_key, seeded_pair_key
from ._noise import BLOCK, Noise, Place, check_part, digest

PART = 64 * CHUNK  # coordinates that are made at a time
KEPT = 1 << 26  # numbers of earlier rows of a dense strategy that are kept; beyond, they are made again


class SimulatedNoise(Noise):
    """See Plan.noise. The place is kept in memory only: start again from the seed, and skip or draw up to where you were."""

    private = False

    def __init__(self, plan: Export, node: str, dim: int, std: float, seed: int) -> None:
        super().__init__(plan, node, dim, std)
        if isinstance(seed, bool) or not 0 <= seed < 1 << 64:
            raise ValueError(f"a seed is a number from 0 to 2^64-1, not {seed!r}")
        self._z = _Source(plan, node, seed)
        strategy = plan.manifest["strategy"]
        dense = _filters.is_dense(strategy)
        self._inverse = plan.inverse(node) if dense else None
        self._again = dense and dim * plan.steps > KEPT
        starts = range(0, dim, PART)
        self._filters = [] if self._again else [_filters.start(strategy, plan.steps, self._inverse) for _ in starts]
        self._next = 0
        self._row: np.ndarray | None = None
        self._carry: np.ndarray | None = None
        self._sending: str | None = None
        self._unsent: tuple[int, ...] = ()

    @property
    def place(self) -> Place:
        return Place(self._next, None if self._row is None else self._next - 1, self._sending, self._unsent)

    def blocks(
        self, step: int, size: int = BLOCK, dtype: Any = np.float64, offset: int = 0, length: int | None = None
    ) -> Iterator[tuple[int, np.ndarray]]:
        length = check_part(step, self.dim, offset, length)
        with self._turn():
            if step != self.place.issued:
                self._issue(step)
            end, row = offset + length, self._row
        for at in range(offset, end, size):
            self._owner.check()
            yield at, row[at : min(at + size, end)].astype(dtype)

    def skip(self, step: int | None = None) -> None:
        with self._turn():
            self._skip(self._next if step is None else step)

    def _skip(self, step: int) -> None:
        if self._unsent and self._row is None and step == self._unsent[-1]:
            return
        if step == self._next:
            self._issue(step)
        elif step != self.place.issued:
            raise StepError(f"step {step} cannot be skipped: row {self._next} is next")
        elif self._sending is not None:
            raise StepError(f"step {step} cannot be skipped: its message was declared as sent")
        self._carry, self._row, self._unsent = self._row, None, self._carried + (step,)

    def sending(self, step: int, message: Any) -> str:
        said = digest(message)
        with self._turn():
            if step != self.place.issued:
                raise StepError(f"nothing can be sent in step {step}: row {self._next} is next")
            if self._sending not in (None, said):
                raise StepError(f"another message was declared for step {step}: a row protects one gradient")
            self._sending = said
            return said

    def _issue(self, step: int) -> None:
        """Draw a row, with what it carries."""
        if step != self._next:
            raise StepError(f"row {step} was asked for, row {self._next} is next")
        if step >= self.steps:
            raise StepError(f"there are {self.steps} steps, and no row {step}")
        row = np.concatenate([self._part(i, step) for i in range((self.dim + PART - 1) // PART)])
        row *= self.std
        if self._carry is not None:
            row += self._carry
        self._carried, self._unsent, self._carry = self._unsent, (), None
        self._row, self._sending, self._next = row, None, step + 1

    _carried: tuple[int, ...] = ()

    def _part(self, i: int, t: int) -> np.ndarray:
        offset = i * PART
        length = min(PART, self.dim - offset)
        if not self._again:
            return self._filters[i].send(self._z.row(t, offset, length))
        row = self._inverse[t, t] * self._z.row(t, offset, length)
        for s in range(t):
            if self._inverse[t, s] != 0:
                row = row + self._inverse[t, s] * self._z.row(s, offset, length)
        return row


class _Source:
    """Rows of a node's Z: its own, and those it shares, in ascending order of the neighbours' indices."""

    def __init__(self, plan: Export, node: str, seed: int) -> None:
        self._key, self._own = seeded_key(seed, node), 1.0
        self._shared: list[tuple[float, bytes]] = []
        if "space" not in plan.manifest:
            return
        self._own, me = plan.own_std(node), plan.index(node)
        others = {plan.index(p.b if p.a == node else p.a): p.std for p in plan.pairs if node in (p.a, p.b)}
        for other, std in sorted(others.items()):
            weight = std if me < other else -std
            self._shared.append((weight, seeded_pair_key(seed, node, plan.nodes[other])))

    def row(self, t: int, offset: int, length: int) -> np.ndarray:
        if not self._shared and self._own == 1:
            return normals(self._key, t, offset, length)
        z = np.zeros(length)
        if self._own > 0:
            z = self._own * normals(self._key, t, offset, length)
        for weight, key in self._shared:
            z = z + weight * normals(key, t, offset, length)
        return z
