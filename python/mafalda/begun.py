"""What says that a node has begun its noise: a file beside its state, so that a state that is gone is missed.

A run that goes on with a new state uses row 0 in step t, and protects less. The program never begins a state without
--new; the package does where there is none, and so leaves a second trace with the first row: noise-begun-….json, of an
export and a node, in the folder of the state.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from . import durable
from .errors import ExportError

if TYPE_CHECKING:
    from .plan import Plan


def check(plan: "Plan", node: str, state: str) -> None:
    """An ExportError if rows of the node came in this folder, of a state of this name or of another one."""
    for path in _paths(plan, node, state):
        found = durable.read_json(path)
        if found is None:
            continue
        states = ", ".join(str(name) for name in found.get("states", []))
        raise ExportError(
            f"there is no state {state}, and node {node!r} has begun its noise under this export with {states}, says "
            f"{path}: is the name wrong, or the state gone? A run that has begun cannot go on with a new state. "
            "A run of its own begins with new=True"
        )


def note(plan: "Plan", node: str, state: str) -> None:
    """The node is about to have a row of this state."""
    name = os.path.basename(state)
    for path in _paths(plan, node, state):
        found = durable.read_json(path) or {"export": plan.hash, "node": node, "states": []}
        if name not in found.get("states", []):
            durable.write_json(path, {**found, "states": [*found.get("states", []), name]})


def _paths(plan: "Plan", node: str, state: str) -> list[str]:
    """Of a state that is a link there are two: either end may go."""
    of = hashlib.sha256(f"{plan.hash} {node}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
    folders = {os.path.dirname(os.path.realpath(state)), os.path.realpath(os.path.dirname(os.path.abspath(state)))}
    return [os.path.join(folder, f"noise-begun-{of}.json") for folder in sorted(folders)]
