"""Parameters that only private steps and averages of models may change: torch counts the changes of every tensor."""

from __future__ import annotations

import weakref
from contextlib import contextmanager
from typing import Any, Iterable, Iterator

from .errors import MafaldaError

_watches: "weakref.WeakSet[Watch]" = weakref.WeakSet()


class Watch:
    """The parameters of one private training, each with the number of its changes when it was last as it should be.

    Changes through p.data are not counted by torch, and not seen.
    """

    def __init__(self) -> None:
        self._seen: dict[int, tuple[str, Any, int]] = {}  # by id: name, parameter, number of changes
        _watches.add(self)

    def check(self, named: Iterable[tuple[str, Any]] = ()) -> None:
        """A MafaldaError if a watched parameter was changed since mark. Those in named are watched from now on."""
        for name, p, _ in self._seen.values():
            if not self.holds(p):
                raise MafaldaError(
                    f"the parameter {name!r} was changed, and not by a private step: another optimizer would train it on "
                    "gradients without noise. plan.mix and mafalda.set_flat may change it. If what changed it knows no "
                    "record but through noisy steps (an average, a checkpoint), say so: accept_changes() of the private "
                    "optimizer"
                )
        for name, p in named:
            self._seen[id(p)] = (name, p, p._version)

    def mark(self) -> None:
        """What is watched is as it should be."""
        self._seen = {i: (name, p, p._version) for i, (name, p, _) in self._seen.items()}

    def holds(self, p: Any) -> bool:
        """Whether a parameter is watched, and was not changed since mark."""
        return id(p) in self._seen and self._seen[id(p)][2] == p._version

    def accept(self, p: Any) -> None:
        """A watched parameter is as it should be."""
        self._seen[id(p)] = (self._seen[id(p)][0], p, p._version)

    def clear(self) -> None:
        """Watches nothing until the next check."""
        self._seen = {}


@contextmanager
def known_change(parameters: Iterable[Any]) -> Iterator[None]:
    """What is changed inside is an average of models: parameters that nothing else has changed may go on."""
    held = [(watch, p) for p in list(parameters) for watch in list(_watches) if watch.holds(p)]
    yield
    for watch, p in held:
        watch.accept(p)
