"""Opening what users name: regular files only, so that nothing waits for ever at a pipe or reads a device without an end."""

from __future__ import annotations

import os
import stat
from typing import IO

from .errors import ExportError

LARGEST_TEXT = 1 << 29  # bytes of a manifest or a table: as in the Go program


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """The file, opened for reading; links are followed.

    Pipes, devices and folders are an ExportError, decided on the open file and not on its name; the system's errors are
    OSErrors.
    """
    path = os.fspath(path)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    check_regular(path, handle)
    return open(handle, "rb")


def check_regular(path: str, handle: int) -> None:
    """An ExportError, and the handle is closed, if it is no regular file."""
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ExportError(f"{path} is no regular file, but a pipe, a device or a folder")


def read(path: str | os.PathLike[str], limit: int = LARGEST_TEXT) -> bytes:
    """The bytes of a regular file; an ExportError if there are more than limit of them."""
    with open_regular(path) as f:
        content = f.read(limit + 1)
    if len(content) > limit:
        raise ExportError(f"{os.fspath(path)} is longer than {limit} bytes")
    return content
