"""The program mafalda: where it is, and running a command of it.

A wheel for a platform has the program inside, and pip puts it beside Python's own programs. The package takes, in this
order: what is given as binary=…, what $MAFALDA names, the program of the wheel, and mafalda on the PATH.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from typing import IO, Callable, NamedTuple, Sequence

from .errors import ProgramError, ServerError, warn
from ._keywords import words
from ._temporary import Folder
from ._types import Json

Report = Callable[[str, "float | None"], None]  # what is being done, and how much of it is done, if that is known

BUILT = os.path.join(os.path.dirname(__file__), "built.json")  # version, and whether the program is inside, in wheels of a release
PATIENCE = 20  # seconds that the program has to end after Ctrl-C


class Done(NamedTuple):
    """How a command ended: its exit code, what it printed, and the line of its error, if any."""

    code: int
    output: str
    error: str


def find(given: str | None = None) -> str:
    """The path of the program. A ServerError if it is not there, or if the one on the PATH is of another version."""
    name = given or os.environ.get("MAFALDA")
    if name:
        found = shutil.which(name)
        if found is None:
            raise ServerError(f"the program {name!r} is not there: name mafalda by $MAFALDA or by binary=…")
        return found
    built = _built()
    found = _inside() if built.get("inside") else None
    if found is None:
        found = shutil.which("mafalda")
        if found is None:
            raise ServerError(
                "the program mafalda is not there: install the wheel of your platform, put mafalda on the PATH, or name it "
                "by $MAFALDA or by binary=…"
            )
        wanted, there = built.get("version"), _version(found, os.stat(found).st_mtime_ns) if built else None
        if wanted != there:
            raise ServerError(
                f"{found}, the mafalda on the PATH, has version {there}, and this package is of version {wanted}: install the "
                "wheel of your platform, or name a program by $MAFALDA"
            )
    return found


def run(
    arguments: Sequence[str],
    folder: Folder | None = None,
    report: Report | None = None,
    binary: str | None = None,
) -> Done:
    """Runs a command to its end, and says how it ended. Its warnings are warnings of Python, with keywords in the place of flags.

    report hears of progress. folder is temporary: the program removes it if this process dies before the command ends.
    Ctrl-C, and every other exception here, ends the program first.
    """
    command = [find(binary), *arguments, "--progress=json"]
    if folder is not None:
        command.append(f"--lent-folder={folder.path}")
    apart: Json = {"start_new_session": True}  # Ctrl-C comes to Python alone, which passes it on
    if sys.platform == "win32":
        apart = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, **apart)
    output: list[bytes] = []
    reader = threading.Thread(target=lambda: output.append(process.stdout.read()), daemon=True)
    try:
        reader.start()
        lines = _listen(process.stderr, report)
        process.wait()
        reader.join()
    finally:
        _end(process)
        for stream in (process.stdin, process.stderr):
            stream.close()
        reader.join()
        process.stdout.close()
    text = output[0].decode("utf-8", "replace")
    code = process.returncode
    if folder is not None:  # a file in it has no name for the caller
        lines = [line.replace(folder.path + os.sep, "") for line in lines]
    lines = [words(arguments[0], line) for line in lines]
    error = ""
    if code:
        error = lines.pop() if lines else f"mafalda ended without a word, by {code}"
    for line in lines:
        warn(line.removeprefix("warning: "))
    return Done(code, text, error.removeprefix("mafalda: "))


def check(done: Done, command: str) -> str:
    """What a command printed; a ProgramError with its line and its exit code if it failed."""
    if done.code:
        raise ProgramError(done.error, done.code, command)
    return done.output


def _listen(stream: IO[bytes], report: Report | None) -> list[str]:
    """The lines of stderr that are no progress."""
    said = []
    for raw in iter(stream.readline, b""):
        line = raw.decode("utf-8", "replace").rstrip("\n")
        if not line.startswith('{"doing":'):
            said.append(line)
        elif report is not None:
            event = json.loads(line)
            report(event["doing"], event.get("fraction"))
    return [line for line in said if line]


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the program if it runs: as Ctrl-C does, so that it removes what is not finished; for good if that takes long."""
    if process.poll() is not None:
        return
    try:
        process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.CTRL_BREAK_EVENT)
        process.wait(PATIENCE)
    except (subprocess.TimeoutExpired, KeyboardInterrupt, OSError):
        process.kill()
        process.wait()


@functools.cache
def _built() -> Json:
    """What the wheel says of the program it was made with; empty in a checkout."""
    try:
        with open(BUILT, encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return {}


def _inside() -> str | None:
    """The program that pip has put beside Python's, or, with pip's options target and prefix, beside the package."""
    name = "mafalda" + (sysconfig.get_config_var("EXE") or "")
    above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    user = sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(above)))  # the folder that holds lib/python3.11/site-packages
    scripts = os.path.basename(sysconfig.get_path("scripts"))
    places = (sysconfig.get_path("scripts"), user, os.path.join(above, "bin"), os.path.join(prefix, scripts))
    return next((path for path in (os.path.join(place, name) for place in places) if os.path.isfile(path)), None)


@functools.cache
def _version(path: str, _modified: int) -> str:
    try:
        done = subprocess.run([path, "version", "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return json.loads(done.stdout)["version"]
    except (ValueError, KeyError, TypeError, subprocess.TimeoutExpired):
        return "unknown"
