"""A plan: an export, and what a node does with it. The top of this package: nothing below knows of it."""

from __future__ import annotations

import math
import os
from typing import Any, Iterable, NamedTuple

import numpy as np

from .canaries import make_canaries
from .errors import ExportError, MafaldaError, ProgramError
from ._export import Export, Level
from ._inputs import Inputs
from ._ledger import Ledger
from ._mix import mix_models
from ._noise_source import open_noise, open_rows
from ._people import owners_of
from ._plot import matrices as draw_matrices
from ._program import run
from ._results import Result, data_frame, report_html, result_of, write_report
from ._sampler import Sampler, make_sampler
from ._temporary import Folder
from ._types import Array, Json, Path


def load(directory: Path, sha256: str | None = None) -> Plan:
    """Read an export, and check it; an ExportError if it is not one, was changed, or contradicts itself.

    Checked are hashes of all files, names of nodes, that C⁻¹ is the inverse of C and C that of the parameters, its
    sensitivity, and that the noise level follows from the guarantee, as far as numpy goes: mafalda._checks says what is
    left to `mafalda verify`. Only regular files are opened.

    sha256 is Plan.hash of the export that the neighbours have, if it came by another way than the export did: another
    one is refused.
    """
    plan = Plan(os.fspath(directory))
    if sha256 is not None and sha256.lower() != plan.hash:
        raise ExportError(f"{directory} is another export: {plan.hash}, not {sha256}")
    return plan


class Spent(NamedTuple):
    """What is given away after some steps. mu is None where batches are drawn in secret, epsilon without a delta.

    node is who has spent that much, where nodes differ and none was asked for.
    """

    steps: int
    mu: float | None
    epsilon: float | None
    delta: float | None
    by: str
    node: str | None = None


class Plan(Export):
    """An export (see Export for its attributes), what the program says of it, and the batches, noise and gossip of its
    nodes.

    One that mafalda.optimize made without out= is in a temporary folder, which goes with this object: keep it as long
    as its noise is used, and say out= for a training that may be interrupted.

    Attributes: origin, the keywords of the network that optimize was called with, by the names of the program's flags.
    """

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self.origin: Json = {}
        self._folder: Folder | None = None
        self._spent: dict[tuple[int, str | None, float | None], Spent] = {}

    def verify(self) -> Result:
        """Checks the export from its bytes alone, as `mafalda verify` does; a ProgramError if a check does not hold."""
        return self._ask("verify", self.network_files, os.path.abspath(self.directory))

    def _ask(self, command: str, flags: Json, *words: str) -> Result:
        """What a command of the program finds."""
        folder = Folder()
        directory = folder.join("out") if command == "plot" else None
        flags = {**flags, "output": directory or flags.get("output")}
        asked = [command, *words, *Inputs(folder).words(command, flags), "--json"]
        return result_of(command, run(asked, folder), directory, folder)

    def report(self, out: Path, **options: Any) -> str:
        """Writes one HTML file to look at and to pass on; returns its path. Options: title, force."""
        return write_report([self.directory], out, **options)

    def _pictures(self) -> Result:
        """What the program draws of the export, and what not."""
        return self._ask("plot", self.network_files, os.path.abspath(self.directory))

    @property
    def figures(self) -> dict[str, str]:
        """Pictures of the export by name, as SVG: matrices, convergence, errors, spectrum."""
        return self._pictures().figures

    def plot(self, name: str = "errors", ax: Any = None, node: str | None = None) -> Any:
        """Draws one of the figures with matplotlib: errors over steps, matrices (the correlations C and their inverse),
        convergence, spectrum, and for secret batches sampling.

        ax: axes to draw on, of matrices two; new ones if it is left out. Returns them. node: whose matrices, where nodes
        have their own. What needs the network of a file that a loaded plan does not know is in
        mafalda.plot(plan, graph=…).plot("errors").
        """
        if name == "matrices":
            c = self.C if node is None else self._layer("C.npy", node)
            return draw_matrices({"strategy C": c, "noising matrix, the inverse of C": self.inverse(node)}, ax)
        return self._pictures().plot(name, ax)

    @property
    def network_files(self) -> Json:
        """What the network was read from, by the names of the program's flags; empty for built-in graphs and loaded
        plans."""
        graph, changes, found = self.manifest.get("graph", {}), self.origin.get("graph-changes"), {}
        if isinstance(changes, str):
            changes = dict(word.split(":", 1) for word in changes.split(",") if word.startswith("sequence:"))
        if changes and "sequence" in changes:
            found["graph-changes"] = {"sequence": changes["sequence"]}
        names = (["gossip"] if "gossip_file" in graph else []) + (["graph"] if "sha256" in graph else [])
        return found | {name: self.origin[name] for name in names if name in self.origin}

    def spent(self, steps: int, node: str | None = None, delta: float | None = None) -> Spent:
        """Returns what a run has given away after these steps, to everybody who sees all messages; never more than the
        plan's.

        node: by default the node that has spent the most. delta: that of the export. It is for a run whose end does not
        depend on the records: a run that stops because of what a model shows can claim the guarantee of the plan alone.
        """
        asked = (steps, node, delta)
        if asked not in self._spent:
            node = node and self.check_node(node)
            found = self._ask("epsilon", {"export": self, "step": steps, "node": node, "delta": delta})["spent"][0]
            self._spent[asked] = Spent(*(found.get(key) for key in Spent._fields))
        return self._spent[asked]

    def _promise(self, node: str | None) -> Level:
        """The privacy level of a node; without one, of the node with the least privacy."""
        found = self.level(node) if node is not None or "budgets" not in self.manifest else max(map(self.level, self.nodes), key=lambda x: x.mu)
        if found.noise_std is None:
            raise ExportError("the export has no privacy level: give mafalda.optimize epsilon and delta, or mu")
        return found

    @property
    def mu(self) -> float | None:
        """The whole run is μ-GDP: what everybody who sees all messages (of a plan whose nodes share noise: each coalition
        of the manifest) learns of one record or, where the plan is for them, of one person with all their records, or of one silo's
        whole update in every round.

        Neighbours are as the manifest's adjacency says, and replace-one is in the number. Where nodes have budgets it is
        the largest. None where batches are drawn in secret: no μ says what these hide, and epsilon does.
        """
        return self._promise(None).mu

    def epsilon(self, delta: float | None = None, node: str | None = None) -> float:
        """ε of the whole run for a δ (default: the export's), rounded up: of what unit and against whom mu says.

        At the export's δ it is the number of the manifest and of its report, which the program checks where batches are drawn
        in secret; at others its accountant says it.
        node: by default the one with the least privacy. Random bins know the export's δ alone.
        """
        level = self._promise(node)
        deltas = {x.delta for x in map(self.level, self.nodes)} if node is None and "budgets" in self.manifest else {level.delta}
        if delta is None and deltas != {level.delta} or delta is None and level.delta is None:
            raise ExportError("the export has no δ, or nodes have different ones: say delta=…")
        delta = level.delta if delta is None else delta
        if level.mu is not None and deltas == {delta}:
            return level.epsilon  # load has compared it with μ
        found = self.spent(self.steps, node, delta).epsilon
        return max(found, level.epsilon) if level.delta is not None and delta <= level.delta else found

    def delta(self, epsilon: float, node: str | None = None) -> float:
        """δ of the whole run for an ε, rounded up: of what unit and against whom mu says.

        Where batches are drawn in secret it is found with the program's ε of δ, a dozen calls, to a hundredth above.
        """
        level = self._promise(node)
        if level.mu is not None:
            return self._ask("epsilon", {"mu": level.mu, "epsilon": epsilon})["delta"]
        if not epsilon >= 0:
            raise ValueError(f"epsilon is a number from 0 on, not {epsilon!r}")
        low, high = 1e-100, level.delta if epsilon >= self.epsilon(level.delta, node) else 1.0
        if self.scheme == "bins":
            if high > level.delta:
                raise ExportError(f"the guarantee of random bins is for δ = {level.delta} alone: no δ is known for ε = {epsilon}, below {level.epsilon}")
            return level.delta
        while high > low * 1.01:
            middle = (low * high) ** 0.5
            try:
                reached = self.epsilon(middle, node) <= epsilon
            except ProgramError:
                if self.scheme != "truncated":  # whose dropped records take more than so small a δ
                    raise
                reached = False
            low, high = (low, middle) if reached else (middle, high)
        return high

    def dp_event(self, node: str | None = None) -> Any:
        """The whole run as an event of dp_accounting, for accountants of its default neighbours (ADD_OR_REMOVE_ONE): the
        Gaussian mechanism with the plan's μ, in which adjacency is. Of what unit and against whom mu says.

        An ExportError where batches are drawn in secret: no event has correlated noise with these, and composing
        sampled steps would say too little.
        """
        level = self._promise(node)
        if level.mu is None:
            raise ExportError(f"no event of dp_accounting is correlated noise for batches in secret ({self.scheme}): ask plan.epsilon and plan.delta")
        try:
            from dp_accounting import GaussianDpEvent
        except ImportError:
            raise MafaldaError("dp_accounting is not installed (pip install dp-accounting): the event is GaussianDpEvent(1 / plan.mu)") from None
        return GaussianDpEvent(math.nextafter(1 / level.mu, 0))

    @property
    def table(self) -> dict[str, Array]:
        """The strategy and the baselines, by columns: method, loss, and how much is left to gain (gap), NaN if unknown."""
        methods = {"mafalda": self.loss, **{name: found["loss"] for name, found in self.baselines.items()}}
        losses = np.array(list(methods.values()))
        return {"method": np.array(list(methods)), "loss": losses, "above_bound": losses / self.loss * (1 + self.manifest.get("gap", np.nan)) - 1}

    def to_pandas(self) -> Any:
        """The same table as a pandas DataFrame."""
        return data_frame(self.table)

    def _repr_html_(self) -> str:
        return report_html(self.directory, self._folder)

    sampler = make_sampler  # as canaries, noise, simulated and mix a function that takes the plan first

    canaries = make_canaries

    def audit(
        self,
        run: Path,
        coins: Path,
        confidence: float | None = None,
        attacker: str | None = None,
        out: Path | None = None,
    ) -> Result:
        """What the messages of a training that was recorded tell of its canaries; a ProgramError with result if it has
        a fault.

        attacker: the node whose mafalda.canaries.View the run is. out: a folder for the result, which mafalda report
        shows.
        """
        runs = None if confidence is None else {"confidence": confidence}
        given = {"run": {"run": run, "coins": coins}, "export": self, "runs": runs, "attacker": attacker, "output": out}
        return self._ask("audit", given)

    def ledger(self, records: int, owners: Iterable[Any] | None = None) -> Ledger:
        """Checks batches of another loader, record by record: ledger.admit(step, indices) raises a
        ParticipationError."""
        return Ledger(self, records, owners_of(self, records, owners))

    noise = open_noise

    simulated = open_rows

    def make_private(
        self,
        optimizer: Any,
        *,
        node: str | None = None,
        clip: float | None = None,
        state: Path | None = None,
        seed: int | None = None,
        sampler: Sampler | None = None,
        **options: Any,
    ) -> Any:
        """A torch optimizer whose steps are private: see mafalda.torch.PrivateOptimizer.

        The batches are those of sampler, or of loader; batches that the package did not draw are declared with
        participation="mine", and size. canaries=plan.canaries(…) and record="FOLDER" are for an audit of the training.
        """
        from .torch import PrivateOptimizer  # torch is optional

        return PrivateOptimizer(
            optimizer, self, node=node, clip=clip, state=state, seed=seed, sampler=sampler, **options
        )

    mix = mix_models

    def mix_all(self, stacked: Any, step: int | None = None) -> Any:
        """The gossip step of all nodes at once, W·stacked: row i is the model of plan.nodes[i], flat or in its shape.

        stacked is a torch tensor, on any device, or a numpy array (sparse W then needs scipy); a new one comes back. W is
        dense for up to 1,024 nodes, and sparse beyond; sums are in float32 at least. step is needed where networks take
        turns.
        """
        return self._gossip.mix_all(stacked, step)
