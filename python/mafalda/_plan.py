"""A plan: an export, and what a node does with it. The top of this package: nothing below knows of it."""

from __future__ import annotations

import json
import math
import os
from typing import Any, Hashable, Iterable, Mapping, NamedTuple

import numpy as np

from .canaries import Canaries
from .canaries import make as make_canaries
from .errors import ExportError, MafaldaError, ProgramError
from ._export import Export, Level
from ._inputs import Inputs, plain
from ._ledger import Ledger
from ._mix import mix as mix_models
from ._noise import Noise
from ._noise_source import open_noise, open_rows
from ._simulated import SimulatedRows
from ._people import owners_of
from ._plot import matrices as draw_matrices
from ._program import check
from ._program import run as run_program
from ._results import Result, data_frame, report_html, result_of, write_report
from ._sampler import Sampler
from ._sampler import make as make_sampler
from ._temporary import Folder


def load(directory: str | os.PathLike[str], sha256: str | None = None) -> Plan:
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
        self.origin: dict[str, Any] = {}
        self._folder: Folder | None = None
        self._spent: dict[tuple[int, str | None, float | None], Spent] = {}

    def verify(self) -> Result:
        """Checks the export from its bytes alone, as `mafalda verify` does; a ProgramError if a check does not hold."""
        folder = Folder()
        words = ["verify", os.path.abspath(self.directory), *Inputs(folder).words("verify", self.network_files), "--json"]
        return result_of("verify", run_program(words, folder))

    def report(self, out: str | os.PathLike[str], **options: Any) -> str:
        """Writes one HTML file to look at and to pass on; returns its path. Options: title, force."""
        return write_report([self.directory], out, **options)

    def _pictures(self) -> Result:
        """What the program draws of the export, and what not."""
        folder, words = Folder(), ["plot", os.path.abspath(self.directory), "--json"]
        words += [*Inputs(folder).words("plot", self.network_files), f"--output={folder.join('pictures')}"]
        return result_of("plot", run_program(words, folder), folder.join("pictures"), folder)

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
            c = self.C if node is None or self.C.ndim == 2 else self.C[self.manifest["per_node"]["layers"][self.index(node)]]
            return draw_matrices({"strategy C": c, "noising matrix, the inverse of C": self.inverse(node)}, ax)
        return self._pictures().plot(name, ax)

    @property
    def network_files(self) -> dict[str, Any]:
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
            of = {"export": os.path.abspath(self.directory), "step": steps, "node": node and self.check_node(node), "delta": delta}
            found = self._account(of)["spent"][0]
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
            return self._account({"mu": level.mu, "epsilon": epsilon})["delta"]
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

    def _account(self, of: dict[str, Any]) -> dict[str, Any]:
        return json.loads(check(run_program(["epsilon", *plain(of), "--json"]), "epsilon"))

    @property
    def table(self) -> dict[str, np.ndarray]:
        """The strategy and the baselines, by columns: method, loss, and how much is left to gain (gap), NaN if unknown."""
        methods = {"mafalda": self.loss, **{name: found["loss"] for name, found in self.baselines.items()}}
        losses = np.array(list(methods.values()))
        return {"method": np.array(list(methods)), "loss": losses, "above_bound": losses / self.loss * (1 + self.manifest.get("gap", np.nan)) - 1}

    def to_pandas(self) -> Any:
        """The same table as a pandas DataFrame."""
        return data_frame(self.table)

    def _repr_html_(self) -> str:
        return report_html(self.directory, self._folder)

    def sampler(
        self,
        records: int,
        *,
        node: str | None = None,
        state: str | os.PathLike[str] | None = None,
        seed: int | None = None,
        new: bool | None = None,
        owners: Iterable[Any] | None = None,
        pad: bool = False,
    ) -> Sampler:
        """The batches of a node with `records` records: a torch batch_sampler, and an iterator over lists of record
        numbers.

        state is a file that keeps the cut (and, where the export is for secret batches, the key they are drawn from)
        over restarts; without one, batches that must be secret need a seed, for simulations. What the export is not
        private for raises a ParticipationError.

        A state that is not there is begun, unless the node had a batch of another one in this folder
        (batches-begun-….json says so). new=True says that this is a run of its own, and refuses a state that is there;
        new=False refuses one that is not. One process at a time has a state; sampler.close() lets go of it.

        owners says whose each record is (any hashable values, one a record), for exports that protect persons: then
        whole persons are dealt to batches, and make_private clips what all records of a person add to a batch together.
        A list or a set is for a record with several owners, each of whom is protected with it: records are then chosen
        so that no person is in more batches, or with more in one, than the export allows, and sampler.left_out has those
        that are in none. Whose a record is must not be a secret: the guarantee is for what records hold.

        pad=True, for exports with sampling="truncated:…", makes all batches of the iterator of one size, the largest,
        with record 0 in free places: static shapes. backward(…, numbers=…) gives those rows weight zero.
        """
        return make_sampler(self, records, self.check_node(node), state, seed, new, owners, pad)

    def canaries(
        self,
        count: int,
        dim: int,
        path: str | os.PathLike[str],
        *,
        sampler: Sampler,
        seed: int | None = None,
        clip: float | None = None,
    ) -> Canaries:
        """Records that are made up for an audit of a training: the last count ones of sampler, for a model of dim
        parameters.

        path is the file for their coins, which is for the auditor alone; if it is there, the run goes on
        with it. make_private takes them. They cost accuracy: their gradients go into the sums as all others. seed: for
        simulations.
        """
        return make_canaries(self, count, dim, path, sampler, seed, clip)

    def audit(
        self,
        run: str | os.PathLike[str],
        coins: str | os.PathLike[str],
        confidence: float | None = None,
        attacker: str | None = None,
        out: str | os.PathLike[str] | None = None,
    ) -> Result:
        """What the messages of a training that was recorded tell of its canaries; a ProgramError with result if it has
        a fault.

        attacker: the node whose mafalda.canaries.View the run is. out: a folder for the result, which mafalda report
        shows.
        """
        folder = Folder()
        given = {"run": run, "export": self, "runs": None if confidence is None else f"confidence={confidence}", "attacker": attacker, "output": out}
        return result_of("audit", run_program(["audit", *plain(given), f"--run=coins={os.fspath(coins)}", "--json"], folder))

    def ledger(self, records: int, owners: Iterable[Any] | None = None) -> Ledger:
        """Checks batches of another loader, record by record: ledger.admit(step, indices) raises a
        ParticipationError."""
        return Ledger(self, records, owners_of(self, records, owners))

    def noise(
        self, node: str, dim: int, state: str | os.PathLike[str] | None = None, seed: int | None = None, **options: Any
    ) -> Noise:
        """The rows of a node's noise for a model of dim parameters, one a step.

        state: real noise. `mafalda noise serve` is started on this file, which keeps the secret key and the place.
        seed: simulated noise, that of the program for this seed, bit for bit, which protects nothing. Exactly one of the
        two.

        A state that is not there is begun, unless the node had a row of another one in this folder (noise-begun-….json
        says so): then the name is wrong or the state is gone, and a run cannot go on with a new one. new=True says that
        this is a run of its own, and refuses a state that is there; new=False refuses one that is not.

        Other options with state: binary, the program (default: $MAFALDA, the wheel's, or mafalda on the PATH); counter;
        stop_at, the node's own ε (at stop_delta, or the export's δ), below the plan's: the row that would pass it is
        not drawn, and raises a BudgetError, also after a crash, and also if stop_at is left out then; and for
        exports with pairs key, peers and runs (see mafalda.keys), which a state that is there needs no more. With
        either: noise_std, not below that of the export.
        """
        return open_noise(self, node, dim, state, seed, **options)

    def simulated(
        self,
        like: Any,
        seed: int | None = None,
        *,
        generator: Any = None,
        device: Any = None,
        dtype: Any = None,
        noise_std: float | None = None,
        memory: int | None = None,
        threads: int | None = None,
    ) -> SimulatedRows:
        """Noise for simulations, where the model is: simulated.row(node, step) in any order, simulated.rows(step) of all
        nodes (n×d). It protects nothing, and make_private refuses it.

        like: the parameters of a model (a torch module, a tensor, a list of them), whose dtype and device rows have, or
        their number: then rows are numpy's, float32, unless device or dtype says otherwise. In half precision sums are in
        float32. The numbers are of (seed, node, step), so that every worker makes the same rows: the same bits on all
        processors, with torch or without, and on all devices of a kind; the same distribution elsewhere. They are not
        those of noise(seed=…). generator: a torch.Generator, whose initial seed is the seed.

        Rows in order need what strategies keep of earlier ones: T rows for dense, w-1 for w bands, two a section for BLT, a
        period for combs. Up to memory bytes of them are kept (default: 4 GiB), some columns of some nodes at a time; the
        others are made again, as are rows out of order: row t then costs t+1 rows of Z (w for banded inverses; for dense
        those that are kept cost nothing again). Beside these there is the result and, for each of threads (default: the
        processors), some arrays of 65,536 numbers, or 8,388,608 on other devices.
        """
        if (seed is None) == (generator is None):
            raise ValueError("simulated rows need exactly one of seed (a number) and generator (of torch: its initial seed)")
        seed = generator.initial_seed() if seed is None else seed
        return open_rows(self, like, seed, noise_std, device=device, dtype=dtype, memory=memory, threads=threads)

    def make_private(
        self,
        optimizer: Any,
        *,
        node: str | None = None,
        clip: float | None = None,
        state: str | os.PathLike[str] | None = None,
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

        model is a flat float array, of which the average is returned as a new one, or a torch module or a list of
        parameters (private.parameters: those that are trained), which are replaced in place (and returned). Those
        received are flat arrays of as many numbers (mafalda.flat), or of bytes of them in the model's dtype.

        missing says what happens with the weight of neighbours whose models did not come:
            self    the node's own model has it: W keeps the sums of its columns where links fail in both directions, and
                    noise goes on cancelling between nodes
            share   who is there shares it, in proportion (what optimize(graph_changes="failures:…") assumes)
            error   an ExportError
        Models of nodes that are no neighbours are an ExportError: something is wired wrongly.
        """
        return mix_models(self, self.check_node(node, needed=True), model, received, step, missing)

    def mix_all(self, stacked: Any, step: int | None = None) -> Any:
        """The gossip step of all nodes at once, W·stacked: row i is the model of plan.nodes[i], flat or in its shape.

        stacked is a torch tensor, on any device, or a numpy array (sparse W then needs scipy); a new one comes back. W is
        dense for up to 1,024 nodes, and sparse beyond; sums are in float32 at least. step is needed where networks take
        turns.
        """
        return self._gossip.mix_all(stacked, step)
