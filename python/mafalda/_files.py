"""Opening what users name: regular files only, so that nothing waits for ever at a pipe or reads a device without an end."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
import stat
from typing import IO

import numpy as np

from .errors import ExportError
from ._types import Array, Path

LARGEST_TEXT = 1 << 29  # bytes of a manifest or a table: as in the Go program


def open_regular(path: Path) -> IO[bytes]:
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


def read(path: Path, limit: int = LARGEST_TEXT) -> bytes:
    """The bytes of a regular file; an ExportError if there are more than limit of them."""
    with open_regular(path) as f:
        content = f.read(limit + 1)
    if len(content) > limit:
        raise ExportError(f"{os.fspath(path)} is longer than {limit} bytes")
    return content


def sha256(path: str) -> str:
    """The SHA-256 of a regular file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with open_regular(path) as f:
        for block in iter(lambda: f.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


def open_array(path: Path, shape: tuple[int | None, ...]) -> Array:
    """The float64 array of an .npy file, memory-mapped, read-only; an ExportError if it has another shape (None: any)."""
    name = os.path.basename(os.fspath(path))
    open_regular(path).close()
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
        sound = found.dtype == np.dtype("<f8") and found.flags.c_contiguous
        sound = sound and os.path.getsize(path) == found.offset + found.nbytes
    except Exception as e:  # numpy raises SyntaxError, TokenError and others, too, for a damaged header
        raise ExportError(f"{name} is no array: {e}") from e
    if not sound:
        raise ExportError(f"{name} is a {found.shape} array of {found.dtype}, not of float64 in C order, or too long")
    if len(found.shape) != len(shape) or any(want not in (None, n) for n, want in zip(found.shape, shape)):
        raise ExportError(f"{name} is {found.shape}, for {shape}")
    return found


def read_table(path: Path, columns: list[str]) -> list[list[str]]:
    """The rows of a CSV file that has these columns, in this order."""
    name = os.path.basename(os.fspath(path))
    text = read(path).decode("utf-8", "surrogateescape")
    try:
        head, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    except (csv.Error, ValueError) as e:
        raise ExportError(f"{name} is no table: {e}") from e
    if head != columns or any(len(row) != len(columns) for row in rows):
        raise ExportError(f"{name} has not the columns {', '.join(columns)}")
    return rows


def number(text: str, name: str) -> float:
    """A decimal number, not negative; name is of the file, for the ExportError if it is none."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise ExportError(f"{name} has {text!r} for a number")
    return value
