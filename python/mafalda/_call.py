"""Calling a command of the program with keywords: mafalda._commands is made of these calls."""

from __future__ import annotations

import os
from typing import Any, Sequence

from .errors import MafaldaError
from ._export import Export
from ._inputs import Inputs
from ._keywords import KEYWORDS, keyword
from ._plan import Plan, load
from ._progress import shown
from ._results import Result, result_of
from ._program import check, run
from ._temporary import Folder
from ._types import Json

OURS = ("json", "quiet", "verbose", "shard")  # flags that are no keywords: the package sets them, or they are for processes
_APART = "account audit simulate graph verify plot spent".split()  # their first parameter is no flag
_WITH_FOLDER = "optimize account simulate benchmark sampling advise plot graph average partpsp".split()  # they have --output
_NETWORK = ("graph", "gossip", "seed", "graph-changes", "schema")


def call(command: str, given: Json) -> Any:
    """Runs a command with keywords; None stands for the program's default. Returns a Plan, a Result, or a path."""
    progress, binary, out = given.pop("progress"), given.pop("binary"), given.pop("out", None)
    flags = {flag: given.pop(keyword(command, flag)) for flag in _flags(command, given)}
    folder = Folder()
    inputs = Inputs(folder)
    words = [command, *_first(command, given, flags, inputs)]
    if isinstance(flags.get("methods"), (list, tuple)):
        flags["methods"] = _named(flags["methods"])
    words += inputs.words(command, flags)
    directory = None
    if command == "report":
        directory = os.fspath(out or "report.html")
    elif command in _WITH_FOLDER:
        directory = os.path.abspath(os.fspath(out)) if out is not None else folder.join("out")
    words += [f"--output={directory}"] if directory else []
    words += ["--json"] if command != "report" else []
    with shown(progress) as report:
        done = run(words, folder, report, binary)
    if command not in ("report", "optimize"):
        return result_of(command, done, directory, folder if out is None else None)
    check(done, command)
    return directory if command == "report" else _plan(directory, folder if out is None else None, flags)


def _flags(command: str, given: Json) -> list[str]:
    """The program's names of the keywords that are given, but for first parameters that are no flags."""
    names = {name: flag for flag, name in KEYWORDS.items()} | {"attackers": "attacker"}
    taken = next(iter(given)) if command in _APART else "results"
    return [names.get(name, name.replace("_", "-")) for name in given if name != taken]


def _first(command: str, given: Json, flags: Json, inputs: Inputs) -> list[str]:
    """The words for the parameter that needs no keyword."""
    first = next(iter(given.values()), None)
    if command in ("verify", "plot"):
        if isinstance(first, Plan):
            flags.update({name: value for name, value in first.network_files.items() if flags.get(name) is None})
        return [_directory(first)]
    if command == "spent":
        return [os.fspath(first)]
    if command == "report":
        if not first:
            raise MafaldaError("report needs a result or more: plans, results, or folders")
        return [_directory(one) for one in first]
    if command == "graph":
        (word, *rest) = inputs.network(first, "for a gossip matrix of it say gossip=")
        return [word.removeprefix("--graph="), *rest]
    if command in ("account", "audit", "simulate") and first is not None:
        _fill(command, first if isinstance(first, Export) else load(first), flags)
    return []


def _fill(command: str, plan: Export, flags: Json) -> None:
    """The flags that follow from a plan, where they are not given."""
    manifest = plan.manifest
    if flags.get("run") is not None:  # what happened is in a folder
        flags["export"] = plan.directory
        return
    default = {"T": plan.steps, "participations": plan.k, "separation": plan.b}
    privacy = manifest.get("privacy", {})
    if command == "simulate":
        default.update({"methods": ["none", "dp-d-sgd", plan], "sampling": plan.scheme})
        if flags.get("mu") is None and flags.get("epsilon") is None:
            level = "epsilon" if "epsilon" in privacy and flags.get("delta") is None else "mu"
            default.update({key: privacy.get(key) for key in (level, "clip", "adjacency")})
    else:
        default.update({"export": plan.directory, "algorithm": "mf-d-sgd"})
    if command != "audit":
        default["delta"] = privacy.get("delta")
    network = getattr(plan, "origin", None) or _named_network(manifest)
    if flags.get("graph") is None and flags.get("gossip") is None:
        default.update(network)
    if plan.schema == "silo":  # which is in every step, and no name of a schema
        default = {**default, "participations": None, "separation": None, "schema": None, "unit": "silo"}
    elif plan.schema == "people":
        default |= {"schema": "cyclic", "unit": f"person:batches={manifest['participation']['person_batches']}"}
    for name, value in default.items():
        if name in flags and flags[name] is None:
            flags[name] = value


def _named_network(manifest: Json) -> Json:
    """The network of an export whose graph is a built-in one; of files the manifest does not say where they are."""
    network, schema = manifest.get("graph", {}), manifest["participation"]["schema"]
    found = {} if schema == "patterns" else {"schema": schema}
    if "source" in network and "sha256" not in network and "gossip_file" not in network:
        found.update({"graph": network["source"], "gossip": network.get("gossip"), "seed": network.get("seed")})
    return found


def _named(methods: Sequence[Any]) -> list[Any]:
    """The methods of a simulation, where plans have the names of their folders, or are called plan where these are temporary."""
    words: list[Any] = []
    taken: set[str] = set()
    for method in methods:
        if isinstance(method, Export):
            temporary = isinstance(method, Plan) and method._folder is not None
            name = base = "plan" if temporary else os.path.basename(os.path.abspath(method.directory))
            count = 1
            while name in taken:
                count += 1
                name = f"{base}{count}"
            taken.add(name)
            method = f"{name}={method.directory}"
        words.append(method)
    return words


def _directory(given: Any) -> str:
    directory = given.directory if isinstance(given, (Export, Result)) else given
    if directory is None:
        raise MafaldaError(f"{given!r:.80} has no folder")
    return os.path.abspath(os.fspath(directory))


def _plan(directory: str, folder: Folder | None, flags: Json) -> Plan:
    plan = load(directory)
    plan.origin = {name: flags[name] for name in _NETWORK if flags.get(name) is not None}
    if hasattr(plan.origin.get("graph"), "shape"):
        plan.origin["gossip"] = plan.origin.pop("graph")
    plan._folder = folder
    return plan
