"""Results of commands: what the program printed, with its tables, pictures and report."""

from __future__ import annotations

import csv
import glob
import html
import json
import os
from typing import Any, Iterator, Mapping

import numpy as np

from .errors import MafaldaError, ProgramError
from ._inputs import plain
from ._keywords import words
from ._plot import curves
from ._program import Done, check, run
from ._temporary import Folder
from ._types import Array, Json, Path


LABELS = ("attacker", "victim", "observer", "node", "label")  # columns of tables


class Result(Mapping[str, Any]):
    """What a command found. Its values are keys, as in the program's JSON, and attributes.

    Attributes:
        command    the name of the command
        directory  the folder with tables and pictures; removed with this object unless out= named it; None without
    """

    def __init__(self, command: str, found: Json, directory: str | None = None, folder: Folder | None = None) -> None:
        self.command, self.directory = command, directory
        self._found, self._folder = found, folder

    def __getitem__(self, key: str) -> Any:
        return self._found[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._found:
            return self._found[name]
        raise AttributeError(f"{self.command} found {', '.join(self._found)}, and no {name}")

    def __repr__(self) -> str:
        numbers, more = [], []
        for key, value in self._found.items():
            if isinstance(value, (list, dict)):
                more.append(f"{key} ({len(value)})")
            elif value is not None:
                numbers.append(f"{key}={value if not isinstance(value, str) else value if len(value) < 60 else value[:60] + '…'!r}")
        more += [f"figures: {', '.join(self.figures)}"] if self.figures else []
        return f"<{self.command}: {'; '.join([', '.join(numbers), *more])}>"

    @property
    def table(self) -> dict[str, Array]:
        """The table that the program writes, by columns: numbers where all of a column are, and NaN where one is missing.

        Labels of nodes are strings, whatever they look like.
        """
        found = glob.glob(os.path.join(glob.escape(self.directory or os.devnull), "*.csv"))
        if len(found) != 1:
            raise MafaldaError(f"{self.command} has no table: its values are {', '.join(self._found)}")
        with open(found[0], encoding="utf-8", errors="surrogateescape", newline="") as f:
            head, *rows = csv.reader(f)
        columns = {name: [row[i] for row in rows] for i, name in enumerate(head)}
        return {name: np.array(texts, dtype=str) if name in LABELS else _column(texts) for name, texts in columns.items()}

    def to_pandas(self) -> Any:
        """The same table as a pandas DataFrame."""
        return data_frame(self.table)

    @property
    def figures(self) -> dict[str, str]:
        """The pictures by name, as SVG."""
        found = {}
        for path in sorted(glob.glob(os.path.join(glob.escape(self.directory or os.devnull), "*.svg"))):
            with open(path, encoding="utf-8") as f:
                found[os.path.splitext(os.path.basename(path))[0]] = f.read()
        return found

    def plot(self, name: str | None = None, ax: Any = None) -> Any:
        """Draws one of the figures (default: the first) with matplotlib, on new axes or on ax; returns the axes.

        A figure of several plots, one below the other, takes and returns a list of them.
        """
        found = self.figures
        name = name or next(iter(found), "nothing")
        if name not in found:
            why = self.get("not_drawn", {}).get(name) or f"there are {', '.join(found)}" if found else "this result has no figures"
            raise MafaldaError(f"{name} is not drawn: {why}")
        return curves(name, found[name], ax)

    def report(self, out: Path, **options: Any) -> str:
        """Writes one HTML file to look at and to pass on; returns its path. Options: title, force."""
        if self.directory is None:
            raise MafaldaError(f"there is no report of {self.command}")
        return write_report([self.directory], out, **options)

    def _repr_html_(self) -> str:
        try:
            return report_html(self.directory, self._folder)
        except MafaldaError:  # a result that no report shows
            rows = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(f'{v!r:.200}')}</td></tr>" for k, v in self.items())
            return f"<table>{rows}</table>"


def result_of(command: str, done: Done, directory: str | None = None, folder: Folder | None = None) -> Result:
    """The result of a command that has ended; a ProgramError if it failed, with the result if it printed one all the same."""
    said = words(command, done.output) if command in ("verify", "plot") and not done.code else done.output
    found = not done.code or said.startswith("{")  # an audit that fails says by how much
    result = Result(command, json.loads(said), directory, folder) if found else None
    if not done.code:
        return result
    error = ProgramError(done.error, done.code, command)
    error.result = result
    raise error


def data_frame(table: dict[str, Array]) -> Any:
    """A table as a pandas DataFrame; a MafaldaError where pandas is not installed."""
    try:
        import pandas
    except ImportError:
        raise MafaldaError("pandas is not installed, and table has the same columns as numpy arrays") from None
    return pandas.DataFrame(table)


def write_report(directories: list[str], out: Path, title: str | None = None, force: bool = False) -> str:
    """The HTML report of folders of results, at out; returns the path."""
    words = plain({"output": out, "title": title, "force": force})
    check(run(["report", *map(os.path.abspath, directories), *words]), "report")
    return os.fspath(out)


def report_html(directory: str | None, folder: Folder | None) -> str:
    """The report of a folder, as a notebook shows it."""
    if directory is None:
        raise MafaldaError("there is no folder to report")
    place = folder or Folder()
    path = place.join("shown.html")
    if not os.path.exists(path):
        write_report([directory], path)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return f'<iframe srcdoc="{html.escape(text)}" style="width: 100%; height: 600px; border: 0"></iframe>'


def _column(texts: list[str]) -> Array:
    if texts and set(texts) <= {"true", "false"}:
        return np.array([text == "true" for text in texts])
    try:
        return np.array([float(text) if text else np.nan for text in texts])
    except ValueError:
        return np.array(texts, dtype=str)
