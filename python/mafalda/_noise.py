"""The noise of a node, a row a step: what real and simulated noise have in common."""

from __future__ import annotations

import hashlib
import re
import threading
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Iterator

import numpy as np

from .errors import BudgetError, StepError
from ._export import Export
from ._process import Held, Owner
from ._types import Array, Json

BLOCK = 1 << 20  # numbers, where a row is taken in blocks


@dataclass(frozen=True)
class Place:
    """Where a node's noise is.

    next      the step whose row comes next
    issued    the step whose row may be had again, byte for byte; None before the first
    sending   the SHA-256 (hexadecimal) of the message of step `issued` that the node said it would send; None without
    unsent    steps whose rows the next row carries
    """

    next: int
    issued: int | None
    sending: str | None
    unsent: tuple[int, ...]


class Noise(Held, ABC):
    """Rows of C⁻¹Z times noise_std, for the sum of clipped gradients; row t is for step t and for no other.

    Attributes: plan, node, dim (d, numbers of a row), steps (T), end (the step whose row would pass the node's own budget; T
    if none would), std (of Z), private (False for simulated noise).
    Usable in a with statement, which closes it. Threads take turns: each row() and each step of an iteration is another row.
    Other processes, as after a fork, are refused with a ProcessError.
    """

    private: bool

    def __init__(self, plan: Export, node: str, dim: int, std: float) -> None:
        self._owner = Owner(f"the noise of {node!r}")
        self._lock = threading.RLock()
        self.plan, self.node, self.dim, self.steps, self.std = plan, node, dim, plan.steps, std
        self.end = plan.steps

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """A thread's turn, in the process that opened the noise."""
        self._owner.check()
        with self._lock:
            yield

    @property
    @abstractmethod
    def place(self) -> Place:
        """Where the noise is; kept in the state of real noise, over restarts."""

    @property
    def next(self) -> int:
        """The step whose row comes next; T if none is left."""
        return self.place.next

    @property
    def spent(self) -> Json | None:
        """What the rows that may have been sent have given away: steps, mu, epsilon, delta, and by which proof.

        A row that was drawn and skipped counts when a later one carries it. None where noise is simulated, and without a
        privacy level. For a run whose end does not depend on the records: see docs/noise.md.
        """
        return None

    def next_step(self) -> int:
        """The step whose row comes next; a StepError if all are done, a BudgetError if its row would pass the node's budget."""
        step = self.next
        if self.end <= step < self.steps:
            raise BudgetError(f"row {step} would pass the budget of {self.node!r}: its run ends before step {self.end}")
        if step >= self.steps:
            raise StepError(f"all {self.steps} steps are done: the training is finished, and more would need another export")
        return step

    def row(self, step: int | None = None, dtype: Any = np.float64) -> Array:
        """Row of a step, d numbers of dtype (float64 or float32); None is the step whose row comes next.

        The step that came last may be asked for again, and gives the same bytes. All others raise a StepError.
        """
        with self._turn():
            at = self.next_step() if step is None else step
            row = np.empty(self.dim, dtype=dtype)
            for offset, part in self.blocks(at, dtype=dtype):
                row[offset : offset + part.size] = part
            return row

    @abstractmethod
    def blocks(
        self, step: int, size: int = BLOCK, dtype: Any = np.float64, offset: int = 0, length: int | None = None
    ) -> Iterator[tuple[int, Array]]:
        """The same row, or a part of it, in blocks of at most size numbers, each with its offset in the row."""

    @abstractmethod
    def skip(self, step: int | None = None) -> None:
        """Step (default: the next) was missed: certainly no byte of its message ever left, for a reason other than the data.

        Its row is carried by the next one, which costs next to no accuracy; step is refused from then on.
        """

    @abstractmethod
    def sending(self, step: int, message: Any) -> str:
        """Note, before it leaves, what message (bytes or an array) is sent in a step whose row came; returns its SHA-256.

        A second, other message in the same step is refused with a StepError: a row protects one gradient.
        """

    def skip_to(self, step: int) -> list[int]:
        """Skip all steps before this one; returns them. What a node does that was away."""
        with self._turn():
            if not step <= self.steps:
                raise StepError(f"step {step} is beyond the last: the export has {self.steps} steps, from 0 on")
            missed = list(range(self.next, step))
            for t in missed:
                self.skip(t)
            return missed

    def recover(self) -> int | None:
        """Carries, after a crash, a row whose message was not declared, for nodes that declare every message (sending) before it leaves.

        Returns the step that was skipped by this, None if there was nothing to recover.
        """
        with self._turn():
            place = self.resume()
            if place.issued is None or place.sending is not None:
                return None
            self.skip(place.issued)
            return place.issued

    def resume(self) -> Place:
        """Where a node that comes back is: see place, and docs/nodes.md for what to do then."""
        return self.place

    def close(self) -> None:
        """Ends the server, if there is one. The place is kept."""

    def __iter__(self) -> Iterator[tuple[int, Array]]:
        """Steps and their rows, from the next on."""
        while True:
            with self._turn():
                step = self.next
                if step >= self.steps:
                    return
                row = self.row(step)
            yield step, row

    def __repr__(self) -> str:
        ends = f", its budget ends before step {self.end}" if self.end < self.steps else ""
        kind = "real" if self.private else "simulated: it protects nothing"
        return f"<Noise of {self.node!r}: row {self.next} of {self.steps} is next{ends}; {self.dim} numbers a row, std {self.std:.6g}, {kind}>"


def digest(message: Any) -> str:
    """The SHA-256 of a message: bytes, an array, or such a digest itself (64 hexadecimal digits)."""
    if isinstance(message, str):
        if not re.fullmatch("[0-9a-f]{64}", message):
            raise ValueError("a digest has 64 hexadecimal digits in lower case")
        return message
    if isinstance(message, Array):
        message = np.ascontiguousarray(message).data.cast("B") if message.size else b""
    return hashlib.sha256(message).hexdigest()


def check_part(step: int, dim: int, offset: int, length: int | None) -> int:
    """The length of a part of a row, checked."""
    length = dim - offset if length is None else length
    if not (0 <= offset and 1 <= length and offset + length <= dim):
        raise StepError(
            f"numbers {offset} to {offset + length - 1} of row {step}, which has {dim}: has the model changed its size?"
        )
    return length
