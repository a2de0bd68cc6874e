"""The modules of the package form a ladder: each imports only modules below it, inside functions and for types, too."""

import ast
import pathlib

import mafalda

FOLDER = pathlib.Path(mafalda.__file__).parent


def imports_of(path):
    """The modules of the package that a module names anywhere in an import."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            found |= {node.module.split(".")[0]} if node.module else {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "mafalda":
            found |= set(node.module.split(".")[1:2]) or {name.name for name in node.names} | {"__init__"}
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.split(".")[0] == "mafalda":
                    found |= set(name.name.split(".")[1:2]) or {"__init__"}
    return {name if (FOLDER / f"{name}.py").exists() else "__init__" for name in found}


def circle(graph):
    """A list of modules of which each imports the next, and the last the first; None if there is none."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module) :]
        if module in done:
            return None
        path.append(module)
        for below in sorted(graph[module]):
            found = visit(below)
            if found:
                return found
        done.add(path.pop())
        return None

    return next((found for found in map(visit, sorted(graph)) if found), None)


def test_no_module_imports_itself_around_a_corner():
    graph = {path.stem: imports_of(path) for path in FOLDER.glob("*.py")}
    assert graph["_plan"] >= {"_export", "_noise_source", "_sampler", "torch"}, "imports are not found"
    assert circle(graph) is None


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]
