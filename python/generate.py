"""Makes mafalda/_commands.py of commands.json, which `mafalda describe` prints. `make python` does both.

A flag of the program is a keyword here, with a type and what help says of it: those that are used often first, then by groups.
mafalda._keywords says what they are called.
"""

import json
import pathlib
import re
import sys
import textwrap
import types

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
package = types.ModuleType("mafalda")  # without its __init__, which imports functions that may not be made yet
package.__path__ = [str(HERE / "mafalda")]
sys.modules.setdefault("mafalda", package)
from mafalda._call import OURS  # noqa: E402
from mafalda._keywords import COMMANDS, keyword, words  # noqa: E402

HEAD = '''"""The commands of the program as functions. Made by generate.py of commands.json: do not change it by hand.

None stands for the program's default. A keyword of several parts takes them as the program does, "momentum:0.9,nesterov", or as a
mapping, {"momentum": 0.9, "nesterov": True}; what they are parts of is under its own name: {"trust": "secldp", "coalitions": 2}. progress: a bar on a terminal and in a notebook (None), always (True), never (False),
or a function that hears what is being done and how much of it is done. binary: the program.
"""

from __future__ import annotations

from typing import Any, Literal, Mapping, Sequence

from ._call import call
from ._export import Export
from ._plan import Plan
from ._progress import Progress
from ._results import Result
from ._types import Array, Path

# What may be None, which is the program's default
Flag = bool | None
Whole = int | None
Number = float | None
Numbers = float | Sequence[float] | None
Text = str | None
Source = Path | Export | None
Rates = Path | Sequence[float] | None
Schema = Path | Sequence[Sequence[int]] | None
Adjacency = Literal["zero-out", "replace-one"] | None
Parts = str | Mapping[str, Any] | None
Graph = Any  # a path, the name of a built-in graph, a networkx graph; where a network is asked for also a gossip matrix W
Matrix = Any  # a path, a square numpy array or scipy.sparse matrix
'''
FIRST = {  # the parameter that needs no keyword
    "optimize": "graph",
    "account": "plan",
    "audit": "plan",
    "simulate": "plan",
    "benchmark": "graph",
    "sampling": "graph",
    "advise": "graph",
    "average": "graph",
    "graph": "graph",
    "verify": "plan",
    "plot": "plan",
    "report": "results",
    "spent": "description",
}
TYPES = {
    "bool": "bool",
    "int": "int",
    "uint": "int",
    "ints": "int | Sequence[int]",
    "float64": "float",
    "string": "str",
    "float64Slice": "float | Sequence[float]",
    "stringSlice": "Sequence[Path | Export]",
    "bytes": "int | str",
    "duration": "str",
    "parts": "str",
}
OPTIONAL = {
    "bool": "Flag",
    "int": "Whole",
    "float": "Number",
    "float | Sequence[float]": "Numbers",
    "str": "Text",
    "Path | Export": "Source",
    "Path | Sequence[float]": "Rates",
    "Path | Sequence[Sequence[int]]": "Schema",
    'Literal["zero-out", "replace-one"]': "Adjacency",
}
TYPE_OF = {  # of flags that take more in Python than in the shell
    "graph": "Graph",
    "gossip": "Matrix",
    "schema": "Path | Sequence[Sequence[int]]",
    "curvature": "float | Path | Sequence[float] | Array",
    "learning-rates": "Path | Sequence[float]",
    "attacker": "str | Sequence[str]",
    "observer": "str | Sequence[str]",
    "values": "Path | Mapping[str, float]",
    "export": "Path | Export",
    "run": "Path",
    "start": "Path | Export",
    "output": "Path",
    "checkpoint": "Path",
    "data": "Path | Array",
}
RETURNS = {"optimize": "Plan", "report": "str"}
ABOUT = {
    "account": "of a plan its steps, participation, network and algorithm are taken, where no keyword says otherwise",
    "audit": "of a plan its steps, participation, network and algorithm are taken, where no keyword says otherwise",
    "simulate": "a plan, which is compared with none and dp-d-sgd at its own privacy, where no keyword says otherwise",
    "verify": "a plan, or the folder of an export",
    "plot": "a plan, or the folder of an export",
    "report": "plans, results, or their folders",
    "spent": "the path of a description, TOML",
    "graph": "a path, the name of a built-in graph, or a networkx graph",
}


def function(command):
    name, first = command["name"], FIRST.get(command["name"])
    flags = [f for f in command["flags"] if f["name"] not in OURS]
    flags.sort(key=lambda f: (not required(command, f), not f.get("often"), f.get("group", "")))
    by_flag = {keyword(name, f["name"]): f for f in flags}
    if name in ("verify", "plot", "graph"):
        parameters = [f"{first}: {'Graph' if name == 'graph' else 'Path | Export'}"]
    elif name == "spent":
        parameters = [f"{first}: Path"]
    elif name == "report":
        parameters = [f"*{first}: Path | Export | Result"]
    elif first == "plan":
        parameters = [f"{first}: Source = None"]
    elif first:
        parameters = [f"{first}: {TYPE_OF[first]} = None"]
    else:
        parameters = []
    parameters += ["*"] if name != "report" else []
    parameters += [f"{key}: {annotated(command, f)}" for key, f in by_flag.items() if key != first]
    parameters += ["progress: Progress = None", "binary: Text = None"]
    lines = [f"def {name}("] + [f"    {p}," for p in parameters] + [f") -> {RETURNS.get(name, 'Result')}:"]
    return "\n".join(lines) + "\n" + textwrap.indent(docstring(command, by_flag, first), "    ") + f'    return call("{name}", locals())\n'


def required(command, flag):
    """Whether a command has no default for it; a plan may say it."""
    return "(required)" in flag["usage"] and FIRST.get(command["name"]) != "plan"


def annotated(command, flag):
    """The type of a keyword and its default, None unless the command needs it."""
    found = kind(flag)
    if required(command, flag):
        return found
    found = OPTIONAL.get(found, found.replace("str | Mapping[str, Any]", "Parts"))
    takes_none = found in ("Graph", "Matrix", *OPTIONAL.values()) or "Parts" in found
    return found + (" = None" if takes_none else " | None = None")


def kind(flag):
    found = TYPE_OF.get(flag["name"]) or TYPES.get(flag["type"], "Graph")
    if flag.get("parts"):
        return (found if found.endswith("str") else f"{found} | str") + " | Mapping[str, Any]"
    if flag.get("words") and found == "str":
        return "Literal[" + ", ".join(f'"{word}"' for word in flag["words"]) + "]"
    return found


def docstring(command, by_flag, first):
    name = command["name"]
    paragraphs = [command["short"] + ".", plain(name, command.get("long", ""))]
    lines = []
    if first not in by_flag and first:
        lines.append(entry(first, "", ABOUT[name]))
    for key, f in by_flag.items():
        said = f["usage"] if f["name"] != "output" or name == "report" else "folder that keeps the result; without one it goes with the object"
        default = f.get("default", "").strip("[]")
        shown = default not in ("", "0", "false") and "(default" not in said and f["name"] != "output"
        of = kind(f).replace("Matrix", "str | Matrix") + (f", default {default}" if shown else "")
        lines.append(entry(key, of, words(name, said)))
        for part in f.get("parts", []):
            lines.append(textwrap.indent(entry(part["name"].replace("-", "_"), TYPES[part["type"]], words(name, part["usage"])), "    "))
    text = "\n\n".join(p for p in paragraphs if p) + "\n\nParameters\n----------\n" + "\n".join(lines)
    return '"""' + text.replace("\\", "\\\\").replace('"""', "'''") + '\n"""\n'


def plain(command, text):
    paragraphs = (words(command, p) for p in text.split("\n\n") if not p.startswith("Exit codes:"))
    return "\n\n".join(textwrap.fill(" ".join(p.split()), 110, break_on_hyphens=False) if "\n " not in "\n" + p else p for p in paragraphs)


def entry(key, of, said):
    body = textwrap.fill(" ".join(said.split()), 110, initial_indent=" " * 4, subsequent_indent=" " * 4, break_on_hyphens=False)
    return f"{key} : {of}".removesuffix(" : ") + f"\n{body}"


def module(commands):
    found = {command["name"]: command for command in commands}
    return HEAD + "".join("\n\n" + function(found[name]) for name in COMMANDS)


if __name__ == "__main__":
    commands = json.loads((HERE / "commands.json").read_text(encoding="utf-8"))
    (HERE / "mafalda" / "_commands.py").write_text(module(commands), encoding="utf-8")
