"""Small files that are there whole or not at all, and that only their owner can read.

write replaces a file. A Record is written in place, as the noise states of the Go program are (docs/noise.md, "Once only"):

    head    a line: SHA-256 of the JSON, the JSON, which never changes; then empty lines to a multiple of BLOCK
    place   a line: SHA-256 of head and place, the place as JSON; then empty lines to BLOCK bytes
    place   once more
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import time
import weakref
from typing import IO, Any, Callable

from . import _files
from .errors import ExportError
from ._process import fcntl, hold, in_child
from ._types import Json

BLOCK = 4096  # larger than what disks write at once: a torn copy leaves the other alone
LARGEST = 1 << 20  # bytes; no state is as large
TEMPORARY, YOUNG = ".mafalda-python-", 5  # names of what will replace files; seconds in which one may not have its lock yet

Places = Callable[[Json], Any]


class Record:
    """A locked file with a head, which never changes, and a place, which does.

    Every byte is under a checksum. put changes one copy of the place, waits for the disk, and changes the other: one of
    them is whole whatever a crash tears, and it is not older than the last put that returned. All room is taken when the
    file is made, so that a full disk does not stop it. After an error nothing more is written, and check raises.

    One process has a record open, by whatever name. Opened again in the same process, the earlier Record ends; in a
    forked one it ends, too.
    """

    def __init__(self, path: str, f: IO[bytes], content: bytes, head: Json, place: Json) -> None:
        self.path, self.head, self.place = path, head, place
        self._file, self._content = f, bytearray(content)
        self._ended: str | None = None
        self._due: tuple[bytes, Json] | None = None  # a place that is being written
        self._mutex = threading.Lock()
        info = os.fstat(f.fileno())
        self._identity = (info.st_dev, info.st_ino)
        _open[self._identity] = self

    @staticmethod
    def create(path: str, head: Json, place: Json) -> "Record":
        """Makes the file, which must not be there (a FileExistsError). A crash leaves a whole record or none; a link stays one."""
        path = os.path.realpath(path)
        folder = os.path.dirname(path)
        text = _text(head)
        content = _block(b"", text) + 2 * _block(text, _text(place))
        f, temporary = _temporary(folder)
        try:
            _write_at(f, 0, content)
            _give_name(temporary, path)
            _sync_folder(folder)
            return Record(path, f, content, head, place)
        except BaseException:
            f.close()
            remove(temporary)
            raise

    @staticmethod
    def resume(path: str, newer: Places, check: Callable[[Json, Json], None]) -> "Record | None":
        """Opens and locks the record at path; None if there is no file.

        Of two copies of the place that differ, the one with the larger newer(place) counts. check gets head and place,
        and raises if they are of something else. The ExportErrors are files that are no record, damaged, or in use by
        another process.
        """
        path = os.path.abspath(path)
        try:
            f = _open_for_update(path)
        except FileNotFoundError:
            return None
        try:
            info = os.fstat(f.fileno())
            mine = _open.get((info.st_dev, info.st_ino))
            if mine is not None and mine._ended is None:  # the lock goes over with the open file
                f.close()
                f = open(os.dup(mine._file.fileno()), "r+b", buffering=0)
            else:
                mine = None
                _lock(f, path)
            content = _read_all(f)
            head, place = _parse(path, content, newer)
            check(head, place)
            _check_name(path, f)
        except BaseException:
            f.close()
            raise
        if mine is not None:
            mine._end(f"{path} was opened again in this process, which ended this use of it")
        return Record(path, f, content, head, place)

    def check(self) -> None:
        """An ExportError if this use has ended, or the file is not the one that was opened, or not what was written last."""
        with self._mutex:
            self._check()

    def _check(self) -> None:
        if self._ended is not None:
            raise ExportError(self._ended)
        try:
            _check_name(self.path, self._file)
            self._settle()
            if _read_all(self._file) != self._content:
                raise ExportError(f"{self.path}: somebody else has written to it")
        except ExportError as e:
            self._end(str(e))
            raise

    def put(self, place: Json) -> None:
        """Writes a place; it is on disk when this returns. An error ends this use of the record.

        After Ctrl-C the file has the old place or this one, and the next use writes this one to its end.
        """
        with self._mutex:
            self._check()
            self._due = _block(_text(self.head), _text(place)), place
            self._settle()

    def _settle(self) -> None:
        if self._due is None:
            return
        block, place = self._due
        try:
            for at in (len(self._content) - 2 * BLOCK, len(self._content) - BLOCK):
                _write_at(self._file, at, block)
                self._content[at : at + BLOCK] = block
        except OSError as e:
            self._end(f"{self.path} could not be written ({e}): nothing more comes of this use of it")
            raise
        self.place, self._due = place, None

    def close(self) -> None:
        """Lets go of the file. What is closed cannot be used; closing again does nothing."""
        self._end(f"{self.path} was closed")

    def __del__(self) -> None:
        self._file.close()

    def _end(self, why: str) -> None:
        if self._ended is None:
            self._ended = why
            self._file.close()
            if _open.get(self._identity) is self:
                del _open[self._identity]


_open: "weakref.WeakValueDictionary[tuple[int, int], Record]" = weakref.WeakValueDictionary()


@in_child
def _end_in_child() -> None:
    for record in list(_open.values()):
        record._mutex = threading.Lock()  # another thread may have had it
        record._end(f"{record.path} belongs to the process that opened it, and this one was forked from it")


def _open_for_update(path: str) -> IO[bytes]:
    _files.open_regular(path).close()  # first: a pipe or a folder must not be opened for writing
    handle = os.open(path, os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    _files.check_regular(path, handle)
    return open(handle, "r+b", buffering=0)


def _lock(f: IO[bytes], path: str) -> None:
    """Takes the lock of an open file, which ends with it."""
    if not hold(f):
        raise ExportError(f"another process uses the state {path}: one node, one state, one process")


def _check_name(path: str, f: IO[bytes]) -> None:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        raise ExportError(f"{path} is gone: it was deleted or moved while it was in use") from None
    if not os.path.samestat(there, os.fstat(f.fileno())):
        raise ExportError(f"another file was put in the place of {path}")


def _read_all(f: IO[bytes]) -> bytes:
    f.seek(0)
    content = b""
    while part := f.read(LARGEST + 1 - len(content)):
        content += part
    return content


def _write_at(f: IO[bytes], at: int, content: bytes) -> None:
    """Writes, and waits for the disk."""
    f.seek(at)
    while content:
        content = content[f.write(content) :]
    os.fsync(f.fileno())


def _text(content: Json) -> bytes:
    return json.dumps(content, separators=(",", ":")).encode()


def _block(head: bytes, text: bytes) -> bytes:
    """A line and the empty lines behind it."""
    line = hashlib.sha256(head + text).hexdigest().encode() + b" " + text + b"\n"
    return line + b"\n" * (-len(line) % BLOCK)


def _parse_block(head: bytes, block: bytes) -> bytes | None:
    """The inverse of _block; None unless every byte is as _block would write it."""
    text = block[65:].split(b"\n", 1)[0]
    return text if _block(head, text) == block else None


def _parse(path: str, content: bytes, newer: Places) -> tuple[Json, Json]:
    size = len(content) - 2 * BLOCK
    text = _parse_block(b"", content[:size]) if BLOCK <= size <= LARGEST and size % BLOCK == 0 else None
    if text is None:
        raise ExportError(f"{path} is damaged, or no state of this version")
    places = [_parse_block(text, content[at : at + BLOCK]) for at in (size, size + BLOCK)]
    found = [json.loads(place) for place in places if place is not None]  # the checksum holds: it is what was written
    if not found:
        raise ExportError(f"{path} is damaged: both copies of its place are")
    return json.loads(text), max(found, key=newer)


def _give_name(temporary: str, path: str) -> None:
    """Gives a file its name; a FileExistsError if that is taken, where the file system has hard links."""
    try:
        os.link(temporary, path)
    except (OSError, AttributeError):
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.rename(temporary, path)
    else:
        os.unlink(temporary)


def _temporary(folder: str) -> tuple[IO[bytes], str]:
    """A new file beside what it will replace, locked while its maker lives; those of killed ones go."""
    for entry in os.scandir(folder) if fcntl is not None else ():
        if not entry.name.startswith(TEMPORARY):
            continue
        try:
            if time.time() - entry.stat(follow_symlinks=False).st_mtime > YOUNG:
                with _open_for_update(entry.path) as f:
                    if hold(f):
                        os.unlink(entry.path)
        except (OSError, ExportError):  # it is in use, another user's, or gone
            pass
    handle, path = tempfile.mkstemp(dir=folder, prefix=TEMPORARY)
    f = open(handle, "r+b", buffering=0)
    _lock(f, path)
    return f, path


def remove(path: str) -> None:
    """Removes a file if it is there."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def _sync_folder(folder: str) -> None:
    if os.name == "posix":
        at = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(at)
        finally:
            os.close(at)


def write(path: str, content: bytes) -> None:
    """Replace a file: on disk under another name first, then renamed. Mode 0600."""
    path = os.path.realpath(path)  # a link stays one
    folder = os.path.dirname(path)
    f, temporary = _temporary(folder)
    try:
        with f:
            _write_at(f, 0, content)
            if fcntl is None:
                f.close()  # Windows renames no open file
            os.replace(temporary, path)
    except BaseException:
        remove(temporary)
        raise
    _sync_folder(folder)


def write_json(path: str, content: Json) -> None:
    """The same for a JSON object, on one line."""
    write(path, json.dumps(content).encode() + b"\n")


def read_json(path: str) -> Json | None:
    """The JSON object in a file, or None if it is not there. Anything else in it is an ExportError."""
    try:
        text = _files.read(path, LARGEST)
    except FileNotFoundError:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as e:
        raise ExportError(f"{path} is damaged, or no state: {e}") from e
    if not isinstance(found, dict):
        raise ExportError(f"{path} is no state")
    return found
