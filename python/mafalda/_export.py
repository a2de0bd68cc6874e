"""An export: its numbers, its network, its matrices, read and checked. plan.Plan adds what a node does with one."""

from __future__ import annotations

import math
import os
from functools import cached_property
from typing import Any, NamedTuple


from . import _checks, _files
from . import _manifest as manifests
from .errors import ExportError
from ._gossip import Gossip
from ._types import Array


class Pair(NamedTuple):
    """Two nodes that share a secret, and the standard deviation of what they share, in units of noise_std."""

    a: str
    b: str
    std: float


class Level(NamedTuple):
    """A privacy level: what gradients are clipped to, and the noise that their sum gets; what does not apply is None."""

    mu: float | None
    epsilon: float | None
    delta: float | None
    clip: float | None
    noise_std: float | None


def up(value: float, digits: int = 4) -> str:
    """A number that promises something, rounded up."""
    return str(math.ceil(value * 10**digits) / 10**digits)


class Export:
    """What all nodes of a training share: read by load, never changed.

    Attributes:
        steps       T; steps are counted from 0
        k, b        a record takes part at most k times, b steps apart; batches are made once, and step t uses batch
                    t mod b + b·(t div kb): for T > k·b a record rests before and after its k turns
        pairs       of nodes that share noise, in exports with secrets; empty in all others
        noise_std   standard deviation of Z, for the *sum* of clipped gradients; None without a privacy level
        clip        norm to which every record's gradient is clipped; None likewise. Where nodes have budgets of their own both
                    are of a node: level(node)
        nodes       labels, in the order of W's rows; empty without a network
        hash        SHA-256 of the manifest, and so of everything: neighbours compare it before they start
        manifest    docs/formats.md says what is in it
    """

    def __init__(self, directory: str) -> None:
        self.directory = directory
        self.manifest, self.hash = manifests.read(directory)
        self.steps: int = self.manifest["steps"]
        participation = self.manifest["participation"]
        self.schema: str = participation["schema"]
        self.k: int = participation["k"]
        self.b: int = participation["b"]
        self.scheme: str = self.manifest.get("sampling", {}).get("scheme", "cyclic")
        self.nodes: list[str] = []
        self._index: dict[str, int] = {}
        self._own: list[float] = []
        self.pairs: list[Pair] = []
        if "graph" in self.manifest:
            self._read_nodes()
        if "space" in self.manifest:
            self._read_pairs()
        turns = self.manifest["workload_spec"].get("graph_sequence", {}).get("networks", 1)
        self._gossip = Gossip(directory, self.manifest["files"], len(self.nodes), turns)
        self._used: set[str] = set()
        self._check_matrices()

    def __repr__(self) -> str:
        who = f"{len(self.nodes)} nodes" if self.nodes else "no network"
        said = [f"{self.directory!r}: {who}, {self.steps} steps, k={self.k}, b={self.b}, batches {self.scheme}"]
        if "budgets" in self.manifest:
            said.append("a privacy level a node: level(node)")
        elif self.noise_std is not None:
            level = self.level()
            numbers = ((name, getattr(level, name)) for name in ("epsilon", "delta", "mu"))
            said.append(", ".join(f"{name} {up(x) if name != 'delta' else x}" for name, x in numbers if x is not None))
            said.append(f"noise_std {level.noise_std:.6g} for clip {level.clip:g}")
        if {"loss", "gap"} <= self.manifest.keys():
            said.append(f"loss {self.loss:.6g}, at most {up(self.gap, 9)} above the least")
        return f"<{type(self).__name__} {'; '.join(said)}>"

    @property
    def noise_std(self) -> float | None:
        return self.level().noise_std

    @property
    def clip(self) -> float | None:
        return self.level().clip

    def level(self, node: str | None = None) -> Level:
        """The privacy level of a node: its own where nodes have budgets, and else the one of all; Nones for an export without privacy."""
        found = self.manifest.get("privacy", {})
        if node and not self._several:
            self.index(node)
        if "budgets" in self.manifest:
            if node is None:
                raise ExportError("every node has its own clip and noise in this export: level(node) has them")
            found = self.manifest["budgets"][self.index(node)]
        return Level(*(found.get(key) for key in Level._fields))

    @cached_property
    def contract(self) -> str:
        """What a node must do with this export for its guarantee to hold, in words."""
        return "\n".join(self.manifest["contract"])

    @property
    def W(self) -> Any:
        """The gossip matrix: an n×n float64 ndarray, read-only, or a scipy CSR matrix where the export has W.mtx.

        Of m networks that take turns it is m×n×n, and step t has W[t % m]; in CSR, block t mod m on the diagonal.
        """
        return self._gossip.matrix()

    def neighbours(self, node: str, step: int | None = None) -> dict[str, float]:
        """The nodes whose models a node averages, with their weights in its row of W; its own weight is left out.

        step is needed where networks take turns.
        """
        i = self.index(node)
        return {self.nodes[j]: w for j, w in self._gossip.row(i, step).items() if j != i}

    def weight(self, node: str, step: int | None = None) -> float:
        """The weight of a node's own model in the average, W[i,i]."""
        i = self.index(node)
        return self._gossip.row(i, step).get(i, 0.0)

    def receivers(self, node: str, step: int | None = None) -> list[str]:
        """The nodes that average a node's model: those it sends to. They are its neighbours where links have no direction."""
        i = self.index(node)
        return [self.nodes[j] for j in self._gossip.column(i, step) if j != i]

    def index(self, node: str) -> int:
        """The row of a node in W and in nodes.csv."""
        if node not in self._index:
            near = ", ".join(map(repr, self.nodes[:5])) + (", …" if len(self.nodes) > 5 else "")
            if self.nodes:
                raise ExportError(f"the export has no node {node!r}; its nodes are {near}")
            raise ExportError("the export is for several networks: averaging is yours" if self._several else "the export has no network")
        return self._index[node]

    @property
    def _several(self) -> bool:
        """Whether the export is for several networks, unknown which: a node has any label that no other node has."""
        return "graphs" in self.manifest.get("family", {})

    def own_std(self, node: str) -> float:
        """The deviation of a node's own part of Z in units of noise_std; 1 where nodes share nothing."""
        return self._own[self.index(node)] if self._own else 1.0

    @property
    def C(self) -> Array:
        """The strategy, T×T, lower triangular, memory-mapped; layers×T×T where nodes have their own."""
        return self._dense("C.npy")

    @property
    def C_inv(self) -> Array:
        """C⁻¹, as C: a node adds row t of C⁻¹Z in step t."""
        return self._dense("C_inv.npy")

    @property
    def loss(self) -> float:
        """sens(C)²·‖LC⁻¹‖², what was minimized."""
        return self._said("loss")

    @property
    def lower_bound(self) -> float:
        """No strategy has a smaller loss. manifest["lower_bound_of"] says if it is for an estimate.

        Where batches are drawn in secret the loss is of a record that takes part once, and gap is about the error.
        """
        return self._said("lower_bound")

    @property
    def gap(self) -> float:
        """The certificate: how much is left to gain, relatively, at most. It is (loss - lower_bound) / lower_bound or,
        where batches are drawn in secret, the same of error_at_privacy and sampling["lower_bound"] of the manifest.
        """
        return self._said("gap")

    @property
    def baselines(self) -> dict[str, dict[str, float]]:
        """What other strategies have on the same problem, by name: loss, squared error, and more."""
        return self.manifest.get("baselines", {})

    def _said(self, key: str) -> Any:
        if key not in self.manifest:
            raise ExportError(f"the manifest of this export has no {key}")
        return self.manifest[key]

    def _dense(self, name: str) -> Array:
        if name not in self.manifest["files"]:
            raise ExportError(f"the export has no {name}: its format is parameters-only, or csv")
        layers = [None] if "per_node" in self.manifest else []
        return _files.open_array(os.path.join(self.directory, name), (*layers, self.steps, self.steps))

    def inverse(self, node: str | None = None) -> Array:
        """C⁻¹ of a node, T×T, lower triangular, memory-mapped."""
        return self._layer("C_inv.npy", node)

    def _layer(self, name: str, node: str | None) -> Array:
        found = self._dense(name)
        return found[self.manifest["per_node"]["layers"][self.index(node or "")]] if found.ndim == 3 else found

    def check_node(self, node: str | None, needed: bool = False) -> str:
        """The label of a node of the export, checked; of the only one, if there is one, or needed and this export was used for one."""
        if node is None and len(self.nodes) == 1:
            node = self.nodes[0]
        if node is None and needed and len(self._used) == 1:
            return next(iter(self._used))
        if not self.nodes and node in (None, "") and not self._several:
            return ""
        if not node:
            raise ExportError("which node is this? Say node=…" + (", a label that no other node has" if self._several else ""))
        if not self._several:
            self.index(node)
        self._used.add(node)
        return node

    def _read_nodes(self) -> None:
        shared = "space" in self.manifest
        rows = self._table("nodes.csv", ["index", "label", "degree"] + (["own_std"] if shared else []))
        self.nodes = [row[1] for row in rows]
        self._index = {label: i for i, label in enumerate(self.nodes)}
        if len(self._index) != len(self.nodes) or [row[0] for row in rows] != [str(i) for i in range(len(rows))]:
            raise ExportError("nodes.csv has a label twice, or is out of order")
        if len(self.nodes) != self.manifest["graph"]["nodes"]:
            raise ExportError(f"nodes.csv has {len(self.nodes)} nodes, the manifest {self.manifest['graph']['nodes']}")
        if [level["node"] for level in self.manifest.get("budgets", [])] not in ([], self.nodes):
            raise ExportError("budgets are of other nodes than nodes.csv has")
        if shared:
            self._own = [_files.number(row[3], "nodes.csv") for row in rows]

    def _read_pairs(self) -> None:
        rows = self._table("pairs.csv", ["label", "label", "std"])
        seen: set[frozenset[str]] = set()
        for a, b, std in rows:
            self.index(a), self.index(b)
            if a == b or frozenset((a, b)) in seen:
                raise ExportError(f"pairs.csv has the pair of {a!r} and {b!r} twice, or a node with itself")
            seen.add(frozenset((a, b)))
            self.pairs.append(Pair(a, b, _files.number(std, "pairs.csv")))

    def _table(self, name: str, columns: list[str]) -> list[list[str]]:
        if name not in self.manifest["files"]:
            raise ExportError(f"the export has no {name}")
        return _files.read_table(os.path.join(self.directory, name), columns)

    def _check_matrices(self) -> None:
        """Noise by C⁻¹ protects what C says only if it is the inverse, and C what the manifest says only if it is its own."""
        names = {"C.npy", "C_inv.npy"} & self.manifest["files"].keys()
        strategy, per_node = self.manifest["strategy"], self.manifest.get("per_node")
        if len(names) < 2:
            if names or per_node or strategy["class"] == "dense" and "C.csv" not in self.manifest["files"]:
                raise ExportError("the export has not both of C.npy and C_inv.npy")
            if strategy["class"] != "dense":
                _checks.check_parameters(self.manifest)
            return
        c, inverse = self.C, self.C_inv
        if c.shape != inverse.shape:
            raise ExportError(f"C.npy is {c.shape}, C_inv.npy {inverse.shape}")
        if per_node:
            _checks.check_layers(per_node, len(c), len(self.nodes))
        for x, y in zip(c, inverse) if c.ndim == 3 else [(c, inverse)]:
            _checks.check_matrix(self.manifest, x, y)
