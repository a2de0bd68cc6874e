"""Small files that are there whole or not at all, and that only their owner can read."""

from __future__ import annotations

import json
import os
import tempfile
from typing import Any

from .errors import ExportError


def write(path: str, content: bytes) -> None:
    """Replace a file: on disk under another name first, then renamed. Mode 0600."""
    path = os.path.realpath(path)  # a link stays one
    folder = os.path.dirname(path)
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".mafalda-")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(content)
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    if os.name == "posix":
        at = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(at)
        finally:
            os.close(at)


def write_json(path: str, content: dict[str, Any]) -> None:
    """The same for a JSON object, on one line."""
    write(path, json.dumps(content).encode() + b"\n")


def read_json(path: str) -> dict[str, Any] | None:
    """The JSON object in a file, or None if it is not there. Anything else in it is an ExportError."""
    try:
        with open(path, "rb") as f:
            text = f.read()
    except FileNotFoundError:
        return None
    try:
        found = json.loads(text)
    except ValueError as e:
        raise ExportError(f"{path} is damaged, or no state: {e}") from e
    if not isinstance(found, dict):
        raise ExportError(f"{path} is no state")
    return found
