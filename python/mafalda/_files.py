"""Opening what users name: regular files only, so that nothing waits for ever at a pipe or reads a device without an end."""

from __future__ import annotations

import csv
import io
import math
import os
import stat
from typing import IO

import numpy as np

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


def open_array(path: str | os.PathLike[str], shape: tuple[int | None, ...]) -> np.ndarray:
    """The float64 array of an .npy file, memory-mapped, read-only; an ExportError if it has another shape (None: any)."""
    name = os.path.basename(os.fspath(path))
    with open_regular(path) as f:
        try:
            version = np.lib.format.read_magic(f)
            head = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            found, fortran, dtype = head(f)
        except Exception as e:  # numpy raises SyntaxError, TokenError and others, too, for a damaged header
            raise ExportError(f"{name} is no array: {e}") from e
        if dtype != np.dtype("<f8") or fortran or len(found) != len(shape):
            raise ExportError(f"{name} is a {found} array of {dtype}, and not float64 in C order with {len(shape)} axes")
        if any(want is not None and want != n for n, want in zip(found, shape)) or min(found) < 1:
            raise ExportError(f"{name} is {found}, for {shape}")
        offset = f.tell()
        if os.fstat(f.fileno()).st_size != offset + 8 * math.prod(found):
            raise ExportError(f"{name} has not the length that its header says")
        return np.memmap(f, dtype=dtype, mode="r", offset=offset, shape=found)


def read_table(path: str | os.PathLike[str], columns: list[str]) -> list[list[str]]:
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
