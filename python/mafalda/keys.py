"""Exports whose nodes share noise in pairs: keys and announcements, made by the program (docs/secrets-runtime.md).

    mafalda.keys.new("Medici", "medici.key", "medici.pub")                          # once; the lines of all nodes go into keys.csv
    mafalda.keys.announce(plan, "medici.key", "keys.csv", dim, "runs/medici.run")   # before every run
    noise = plan.noise("Medici", dim, state="medici.state", key="medici.key", peers="keys.csv", runs="runs")

plan.pairs and plan.own_std say who shares how much; simulated noise (seed=…) has keys that follow from the seed.
"""

from __future__ import annotations

import errno
import os
import subprocess

from .errors import ExportError, ServerError
from ._export import Export
from ._inputs import plain
from ._keywords import words
from ._program import find
from ._types import Path



def new(node: str, private: Path, public: Path, binary: str | None = None) -> str:
    """A key of a node: the private one in a file of mode 0600, and the public line; neither file is replaced. Returns the line."""
    if os.path.lexists(public):  # a pair is never made by half
        raise FileExistsError(errno.EEXIST, "there already, and never replaced", os.fspath(public))
    with open(public, "x", encoding="utf-8", errors="surrogateescape") as f:
        try:
            line = _run(binary, "keys", "new", "--node", node, "-o", os.fspath(private))
            f.write(line)
            f.flush()
        except BaseException:
            os.unlink(public)  # mafalda keys show prints the line of a private key that is there
            raise
    return line


def announce(plan: Export, key: Path, peers: Path, dim: int, out: Path, binary: str | None = None) -> None:
    """The announcement of a run, which goes to all neighbours; it is no secret."""
    if not plan.pairs:
        raise ExportError("the nodes of this export share no noise: there is nothing to announce")
    _run(binary, "keys", "run", plan.directory, *plain({"key": key, "peers": peers, "dim": dim, "output": out}))


def _run(binary: str | None, *arguments: str) -> str:
    done = subprocess.run(
        [find(binary), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="surrogateescape"
    )
    if done.returncode:
        raise ServerError(words("keys", (done.stderr.strip().splitlines() or ["mafalda ended without a word"])[-1]), "keys")
    return done.stdout
