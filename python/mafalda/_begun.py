"""What says that a node has begun its noise, or its batches: a file beside the state, so that a state that is gone is missed.

A run that goes on with a new state of noise uses row 0 in step t, and protects less; with a new key of batches, records
come in other steps. The program never begins a state that is not said to be new; the package begins a missing one, and so leaves
a second trace with the first row or batch: noise-begun-….json and batches-begun-….json, of an export and a node, in the
folder of the state.
"""

from __future__ import annotations

import hashlib
import os

from . import _durable
from .errors import ExportError
from ._export import Export


def check_new(state: str, new: bool | None, there: bool) -> None:
    """An ExportError if a state that is to be new is there, or one that is to go on is not; new is None for either."""
    if new is not None and new == there:
        there_already = f"the state {state} is there already: without new=True it goes on"
        raise ExportError(there_already if new else f"there is no state {state}")


def check(plan: Export, node: str, state: str, kind: str = "noise") -> None:
    """Raises an ExportError if the state is missing, or was never used, and the node has begun in this folder.

    A state that is there may have been noted just before a crash.
    """
    there = os.path.exists(state)
    for path in _paths(plan, node, state, kind):
        states = _states(path)
        if states is None or there and set(_names(state)) & set(states):
            continue
        what = f"the state {state} was never used" if there else f"there is no state {state}"
        raise ExportError(
            f"{what}, and node {node!r} has begun its {kind} under this export with {', '.join(states)}, says "
            f"{path}: is the name wrong, or the state gone? A run that has begun cannot go on with a new state. "
            "A run of its own begins with new=True"
        )


def check_place(plan: Export, node: str, state: str, kind: str) -> None:
    """An ExportError if a state that was used did not begin in this folder and under this name: then it is a copy."""
    for path in _paths(plan, node, state, kind):
        if set(_names(state)) & set(_states(path) or []):
            return
    raise ExportError(
        f"the state {state} was used, but not under this name and in this folder (no {_file(plan, node, kind)} here has "
        f"it): a copy would hand out the same {kind} again. If it was moved, give it its name back and move that file, too"
    )


def note(plan: Export, node: str, state: str, kind: str = "noise") -> None:
    """The node is about to have a row, or a batch, of this state."""
    for path in _paths(plan, node, state, kind):
        states = _states(path) or []
        new = [name for name in _names(state) if name not in states]
        if new:
            _durable.write_json(path, {"export": plan.hash, "node": node, "states": [*states, *new]})


def _states(path: str) -> list[str] | None:
    """The states that a file names; None if it is not there."""
    found = _durable.read_json(path)
    if found is None:
        return None
    states = found.get("states", [])
    if not isinstance(states, list) or not all(isinstance(name, str) for name in states):
        raise ExportError(f"{path} is damaged")
    return states


def _names(state: str) -> list[str]:
    """Names of the state: two where it is a link."""
    return sorted({os.path.basename(state), os.path.basename(os.path.realpath(state))})


def _file(plan: Export, node: str, kind: str) -> str:
    of = hashlib.sha256(f"{plan.hash} {node}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{kind}-begun-{of}.json"


def _paths(plan: Export, node: str, state: str, kind: str) -> list[str]:
    """Paths of the trace: two for a state that is a link, of which either end may go."""
    folders = {os.path.dirname(os.path.realpath(state)), os.path.realpath(os.path.dirname(os.path.abspath(state)))}
    return [os.path.join(folder, _file(plan, node, kind)) for folder in sorted(folders)]
