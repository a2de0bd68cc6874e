"""Which noise a node gets: real rows from the program, or simulated ones of a seed."""

from __future__ import annotations

import os
from numbers import Real
from typing import Any

from .errors import ExportError, MafaldaError
from ._export import Export
from ._noise import Noise
from ._served import ServedNoise
from ._simulated import SimulatedNoise, SimulatedRows
from ._types import Path, is_whole


def open_noise(
    plan: Export,
    node: str,
    dim: int,
    state: Path | None = None,
    seed: int | None = None,
    *,
    noise_std: float | None = None,
    **options: Any,
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
    node = plan.check_node(node)
    if any(isinstance(given, SimulatedRows) for given in (state, seed, *options.values())):
        raise MafaldaError("rows of plan.simulated protect nothing, and train nobody in private: give state=FILE, for real noise")
    if (state is None) == (seed is None):
        raise ValueError(
            "noise needs exactly one of state (a file: real noise) and seed (a number: simulated, not private)"
        )
    if not is_whole(dim, 1):
        raise ValueError(f"dim is the number of parameters of the model, at least 1, not {dim!r}")
    std = _level(plan, node, noise_std)
    if seed is not None:
        if options:
            raise TypeError(f"simulated noise does not know {', '.join(options)}")
        return SimulatedNoise(plan, node, int(dim), std, seed)
    return ServedNoise(plan, node, int(dim), std, os.fspath(state), given_std=noise_std, **options)


def open_rows(
    plan: Export,
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
    float32. The numbers are of (seed, node, step), so that every worker makes the same rows: the same bits on
    processors of a kind, with torch or without, and on all devices of a kind; on other processors the last bit may be
    rounded otherwise, on other devices the distribution is the same. They are not those of noise(seed=…). Rows are not
    pickled: a worker loads the plan. generator: a torch.Generator, whose initial seed is the seed.

    Rows in order need what strategies keep of earlier ones: T rows for dense, w-1 for w bands, two a section for BLT, a
    period for combs. Up to memory bytes of them are kept (default: 4 GiB): for dense the first rows that are asked for,
    for others all that some columns of some nodes need. What is not kept is made again, as are rows out of order: row t
    then costs t+1 rows of Z (w for banded inverses; for dense those that are kept cost nothing again). Beside these
    there is the result and, for each of threads (default: the processors), a dozen arrays of 32,768 numbers, or
    8,388,608 on other devices.
    """
    if (seed is None) == (generator is None) or seed is None and not hasattr(generator, "initial_seed"):
        raise ValueError("simulated rows need exactly one of seed (a number) and generator (of torch: its initial seed)")
    seed = generator.initial_seed() if seed is None else seed
    stds = {node: _level(plan, node, noise_std) for node in plan.nodes or [plan.check_node(None)]}
    return SimulatedRows(plan, like, seed, stds.__getitem__, device, dtype, memory=memory, threads=threads)


def _level(plan: Export, node: str, wanted: float | None) -> float:
    said = plan.level(node).noise_std
    if wanted is not None and (isinstance(wanted, bool) or not isinstance(wanted, Real)):
        raise ValueError(f"noise_std is a number, not {wanted!r}")
    std = said if wanted is None else float(wanted)
    if std is None:
        raise ExportError("the export has no noise level (it was made without epsilon or mu): give noise_std")
    if not 1e-280 <= std <= 1e280 or said is not None and not std >= said:
        raise ExportError(f"a noise level of {std}, where the export says {said}")
    return std
