"""An export, as a node uses it."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple

import numpy as np

from . import checks, files
from . import manifest as manifests
from .contract import contract
from .errors import ExportError
from .gossip import Gossip

if TYPE_CHECKING:
    from .ledger import Ledger
    from .noise import Noise
    from .sampler import Sampler


class Pair(NamedTuple):
    """Two nodes that share a secret, and the standard deviation of what they share, in units of noise_std."""

    a: str
    b: str
    std: float


def load(directory: str | os.PathLike[str], sha256: str | None = None) -> "Plan":
    """Read an export, and check it; an ExportError if it is not one, was changed, or contradicts itself.

    Checked are hashes of all files, names of nodes, that C⁻¹ is the inverse of C and C that of the parameters, its
    sensitivity, and that the noise level follows from the guarantee, as far as numpy goes: mafalda.checks says what is left
    to `mafalda verify`. Only regular files are opened.

    sha256 is Plan.hash of the export that the neighbours have, if it came by another way than the export did: another one
    is refused.
    """
    plan = Plan(os.fspath(directory))
    if sha256 is not None and sha256.lower() != plan.hash:
        raise ExportError(f"{directory} is another export: {plan.hash}, not {sha256}")
    return plan


class Plan:
    """What all nodes of a training share: made by load, never changed.

    Attributes:
        steps       T; steps are counted from 0
        k, b        a record takes part at most k times, b steps apart; batches are made once, and step t uses batch t mod b
        pairs       of nodes that share noise, in exports with secrets; empty in all others
        noise_std   standard deviation of Z, for the *sum* of clipped gradients; None without a privacy level
        clip        norm to which every record's gradient is clipped; None likewise
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
        self.noise_std: float | None = self.manifest.get("privacy", {}).get("noise_std")
        self.clip: float | None = self.manifest.get("privacy", {}).get("clip")
        self.scheme: str = self.manifest.get("sampling", {}).get("scheme", "cyclic")
        self.nodes: list[str] = []
        self._index: dict[str, int] = {}
        self._own: list[float] = []
        self.pairs: list[Pair] = []
        if "graph" in self.manifest:
            self._read_nodes()
        if "space" in self.manifest:
            self._read_pairs()
        turns = self.manifest.get("workload_spec", {}).get("graph_sequence", {}).get("networks", 1)
        self._gossip = Gossip(directory, self.manifest["files"], len(self.nodes), turns)
        self._used: set[str] = set()
        self._check_matrices()

    def __repr__(self) -> str:
        return f"Plan({self.directory!r}, {len(self.nodes)} nodes, {self.steps} steps, k={self.k}, b={self.b}, {self.scheme})"

    @cached_property
    def contract(self) -> str:
        """What a node must do with this export for its guarantee to hold, in words."""
        return contract(self)

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
            near = ", ".join(self.nodes[:5]) + (", …" if len(self.nodes) > 5 else "")
            raise ExportError(
                f"the export has no node {node!r}; its nodes are {near}" if self.nodes else "the export has no network"
            )
        return self._index[node]

    def own_std(self, node: str) -> float:
        """The deviation of a node's own part of Z in units of noise_std; 1 where nodes share nothing."""
        return self._own[self.index(node)] if self._own else 1.0

    def inverse(self, node: str | None = None) -> np.ndarray:
        """C⁻¹ of a node, T×T, lower triangular, memory-mapped."""
        if "C_inv.npy" not in self.manifest["files"]:
            raise ExportError("the export has no C_inv.npy: it was made with --no-dense, or as CSV")
        inverse = self._array("C_inv.npy")
        return inverse[self.manifest["per_node"]["layers"][self.index(node or "")]] if inverse.ndim == 3 else inverse

    def sampler(
        self,
        records: int,
        *,
        node: str | None = None,
        state: str | os.PathLike[str] | None = None,
        seed: int | None = None,
        new: bool | None = None,
    ) -> "Sampler":
        """The batches of a node with so many records: a torch batch_sampler, and an iterator over lists of record numbers.

        state is a file that keeps the cut (and, where the export is for secret batches, the key they are drawn from) over
        restarts; without one, batches that must be secret need a seed, for simulations. What the export is not private
        for raises a ParticipationError.

        A state that is not there is begun, unless the node had a batch of another one in this folder (batches-begun-….json
        says so). new=True says that this is a run of its own, and refuses a state that is there; new=False refuses one
        that is not. One process at a time has a state; sampler.close() lets go of it.
        """
        from .sampler import make

        return make(self, records, self._node(node), state, seed, new)

    def ledger(self, records: int) -> "Ledger":
        """Checks batches of another loader, record by record: ledger.admit(step, indices) raises a ParticipationError."""
        from .ledger import Ledger

        return Ledger(self, records)

    def noise(
        self, node: str, dim: int, state: str | os.PathLike[str] | None = None, seed: int | None = None, **options: Any
    ) -> "Noise":
        """The rows of a node's noise for a model of dim parameters, one a step.

        state: real noise. `mafalda noise serve` is started on this file, which keeps the secret key and the place. seed:
        simulated noise, that of `mafalda noise --seed`, bit for bit, which protects nothing. Exactly one of the two.

        A state that is not there is begun, unless the node had a row of another one in this folder (noise-begun-….json
        says so): then the name is wrong or the state is gone, and a run cannot go on with a new one. new=True says that
        this is a run of its own, and refuses a state that is there; new=False refuses one that is not.

        Other options with state: binary, the program (default: $MAFALDA, or mafalda on the PATH); counter; and for
        exports with pairs key, peers and runs (see mafalda.keys). With either: noise_std, not below that of the export.
        """
        from .noise import open_noise

        self._node(node)
        return open_noise(self, node, dim, state, seed, **options)

    def make_private(
        self,
        optimizer: Any,
        *,
        node: str,
        clip: float | None = None,
        state: str | os.PathLike[str] | None = None,
        seed: int | None = None,
        sampler: "Sampler | None" = None,
        **options: Any,
    ) -> Any:
        """A torch optimizer whose steps are private: see mafalda.torch.PrivateOptimizer.

        The batches are those of sampler, or of loader; batches that the package did not draw are declared with
        participation="mine", and size.
        """
        from .torch import PrivateOptimizer

        self._node(node)
        return PrivateOptimizer(
            optimizer, self, node=node, clip=clip, state=state, seed=seed, sampler=sampler, **options
        )

    def mix(
        self,
        model: Any,
        received: Mapping[str, Any],
        *,
        node: str | None = None,
        step: int | None = None,
        missing: str = "self",
    ) -> Any:
        """The gossip step: the average of a node's model and those it received (by label), with the weights of W.

        See mafalda.mix.mix; a torch module is changed in place, of a flat array the average is returned.
        """
        from .mix import mix

        return mix(self, self._node(node, needed=True), model, received, step, missing)

    def _node(self, node: str | None, needed: bool = False) -> str:
        """Checks a label. If there is none, it is the only one that this plan was used for."""
        if node is None and needed and len(self._used) == 1:
            return next(iter(self._used))
        if not self.nodes and not node:
            return ""
        if node is None:
            raise ExportError("which node is this? Say node=…")
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
        if shared:
            self._own = [files.number(row[3], "nodes.csv") for row in rows]

    def _read_pairs(self) -> None:
        """Pairs, and whether they protect what the manifest says: see checks.check_space."""
        rows = self._table("pairs.csv", ["label", "label", "std"])
        seen: set[frozenset[str]] = set()
        for a, b, std in rows:
            self.index(a), self.index(b)
            if a == b or frozenset((a, b)) in seen:
                raise ExportError(f"pairs.csv has the pair of {a!r} and {b!r} twice, or a node with itself")
            seen.add(frozenset((a, b)))
            self.pairs.append(Pair(a, b, files.number(std, "pairs.csv")))
        shares = [(self.index(a), self.index(b), std**2) for a, b, std in self.pairs]
        checks.check_space(self.manifest["space"], self.nodes, [own**2 for own in self._own], shares)

    def _table(self, name: str, columns: list[str]) -> list[list[str]]:
        if name not in self.manifest["files"]:
            raise ExportError(f"the export has no {name}")
        return files.read_table(os.path.join(self.directory, name), columns)

    def _array(self, name: str) -> np.ndarray:
        """C.npy or C_inv.npy."""
        steps, layers = self.steps, ([None] if "per_node" in self.manifest else [])
        return files.open_array(os.path.join(self.directory, name), (*layers, steps, steps))

    def _check_matrices(self) -> None:
        """Noise by C⁻¹ protects what C says only if it is the inverse, and C what the manifest says only if it is its own."""
        names = {"C.npy", "C_inv.npy"} & self.manifest["files"].keys()
        strategy, per_node = self.manifest["strategy"], self.manifest.get("per_node")
        if len(names) < 2:
            if names or per_node or strategy["class"] == "dense" and "C.csv" not in self.manifest["files"]:
                raise ExportError("the export has not both of C.npy and C_inv.npy")
            if strategy["class"] != "dense" and self.steps <= checks.LONGEST:
                checks.check_matrix(self.manifest, checks.matrix(strategy, self.steps))
            return
        c, inverse = self._array("C.npy"), self._array("C_inv.npy")
        if c.shape != inverse.shape:
            raise ExportError(f"C.npy is {c.shape}, C_inv.npy {inverse.shape}")
        if per_node:
            checks.check_layers(per_node, len(c), len(self.nodes))
        for x, y in zip(c, inverse) if c.ndim == 3 else [(c, inverse)]:
            with np.errstate(over="ignore", invalid="ignore"):  # what overflows is none
                error = np.linalg.norm(x @ y - np.eye(self.steps))
            if not error <= 1e-9 or np.triu(y, 1).any():
                raise ExportError("C_inv.npy is not the inverse of C.npy")
            checks.check_matrix(self.manifest, x)
