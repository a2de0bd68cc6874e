"""Makes mafalda/commands.py of commands.json, which `mafalda describe` prints. `make python` does both.

A flag of the program is a keyword here, with a type and what help says of it; mafalda.call says what they are called.
"""

import json
import pathlib
import sys
import textwrap
import types

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
package = types.ModuleType("mafalda")  # without its __init__, which imports functions that may not be made yet
package.__path__ = [str(HERE / "mafalda")]
sys.modules.setdefault("mafalda", package)
from mafalda.call import COMMANDS, FIRST, OURS, keyword  # noqa: E402

HEAD = '''"""The commands of the program as functions. Made by generate.py of commands.json: do not change it by hand.

None stands for the program's default. progress: a bar on a terminal and in a notebook (None), always (True), never (False),
or a function that hears what is being done and how much of it is done. binary: the program.
"""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import numpy as np

from .call import call
from .export import Export
from .plan import Plan
from .progress import Progress
from .results import Result

Path = str | os.PathLike[str]
Graph = Any  # a path, the name of a built-in graph, a networkx graph; where a network is asked for also a gossip matrix W
Matrix = Any  # a path, a square numpy array or scipy.sparse matrix
'''
TYPES = {
    "bool": "bool | None",
    "int": "int | None",
    "uint": "int | None",
    "ints": "int | Sequence[int] | None",
    "float64": "float | None",
    "string": "str | None",
    "float64Slice": "float | Sequence[float] | None",
    "stringSlice": "Sequence[str | Path | Export] | None",
    "stringArray": "Graph | Sequence[Graph]",
    "ints": "int | Sequence[int] | None",
    "bytes": "int | str | None",
    "duration": "str | None",
}
TYPE_OF = {  # of flags that take more in Python than in the shell
    "graph": "Graph",
    "gossip-matrix": "Matrix",
    "graph-sequence": "Path | Sequence[Graph] | None",
    "schema": "str | Path | Sequence[Sequence[int]] | None",
    "curvature": "float | Path | Sequence[float] | np.ndarray | None",
    "learning-rates": "str | Path | Sequence[float] | None",
    "secrets": "str | Path | Sequence[Sequence[str]] | None",
    "coalitions": "str | Path | Sequence[Sequence[str]] | None",
    "attacker": "str | Sequence[str] | None",
    "observer": "str | Sequence[str] | None",
    "values": "Path | Mapping[str, float] | None",
    "chosen": "Path | Mapping[str, str] | None",
    "sequence": "Path | Sequence[Graph] | None",
    "export": "Path | Export | None",
    "run": "Path | None",
    "coins": "Path | None",
    "start": "Path | Export | None",
    "output": "Path | None",
    "checkpoint": "Path | None",
    "data": "Path | np.ndarray | None",
    "convex": "float | str | None",
    "clipped-convex": "float | str | None",
    "smooth": "float | str | None",
    "lipschitz": "float | str | None",
    "strongly-convex": "str | Sequence[float] | None",
}
PLAN = "Path | Export | None"
RETURNS = {"optimize": "Plan", "report": "str"}
ABOUT = {
    "account": "of a plan its steps, participation, network and algorithm are taken, where no keyword says otherwise",
    "audit": "of a plan its steps, participation, network and algorithm are taken, where no keyword says otherwise",
    "simulate": "a plan, which is compared with none and dp-d-sgd at its own privacy, where no keyword says otherwise",
    "verify": "a plan, or the folder of an export",
    "plot": "a plan, or the folder of an export",
    "report": "plans, results, or their folders",
    "graph": "a path, the name of a built-in graph, or a networkx graph",
}


def function(command):
    name = command["name"]
    flags = [f for f in command["flags"] if f["name"] not in OURS]
    first = FIRST.get(name)
    by_flag = {keyword(name, f["name"]): f for f in flags}
    if name in ("verify", "plot", "graph"):
        parameters = [f"{first}: {'Graph' if name == 'graph' else 'Path | Export'}"]
    elif name == "report":
        parameters = [f"*{first}: Path | Export | Result"]
    elif first == "plan":
        parameters = [f"{first}: {PLAN} = None"]
    elif first:
        parameters = [f"{first}: {TYPE_OF[first]} = None"]
    else:
        parameters = []
    parameters += ["*"] if name != "report" else []
    parameters += [f"{key}: {kind(f)} = None" for key, f in by_flag.items() if key != first]
    parameters += ["progress: Progress = None", "binary: str | None = None"]
    lines = [f"def {name}("] + [f"    {p}," for p in parameters] + [f") -> {RETURNS.get(name, 'Result')}:"]
    return "\n".join(lines) + "\n" + textwrap.indent(docstring(command, by_flag, first), "    ") + f'    return call("{name}", locals())\n'


def kind(flag):
    found = TYPE_OF.get(flag["name"]) or TYPES[flag["type"]]
    return found if found in ("Graph", "Matrix") or found.endswith("None") else found + " | None"


def docstring(command, by_flag, first):
    paragraphs = [command["short"] + ".", plain(command.get("long", ""))]
    lines = []
    if first not in by_flag and first:
        lines.append(entry(first, ABOUT[command["name"]]))
    for key, f in by_flag.items():
        said = f["usage"] if f["name"] != "output" or command["name"] == "report" else "folder that keeps the result; without one it goes with the object"
        default = f.get("default", "")
        if default not in ("", "0", "false", "[]") and "(default" not in said and f["name"] != "output":
            said += f" (default {default.strip('[]')})"
        lines.append(entry(key, said))
    text = "\n\n".join(p for p in paragraphs if p) + "\n\nKeywords:\n" + "\n".join(lines)
    return '"""' + text.replace("\\", "\\\\").replace('"""', "'''") + '\n"""\n'


def plain(text):
    return "\n\n".join(textwrap.fill(" ".join(p.split()), 110, break_on_hyphens=False) if "\n " not in "\n" + p else p for p in text.split("\n\n") if not p.startswith("Exit codes:"))


def entry(key, said):
    body = textwrap.fill(" ".join(said.split()), 110, initial_indent=" " * 8, subsequent_indent=" " * 8, break_on_hyphens=False)
    return f"    {key}\n{body}"


def module(commands):
    found = {command["name"]: command for command in commands}
    return HEAD + "".join("\n\n" + function(found[name]) for name in COMMANDS)


if __name__ == "__main__":
    commands = json.loads((HERE / "commands.json").read_text(encoding="utf-8"))
    (HERE / "mafalda" / "commands.py").write_text(module(commands), encoding="utf-8")
