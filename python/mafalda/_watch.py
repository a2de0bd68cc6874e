"""Parameters and buffers that only private steps and averages of models may change: every one has a fingerprint."""

from __future__ import annotations

import weakref
import zlib
from contextlib import contextmanager
from typing import Any, Iterable, Iterator

from .errors import MafaldaError

_watches: "weakref.WeakSet[Watch]" = weakref.WeakSet()


class Watch:
    """The parameters and buffers of one private training, each with its fingerprint when it was last as it should be."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[str, Any, int]] = {}  # name, tensor and fingerprint, by id
        _watches.add(self)

    def check(self, model: Any = None) -> None:
        """A MafaldaError if a watched tensor was changed since. Those of the model are watched from now on."""
        for name, p, _ in self._seen.values():
            if not self.holds(p):
                raise MafaldaError(changed(name))
        if model is None:
            return
        named = [*model.named_parameters(), *((n, b) for n, b in model.named_buffers() if b.is_floating_point())]
        for name, p in named:
            if id(p) not in self._seen:
                self._see(name, p)

    def _see(self, name: str, p: Any) -> None:
        """A tensor is as it should be."""
        self._seen[id(p)] = name, p, fingerprint(p)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """What is changed inside is a private step. Nothing is watched meanwhile, so that an interruption leaves no false word."""
        seen, self._seen = self._seen, {}
        try:
            yield
        finally:
            for name, p, _ in seen.values():
                self._see(name, p)

    def holds(self, p: Any) -> bool:
        """Whether a tensor is watched, and is as it should be."""
        return id(p) in self._seen and self._seen[id(p)][2] == fingerprint(p)

    def accept(self, p: Any) -> None:
        """A watched tensor is as it should be."""
        self._see(self._seen[id(p)][0], p)

    def begin(self, parameters: Iterable[Any]) -> None:
        """Watches these parameters as they are now."""
        for i, p in enumerate(parameters):
            self._see(f"parameter {i}", p)

    def clear(self) -> None:
        """Watches nothing until the next check."""
        self._seen = {}

    def take_over(self, tensors: Iterable[Any]) -> None:
        """No other training watches these from now on: another one began with them."""
        for p in tensors:
            for watch in list(_watches):
                watch._seen.pop(id(p), None)


def changed(name: str) -> str:
    """What is wrong with a tensor that something else has changed."""
    return (
        f"the model's {name!r} was changed, and not by a private step: another optimizer would train it on gradients "
        "without noise, statistics of a batch have none either. plan.mix and mafalda.set_flat may change parameters. If "
        "what changed it knows no record but through noisy steps (an average, a checkpoint), say so: accept_changes() of "
        "the private optimizer"
    )


def fingerprint(p: Any) -> int:
    """The CRC-32 of a tensor's bytes: it sees whatever changes them. torch's own count misses p.data and fused optimizers."""
    import torch

    if p.layout != torch.strided or p.device.type == "meta" or p.is_quantized:
        return p._version
    return zlib.crc32(p.detach().reshape(-1).view(torch.uint8).cpu().numpy())


def refuse_changed(parameters: Iterable[Any]) -> None:
    """A MafaldaError if a training watches a parameter, and something else than that training has changed it."""
    for p in parameters:
        seen = [watch for watch in list(_watches) if id(p) in watch._seen]
        if seen and not any(watch.holds(p) for watch in seen):
            raise MafaldaError(changed(seen[0]._seen[id(p)][0]))


@contextmanager
def known_change(parameters: Iterable[Any]) -> Iterator[None]:
    """What is changed inside is an average of models: parameters that nothing else has changed may go on."""
    held = [(watch, p) for p in list(parameters) for watch in list(_watches) if watch.holds(p)]
    yield
    for watch, p in held:
        watch.accept(p)
