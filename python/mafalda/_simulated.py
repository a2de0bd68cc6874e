"""Simulated noise: rows for a seed, which everybody can make. They protect nothing."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np

from . import _filters
from .errors import MafaldaError, StepError
from ._export import Export
from ._mix import parameters_of
from ._noise import BLOCK, Noise, Place, check_part, digest
from ._rows import Device, Host, Program, Rows
from ._types import is_whole

KEPT = 1 << 29  # bytes of earlier rows of a dense strategy that a node keeps; beyond, they are made again
TYPES = ("float64", "float32", "float16", "bfloat16")


class SimulatedRows(Rows):
    """See Plan.simulated.

    Attributes: plan, nodes, dim, steps, seed, dtype, device (None with numpy), private (False).
    """

    private = False

    def __init__(
        self, plan: Export, like: Any, seed: int, std: Callable[[str], float], device: Any, dtype: Any, **bounds: Any
    ) -> None:
        dim, self.device, self.dtype = _target(like, device, dtype)
        double = self.dtype == "float64"
        host = self.device is None or self.device.type == "cpu"
        super().__init__(plan, dim, seed, Host(double) if host else Device(double, self.device), std, **bounds)
        self.nodes = plan.nodes or [""]

    def row(self, node: str | None, step: int) -> Any:
        """The row of a node and a step, dim numbers."""
        return self._made([self.plan.check_node(node)], step)[0]

    def rows(self, step: int) -> Any:
        """The rows of all nodes in a step, n×dim, in the order of plan.nodes."""
        return self._made(self.plan.nodes or [self.plan.check_node(None)], step)

    def _made(self, nodes: list[str], step: int) -> Any:
        shape = len(nodes), self.dim
        if self.device is None:
            out = np.empty(shape, self.dtype)
            self.put(nodes, step, out)
            return out
        import torch

        out = torch.empty(shape, dtype=getattr(torch, self.dtype), device=self.device)
        if isinstance(self.numbers, Host):
            self.put(nodes, step, *((out, torch.from_numpy) if self.dtype == "bfloat16" else (out.numpy(),)))
        else:
            self.put(nodes, step, out)
        return out

    def __reduce__(self) -> Any:
        raise MafaldaError("rows are not copied: load the plan there, and the same seed gives the same rows")

    def __repr__(self) -> str:
        return (
            f"<SimulatedRows of {len(self.nodes)} nodes: {self.steps} steps, {self.dim} numbers a row, {self.dtype} of "
            f"{self.device or 'numpy'}, simulated: it protects nothing>"
        )


def _target(like: Any, device: Any, dtype: Any) -> tuple[int, Any, str]:
    """How many numbers a row has, its device (None: numpy), and the name of its dtype."""
    counted = is_whole(like, 0)
    try:
        tensors = [] if counted else [like] if hasattr(like, "shape") else parameters_of(like)
    except TypeError:  # nothing to iterate over
        tensors = []
    if any(not hasattr(x, "shape") for x in tensors):
        raise ValueError(f"like is a {type(like).__name__}: give a module, a tensor, a list of them (of a state dict, its values), or their number")
    dim = like if counted else sum(int(np.prod(x.shape)) for x in tensors)
    if dim < 1:
        raise ValueError(f"like is the parameters of a model, or their number, at least 1, not {like!r}")
    found = {_name(x.dtype) for x in tensors} or {"float32"} if dtype is None else {_name(dtype)}
    if len(found) > 1:
        raise MafaldaError(f"the parameters are of {' and '.join(sorted(found))}, and rows of one dtype: say dtype=…")
    plain = device is None and all(isinstance(x, np.ndarray) for x in tensors) and not str(dtype).startswith("torch")
    name = found.pop()
    if name not in TYPES[: 3 if plain else 4]:
        raise ValueError(f"dtype={name}: float64, float32, float16, and with torch bfloat16")
    return dim, None if plain else _device(tensors, device), name


def _name(dtype: Any) -> str:
    name = str(dtype).replace("torch.", "")
    try:
        return np.dtype(name if name != str(dtype) else dtype).name
    except (TypeError, ValueError):  # bfloat16, and what is refused
        return name


def _device(tensors: list[Any], device: Any) -> Any:
    try:
        import torch
    except ImportError:
        raise MafaldaError("rows on a device need torch, which is not installed: leave device out, for numpy") from None
    devices = {str(x.device) for x in tensors} or {"cpu"} if device is None else {device}
    if len(devices) > 1:
        raise MafaldaError(f"the parameters are on {' and '.join(sorted(devices))}, and rows on one device: say device=…")
    device = devices.pop()
    try:
        return torch.Generator(torch.empty(0, device=device).device).device
    except (AssertionError, NotImplementedError, RuntimeError) as e:
        raise MafaldaError(f"device={str(device)!r} is none of this torch: {str(e).splitlines()[0]}") from None


class SimulatedNoise(Noise):
    """See Plan.noise. The place is kept in memory only: start again from the seed, and skip or draw up to where you were."""

    private = False

    def __init__(self, plan: Export, node: str, dim: int, std: float, seed: int) -> None:
        super().__init__(plan, node, dim, std)
        bound = KEPT if _filters.is_dense(plan.manifest["strategy"]) else 1 << 62
        self._rows = Rows(plan, dim, seed, Program(), lambda _: std, bound)
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
        row = np.empty(self.dim)
        self._rows.put([self.node], step, row[None])
        if self._carry is not None:
            row += self._carry
        self._carried, self._unsent, self._carry = self._unsent, (), None
        self._row, self._sending, self._next = row, None, step + 1

    _carried: tuple[int, ...] = ()
