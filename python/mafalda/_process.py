"""Which process may use an object that hands out rows or batches: the one that made it, and no copy of it.

    self._owner = Owner("this sampler")    # when the object is made
    self._owner.check()                    # first thing in everything that hands out, or moves the place

After os.fork() parent and child hold the same place: both would hand out the same row, for two messages. A DataLoader forks
its workers, multiprocessing forks on Linux unless told otherwise.
"""

from __future__ import annotations

import os
from typing import IO, Callable, TypeVar

try:
    import fcntl
except ImportError:  # Windows: a second process is found by what it writes
    fcntl = None  # type: ignore[assignment]

from .errors import ProcessError

_forks = 0  # number of forks between the first process of this program and this one


def hold(f: IO[bytes]) -> bool:
    """Takes the lock of an open file, which ends with it; False if another process has it."""
    if fcntl is not None:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def in_child(after_fork: Callable[[], None]) -> Callable[[], None]:
    """Has every process that is forked from this one begin with a call, where the system has forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
    return after_fork


@in_child
def _count() -> None:
    global _forks
    _forks += 1


def _here() -> tuple[int, int]:
    """This process. Its number alone may be its parent's, in a process namespace of its own."""
    return os.getpid(), _forks


class Owner:
    """The process that made an object; what says what the object is, at the start of a sentence."""

    def __init__(self, what: str = "this object") -> None:
        self._what, self._made = what, _here()

    @property
    def here(self) -> bool:
        """Whether this is the process."""
        return self._made == _here()

    def check(self) -> None:
        """A ProcessError in every other process."""
        if not self.here:
            raise ProcessError(
                f"{self._what} is of process {self._made[0]}, and this is process {os.getpid()}: with a copy in each, one row or "
                "one batch would go into two messages. Open it in the process that uses it, after the fork"
            )

    def __reduce__(self) -> tuple[object, ...]:
        """No copies in other ways either: pickle, as for a process that is spawned, and copy come here."""
        raise ProcessError(
            f"{self._what} cannot be copied or sent to another process: one row or one batch would go into two messages. Open "
            "it in the process that uses it"
        )


S = TypeVar("S", bound="Closing")


class Closing:
    """What the end of a with statement closes."""

    def close(self) -> None: ...

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Held(Closing):
    """What one process holds and no other may copy."""

    _owner: Owner

    def __reduce__(self) -> tuple[object, ...]:
        return self._owner.__reduce__()  # a ProcessError
