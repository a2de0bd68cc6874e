"""Temporary folders that are gone when they are no longer needed.

A folder goes with the object that holds it, and at the end of the process. A process that is killed leaves it to the
program, if that runs, and else to the next process: a lock in the folder tells that its owner lives.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
import weakref
from typing import IO

from ._process import Owner, fcntl, hold

PREFIX = "mafalda-python-"
_NEW = 5  # seconds in which a folder may not have its lock yet


class Folder:
    """A new folder, removed with this object. Attributes: path."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError):
            _sweep()
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        self._lock = _lock(self.path)
        weakref.finalize(self, _remove, self.path, self._lock, Owner("a temporary folder"))

    def join(self, *names: str) -> str:
        """The path of something inside."""
        return os.path.join(self.path, *names)


def _remove(path: str, lock: IO[bytes] | None, owner: Owner) -> None:
    if owner.here:  # in a fork it is the parent's
        if lock is not None:
            lock.close()
        shutil.rmtree(path, ignore_errors=True)


def _lock(path: str) -> IO[bytes] | None:
    """The lock of a folder; None if another process has it."""
    lock = open(os.path.join(path, "owner"), "ab")
    if hold(lock):
        return lock
    lock.close()
    return None


def _sweep() -> None:
    """Removes the folders of this user whose owners were killed."""
    for entry in os.scandir(tempfile.gettempdir()) if fcntl is not None else ():  # without locks it cannot be told
        try:
            if not entry.name.startswith(PREFIX):
                continue
            state = entry.stat(follow_symlinks=False)
            if entry.is_symlink() or state.st_uid != os.getuid() or time.time() - state.st_mtime < _NEW:
                continue
            lock = _lock(entry.path)
        except OSError:
            continue
        if lock is not None:
            shutil.rmtree(entry.path, ignore_errors=True)
            lock.close()
