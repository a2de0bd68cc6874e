"""The commands of the program as functions. Made by generate.py of commands.json: do not change it by hand.

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


def optimize(
    graph: Graph = None,
    *,
    steps: int,
    sampling: Parts = None,
    trust: Parts = None,
    gossip: Matrix = None,
    out: Path | None = None,
    delta: Number = None,
    epsilon: Number = None,
    strategy: Parts = None,
    optimizer: Parts = None,
    k: Whole = None,
    checkpoint: Path | Parts = None,
    gram: Parts = None,
    no_baselines: Flag = None,
    objective: Literal["mean", "max", "last"] | None = None,
    start: Source = None,
    tolerance: Number = None,
    seed: Whole = None,
    force: Flag = None,
    format: Parts = None,
    keep_partial: Flag = None,
    adjacency: Adjacency = None,
    budgets: Text = None,
    clip: Number = None,
    mu: Number = None,
    memory: int | Parts = None,
    average_last: Whole = None,
    curvature: float | Path | Sequence[float] | Array | None = None,
    graph_changes: Parts = None,
    learning_rates: Rates = None,
    missed_steps: float | Parts = None,
    risk: Literal["excess", "distance", "worst"] | None = None,
    workload: Literal["model", "message", "prefix"] | None = None,
    schema: Schema = None,
    b: Whole = None,
    unit: Parts = None,
    progress: Progress = None,
    binary: Text = None,
) -> Plan:
    """Compute, certify and export the optimal strategy of a network.

    Compute the strategy C of least loss sens(C)²·‖LC⁻¹‖² for a network and a number of steps, with a proof of how
    close to the optimum it is. A node adds row t of C⁻¹Z to its gradients at step t.

    A record takes part at most k times, b steps apart (schema says otherwise). With steps alone, k = 20 if 20
    divides T.

    Parameters
    ----------
    steps : int
        steps (required)
    sampling : str | Mapping[str, Any], default cyclic
        how nodes draw batches: cyclic (in turn; attackers may know when a record takes part), or as follows, with
        epsilon and delta, and with the best number w of bands up to b, unless strategy bandwidth says it:
        poisson: in secret, every record with probability w/b in each step of its group, one of w bins: in secret,
        every record put once into one of b batches of random size, drawn independently and uniformly: not a
        permutation that is cut into equal batches allocation: in secret, every record in one step, drawn at
        random, of each of k blocks of its group's steps; T = k·b truncated: poisson with batches of at most max
        of up to records records, for static shapes
        failure : float
            probability that the accountant of bins may be wrong with (default 1e-9)
        max : int
            of truncated: records in a step; of more that are drawn, some are dropped, and the chance of that is added
            to delta (default: the least that costs nearly nothing)
        records : int
            of truncated: at least as many as any node has
        samples : int
            of the accountant of bins, drawn with seed (default 524288)
    trust : str | Mapping[str, Any], default ldp
        against whom: ldp: everybody who sees all messages; every node has its own noise secldp: nodes, too, that
        know the noise they share; pairs share noise that cancels when they average (docs/secrets.md)
        coalitions : str
            who puts together what they know: 1 (nobody: single curious nodes), 2 (any two nodes), or a file with the
            labels of a coalition a line (nodes in none are trusted); the eavesdropper is always there
        largest_pair : float
            the most variance that a pair may share, where a node alone would need 1: larger gains a little, and a
            node that drops out leaves it behind (docs/secrets-optimum.md)
        secrets : str
            which pairs may share noise: gossip (the edges of the graph), all (up to 500 nodes), or a file of edges
    gossip : str | Matrix, default uniform
        gossip matrix: uniform, metropolis, max-degree, laplacian, or a .npy, .mtx or .csv file; directed:FILE for
        one of directed edges
    graph : Graph
        graph: a file (edge list, .mtx, .npy; .gz too), directed:FILE, whose edges "u v" let u average over v, or
        florentine complete:n cycle:n path:n star:n grid:RxC hypercube:d regular:n,d erdos:n,p barabasi:n,m
        watts:n,k,p geometric:n,r; several times, and nobody knows which it will be: the least worst ratio
    out : Path
        folder that keeps the result; without one it goes with the object
    delta : float
        the delta of epsilon, or to report an epsilon for mu
    epsilon : float
        privacy wanted, with delta, instead of mu
    strategy : str | Mapping[str, Any]
        class of strategies: dense: the optimum among all, T rows of noise kept banded: w bands, w-1 rows kept
        (default 2b; b under min-sep, where it is the default) toeplitz: w coefficients, w-1 rows kept (default b)
        blt: a rational function, d buffers kept (default 4) banded-inverse: C⁻¹ of w coefficients, w-1 rows kept
        (default b) comb: blt of d buffers (default 4) times a comb of period w, d+w rows kept (default b)
        bandwidth : int
            bands or coefficients w of the strategy (default: see strategy)
        buffers : int
            buffers of blt or comb, 1 to 64; fewer by default where T is no more
        groups : int
            so many dense strategies that the nodes share, found by assigning and optimizing in turn
        per_node : bool
            a dense strategy for every node, exported as one n×T×T array
        scale_columns : bool
            fit the scales of columns, for toeplitz or comb
    optimizer : str | Mapping[str, Any]
        what nodes do with gradients, such as momentum:0.9,nesterov:
        decay : float
            what models lose in a step, times the rate; decoupled from gradients
        local : int
            gossip follows every so many gradient steps; T counts these
        momentum : float
            of every node, from 0 to below 1; it is not gossiped
        nesterov : bool
            Nesterov's form of momentum
        rounds : int
            so many rounds of gossip at a time
        tracking : bool
            nodes gossip and follow the mean gradient, too
    k : int
        how often a record takes part (default 20 if 20 divides T)
    checkpoint : Path | str | Mapping[str, Any]
        keep the optimization in this file while it runs, every ten seconds
        resume : bool
            go on with the optimization in it, if it is there
    gram : str | Mapping[str, Any], default auto
        Gram matrix: exact, lanczos (estimated from random vectors, with an error bound), sampled (likewise from
        random runs of networks that change), or auto: exact unless that takes minutes
        probes : int
            random vectors of lanczos, at least 4 (default 800,000 divided by the nodes, a multiple of 4 from 4 to
            100); all unit vectors, without chance, for as many nodes or for 128 and fewer
        steps : int
            products with the gossip matrix for each of them
    no_baselines : bool
        do not compare with DP-D-SGD, AntiPGD and D-MF
    objective : Literal["mean", "max", "last"], default mean
        what is to be small: mean: the squared error of all steps together max: of the worst step last: of the
        model after the last step
    start : Path | Export
        start from the strategy of this earlier export, of the same T (another network will do)
    tolerance : float
        certified relative gap to stop at (default 1e-3 for objective max, 1e-2 for last and for noise that counts
        for nothing)
    seed : int
        seed of random graphs and random estimates
    force : bool
        replace an earlier export
    format : str | Mapping[str, Any], default npy
        of the matrices: npy, csv or both
        parameters_only : bool
            export the parameters of a structured strategy only, not its matrices (the default for T > 4096)
    keep_partial : bool
        export the best strategy so far if interrupted or not converged
    adjacency : Literal["zero-out", "replace-one"], default zero-out
        neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise)
    budgets : str
        a privacy level for every node, in the place of mu, epsilon, delta and clip: CSV file with the columns
        node, epsilon and delta, or mu, and clip
    clip : float, default 1
        norm to which each record's gradient is clipped
    mu : float
        privacy wanted, as the parameter of Gaussian DP
    memory : int | str | Mapping[str, Any]
        choose class and width of strategy, the best that keeps no more, such as 4GB,dim=1e6 (MB is 10⁶ bytes, MiB
        is 2²⁰)
        dim : int
            parameters of the model
        float32 : bool
            a node keeps numbers of 4 bytes, not of 8
    average_last : int
        count the errors of the last so many steps alone, as of models that are averaged or compared there
        (default: those of all steps)
    curvature : float | Path | Sequence[float] | Array
        gradients react to errors by these second derivatives of the loss, times the base learning rate: numbers
        (0.3, or 0.01:20,0.3 for twenty directions and one), an interval (0.001..0.9, of which nobody knows
        which), or a FILE with lines "x,directions"; a training forgets noise (default: gradients do not react;
        docs/objective.md)
    graph_changes : str | Mapping[str, Any]
        how the network changes, such as failures:0.1,links:0.2:
        failures : float
            probability that a node fails in a round of gossip: it keeps its model
        links : float
            probability that an edge fails in a round of gossip
        neighbours : int
            in every round a node averages over itself and so many others, drawn from all
        sequence : str
            FILE of networks that take turns, one a step, over the nodes of graph: edge lists, separated by empty
            lines
    learning_rates : Path | Sequence[float], default constant
        how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
        step:factor,from[,from…], or a FILE with one number a line
    missed_steps : float | str | Mapping[str, Any]
        probability that a node has no gradient in a step, and sends no noise
        carry : bool
            the next message has the rows of noise of missed steps; otherwise they are lost
    risk : Literal["excess", "distance", "worst"], default excess
        of curvature: excess (how far the loss is above its least value), distance (of the models), or worst (the
        largest ratio to the best strategy for each alone)
    workload : Literal["model", "message", "prefix"], default model
        whose error counts: model (after averaging), message (before), prefix (centralized)
    schema : Path | Sequence[Sequence[int]], default cyclic
        when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at most
        k times single: once FILE: in the steps of one of its lines, counted from 0
    b : int
        steps between participations (default T/k)
    unit : str | Mapping[str, Any], default record
        who is protected: record, person, with all records that are theirs, or silo, with its whole update in
        every step
        batches : int
            in how many of the b batches a person may have records (default 1)
    """
    return call("optimize", locals())


def account(
    plan: Source = None,
    *,
    algorithm: Parts = None,
    attackers: str | Sequence[str] | None = None,
    delta: Number = None,
    export: Source = None,
    out: Path | None = None,
    reaction: Parts = None,
    sigma: Number = None,
    trust: Parts = None,
    graph: Graph = None,
    steps: Whole = None,
    k: Whole = None,
    bound: Literal["best", "abs", "spectral", "exact", "lower"] | None = None,
    figure: Parts = None,
    force: Flag = None,
    growth: Text = None,
    gossip: Matrix = None,
    seed: Whole = None,
    graph_changes: Parts = None,
    learning_rates: Rates = None,
    missed_steps: float | Parts = None,
    optimizer: Parts = None,
    schema: Schema = None,
    b: Whole = None,
    unit: Parts = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Compute who learns how much of whom.

    Compute what an attacker learns of every other node: the squared sensitivity of its view, and the privacy that
    follows.

    Sensitivities are for gradients of norm 1 and noise of standard deviation 1; mu and epsilon are for the real
    noise: that of sigma, over what a record can move a sum of gradients by (the clip, or twice the clip where
    records are replaced), or else what the export of export was calibrated with. A record takes part in every
    step unless k, b or schema say otherwise, as in Figure 2 of Bellet et al. Bounds: best is the smallest proven
    one and never above local DP; abs, spectral and exact are single ones; lower is no bound, but what is
    certainly lost, and no mu follows from it.

    What a node learns (trust pndp, with secure-summation or without) depends on how gradients of other nodes
    react to models that the attacker does not see. Without a flag about that the guarantee is local DP. With a
    class of reaction it is a bound for every training of that class (x = ηβ is the learning rate, of which
    learning_rates are multiples, times a Lipschitz constant of the sum of clipped gradients;
    docs/network-privacy.md has a table). With reaction fixed it is for inputs that do not react to what hidden
    nodes learned (averaging, fixed streams); a network that trains has the local-DP number; that number is shown
    beside others as "if gradients do not react", and is no guarantee for a training. What everybody learns (ldp,
    secldp) holds however nodes react.

    Bounds of a class are of all victims at once. Where it takes seconds, or with refine, the pairs that lose most
    at each distance get their best bound, which is several times smaller where a record takes part more than
    once.

    With an optimizer, or networks that change, the attacker sees other messages; local DP stays. Where networks
    or missed steps are drawn, what is reported holds whatever is drawn: local DP, less what can never arrive.
    Columns "as drawn" are for exactly those of seed, and no others.

    With out the pairs are written as CSV and JSON, with a figure by distance. The folder belongs to one network,
    algorithm, export and set of flags; more attackers, or numbers of steps of growth, can be added to it, also by
    several processes at once, and an interrupted command goes on where it stopped.

    Parameters
    ----------
    plan
        of a plan its steps, participation, network and algorithm are taken, where no keyword says otherwise
    algorithm : str | Mapping[str, Any], default dp-d-sgd
        algorithm: dp-d-sgd, antipgd, muffliato, decor, zip-dl, mf-d-sgd
        own : float
            standard deviation of a node's own noise in decor
        shared : float
            standard deviation of the noise that neighbours share in decor
    attackers : str | Sequence[str]
        LABEL of the attacking node, LABEL,LABEL,... of a coalition, or all: every node in turn; labels with
        commas in quotes, as in CSV
    delta : float
        report the epsilon of this delta, too
    export : Path | Export
        the export folder whose strategy mf-d-sgd runs, with the noise it was calibrated with
    out : Path
        folder that keeps the result; without one it goes with the object
    reaction : str | Mapping[str, Any]
        HOW gradients react to models, under trust pndp: convex:X for convex losses, never clipped or of linear
        models with one output: X = ηβ smooth:X for smooth losses, convex or not, clipped in any way: X = ηβ, β of
        the sum of the clipped gradients clipped-convex:X for convex losses that are clipped, softmax, say: X =
        ηβ, β summed up over records before clipping strongly-convex:X,Y for strongly convex losses, never
        clipped: X,Y = ηβ,ηλ lipschitz:L for steps that move models at most L times as far apart fixed for not at
        all: averaging, streams that are fixed beforehand
        refine : bool
            find the best bound for the pairs that lose most at each distance (default: where that takes seconds, or
            with worst-answer)
        worst_answer : bool
            print what the worst answers of the class reach, as far as they are found, of these pairs
    sigma : float
        noise standard deviation over what a record can move a sum by: the clip, or 2·clip (default: that of
        export, or 1)
    trust : str | Mapping[str, Any], default pndp
        what the attacker sees: ldp: all messages, and all noise but the victim's own pndp: what reaches it (for
        training see above) secldp: all messages and the attacker's own secrets eavesdropper: all messages, and no
        secrets
        coalitions : str
            who colludes under secldp, where nodes share noise: every SET of at most so many nodes, or those of a file
            (default: as the export says)
        forget_own_noise : bool
            under pndp the attacker's own noise counts as protection
        secure_summation : bool
            under pndp nodes see only weighted sums of messages
    graph : Graph
        graph: a file (edge list, .mtx, .npy; .gz too), directed:FILE, whose edges "u v" let u average over v, or
        florentine complete:n cycle:n path:n star:n grid:RxC hypercube:d regular:n,d erdos:n,p barabasi:n,m
        watts:n,k,p geometric:n,r
    steps : int
        steps (required)
    k : int
        how often a record takes part (default: in every step; with b, 20 if that fits)
    bound : Literal["best", "abs", "spectral", "exact", "lower"], default best
        of the sensitivity: best, abs, spectral, exact, lower
    figure : str | Mapping[str, Any]
        what pictures look like: a column of a journal may want width:3.4,font:8,no-title
        font : float
            letters in POINTS (default 10)
        no_title : bool
            without the title, which a caption says
        width : float
            in INCHES (default 7)
    force : bool
        replace results of other inputs
    growth : str
        instead of steps: compare these numbers of steps, such as 10,20,50, with the asymptote
    gossip : str | Matrix, default uniform
        gossip matrix: uniform, metropolis, max-degree, laplacian, or a .npy, .mtx or .csv file; directed:FILE for
        one of directed edges
    seed : int
        seed of random graphs and random estimates
    graph_changes : str | Mapping[str, Any]
        how the network changes, such as failures:0.1,links:0.2:
        failures : float
            probability that a node fails in a round of gossip: it keeps its model
        links : float
            probability that an edge fails in a round of gossip
        neighbours : int
            in every round a node averages over itself and so many others, drawn from all
        sequence : str
            FILE of networks that take turns, one a step, over the nodes of graph: edge lists, separated by empty
            lines
    learning_rates : Path | Sequence[float], default constant
        how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
        step:factor,from[,from…], or a FILE with one number a line
    missed_steps : float | str | Mapping[str, Any]
        probability that a node has no gradient in a step, and sends no noise
        carry : bool
            the next message has the rows of noise of missed steps; otherwise they are lost
    optimizer : str | Mapping[str, Any]
        what nodes do with gradients, such as momentum:0.9,nesterov:
        decay : float
            what models lose in a step, times the rate; decoupled from gradients
        local : int
            gossip follows every so many gradient steps; T counts these
        momentum : float
            of every node, from 0 to below 1; it is not gossiped
        nesterov : bool
            Nesterov's form of momentum
        rounds : int
            so many rounds of gossip at a time
        tracking : bool
            nodes gossip and follow the mean gradient, too
    schema : Path | Sequence[Sequence[int]], default cyclic
        when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at most
        k times single: once FILE: in the steps of one of its lines, counted from 0
    b : int
        steps between participations (default T/k)
    unit : str | Mapping[str, Any], default record
        who is protected: record, person, with all records that are theirs, or silo, with its whole update in
        every step
        batches : int
            in how many of the b batches a person may have records (default 1)
    """
    return call("account", locals())


def audit(
    plan: Source = None,
    *,
    algorithm: Parts = None,
    attacker: str | Sequence[str] | None = None,
    export: Source = None,
    run: Path | Parts = None,
    runs: int | Parts = None,
    sampling: Parts = None,
    trust: Parts = None,
    victim: Text = None,
    graph: Graph = None,
    steps: Whole = None,
    k: Whole = None,
    actual: Parts = None,
    adjacency: Adjacency = None,
    answer: Text = None,
    delta: Number = None,
    epsilon: Number = None,
    force: Flag = None,
    noise_multiplier: Number = None,
    noise_scale: Number = None,
    out: Path | None = None,
    scaled_nodes: Text = None,
    gossip: Matrix = None,
    seed: Whole = None,
    graph_changes: Parts = None,
    learning_rates: Rates = None,
    missed_steps: float | Parts = None,
    optimizer: Parts = None,
    schema: Schema = None,
    b: Whole = None,
    unit: Parts = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Attack the simulated protocol, to prove the accounting wrong.

    Run the protocol many times with random noise, with and without a record of the victim, give the attacker what
    it sees, and apply the best linear test. The mu that the attack reaches, with its confidence interval, stands
    against the claimed one. With export the noise is made by C_inv of the export itself, at the level that it was
    calibrated with. Of an export whose nodes share noise (trust secldp) the worst coalition that it allows
    attacks, or that of coalitions or attacker, and the claim is the export's.

    The claim of trust pndp holds for inputs that do not react to what hidden nodes learned (averaging, fixed
    streams); a network that trains has the local-DP number. With answer all nodes but the attackers react to the
    model θ that they hold, in units of what a record can move a sum of gradients by: clip:K,B adds clip(K·θ, B)
    to what they send, so that B is about how many records react; that is the gradient of a loss that falls as the
    model grows, the sign that hurts. linear:D sends D·θ in the place of θ. What a threshold of the attack's
    statistic proves (Clopper and Pearson) stands against the claim, against the bound for nodes that react like
    that, and against local DP. With the name of a class (convex:X, smooth:X, clipped-convex:X,
    strongly-convex:X,Y, lipschitz:L, as mafalda.smoothness has them) the worst linear answers of the class are
    played, and the claim is the bound for the class, which they may not exceed.

    With sampling the privacy of secret batches is attacked: the attacker sees all messages, whatever the network,
    and applies the likelihood ratio test of what the nodes really do (actual), at several points of the curve of
    epsilon and delta that is claimed. The claim is the accountant's, or the export's of export, or epsilon. Fixed
    batches under a Poisson claim fail.

    With run a training that happened is audited, by the messages that a node recorded and by records that were
    made up for that (docs/auditing.md). It says how much of them arrived, a lower bound for epsilon, and whether
    the run has one of the faults that people make. With confidence 0.95, unless it is given. What a node received
    of the others is audited with attacker and its label: by the matched filter of mafalda.account, for canaries
    of a node that it attacks. What a program without a plan released (mafalda.canaries.Record,
    docs/is-my-epsilon-right.md) is audited against its description as for mafalda.spent: run.toml in the folder,
    or FOLDER.toml.

    Parameters
    ----------
    plan
        of a plan its steps, participation, network and algorithm are taken, where no keyword says otherwise
    algorithm : str | Mapping[str, Any], default dp-d-sgd
        algorithm: dp-d-sgd, antipgd, muffliato, decor, zip-dl, mf-d-sgd
        own : float
            standard deviation of a node's own noise in decor
        shared : float
            standard deviation of the noise that neighbours share in decor
    attacker : str | Sequence[str]
        LABEL of the attacking node, or LABEL,LABEL,... of a coalition; labels with commas in quotes, as in CSV
    export : Path | Export
        the export folder whose strategy mf-d-sgd runs, with the noise it was calibrated with
    run : Path | str | Mapping[str, Any]
        audit a training that happened: the folder in which a node recorded its messages (docs/auditing.md)
        coins : str
            the file of its canaries, which says who they are and which of them take part
    runs : int | str | Mapping[str, Any], default 4000
        runs of the protocol with the record, and as many without (with answer: 10000, with sampling: 50000)
        confidence : float
            of the interval
        seed : int
            seed of the simulated noise
    sampling : str | Mapping[str, Any]
        attack the privacy of batches that are drawn (cyclic: each record in one of b fixed batches, and no
        secret): poisson: in secret, every record with probability w/b in each step of its group, one of w bins:
        in secret, every record put once into one of b batches of random size, drawn independently and uniformly:
        not a permutation that is cut into equal batches allocation: in secret, every record in one step, drawn at
        random, of each of k blocks of its group's steps; T = k·b truncated: poisson with batches of at most max
        of up to records records, for static shapes
        groups : int
            groups of records (default: the bands of the strategy)
        known_seed : bool
            the attacker knows the seed that batches are drawn from
        max : int
            of truncated: records in a step; of more, some are dropped
        probability : float
            of a record in a step of its group (default: groups/b)
        records : int
            of truncated: at least as many as a node has
    trust : str | Mapping[str, Any], default pndp
        what the attacker sees: ldp: all messages, and all noise but the victim's own pndp: what reaches it (for
        training see above) secldp: all messages and the attacker's own secrets eavesdropper: all messages, and no
        secrets
        coalitions : str
            who colludes under secldp, where nodes share noise: every SET of at most so many nodes, or those of a file
            (default: as the export says)
        forget_own_noise : bool
            under pndp the attacker's own noise counts as protection
        secure_summation : bool
            under pndp nodes see only weighted sums of messages
    victim : str
        LABEL of the victim, or all: every node that does not attack, one after the other (default: the nearest
        node; where nodes share noise, the one of whom most is learned; with answer, the nearest one that the
        attacker does not see)
    graph : Graph
        graph: a file (edge list, .mtx, .npy; .gz too), directed:FILE, whose edges "u v" let u average over v, or
        florentine complete:n cycle:n path:n star:n grid:RxC hypercube:d regular:n,d erdos:n,p barabasi:n,m
        watts:n,k,p geometric:n,r
    steps : int
        steps (required)
    k : int
        how often a record takes part (default: in every step; with b, 20 if that fits)
    actual : str | Mapping[str, Any]
        with sampling: what the nodes really do (default: the same): one of these, or records shuffled and cut
        into equal batches, permutation: once, for batches in turn; shuffle: anew for each of T/b blocks
        batches : int
            in how many batches of a cycle the victim's records really are (default: as claimed)
    adjacency : Literal["zero-out", "replace-one"], default zero-out
        with sampling: data sets differ in a record that is there or not (zero-out), or in one that is replaced
        (replace-one); with export as it says
    answer : str
        let nodes react to their models θ, and HOW: clip:K,B adds clip(K·θ, B) to what they send (B can be inf),
        linear:D sends D·θ; convex:X, smooth:X, ...: the worst answers of the class, against its bound
    delta : float
        with sampling: the delta of the claim
    epsilon : float
        with sampling: the epsilon that is claimed (default: the accountant's); with run of a record without a
        plan: for all rounds (default: what its description comes to)
    force : bool
        with out: replace a result that is there
    noise_multiplier : float
        with sampling: noise standard deviation over the clip that is claimed
    noise_scale : float, default 1
        multiply the nodes' noise, but not the claim: below 1 the audit should fail
    out : Path
        folder that keeps the result; without one it goes with the object
    scaled_nodes : str
        LABEL,LABEL,... of the nodes whose own noise noise_scale multiplies (default: all noise)
    gossip : str | Matrix, default uniform
        gossip matrix: uniform, metropolis, max-degree, laplacian, or a .npy, .mtx or .csv file; directed:FILE for
        one of directed edges
    seed : int
        seed of random graphs and random estimates
    graph_changes : str | Mapping[str, Any]
        how the network changes, such as failures:0.1,links:0.2:
        failures : float
            probability that a node fails in a round of gossip: it keeps its model
        links : float
            probability that an edge fails in a round of gossip
        neighbours : int
            in every round a node averages over itself and so many others, drawn from all
        sequence : str
            FILE of networks that take turns, one a step, over the nodes of graph: edge lists, separated by empty
            lines
    learning_rates : Path | Sequence[float], default constant
        how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
        step:factor,from[,from…], or a FILE with one number a line
    missed_steps : float | str | Mapping[str, Any]
        probability that a node has no gradient in a step, and sends no noise
        carry : bool
            the next message has the rows of noise of missed steps; otherwise they are lost
    optimizer : str | Mapping[str, Any]
        what nodes do with gradients, such as momentum:0.9,nesterov:
        decay : float
            what models lose in a step, times the rate; decoupled from gradients
        local : int
            gossip follows every so many gradient steps; T counts these
        momentum : float
            of every node, from 0 to below 1; it is not gossiped
        nesterov : bool
            Nesterov's form of momentum
        rounds : int
            so many rounds of gossip at a time
        tracking : bool
            nodes gossip and follow the mean gradient, too
    schema : Path | Sequence[Sequence[int]], default cyclic
        when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at most
        k times single: once FILE: in the steps of one of its lines, counted from 0
    b : int
        steps between participations (default T/k)
    unit : str | Mapping[str, Any], default record
        who is protected: record, person, with all records that are theirs, or silo, with its whole update in
        every step
        batches : int
            in how many of the b batches a person may have records (default 1)
    """
    return call("audit", locals())


def simulate(
    plan: Source = None,
    *,
    steps: Whole = None,
    epsilon: Numbers = None,
    methods: Sequence[Path | Export] | None = None,
    mu: Numbers = None,
    out: Path | None = None,
    k: Whole = None,
    sampling: Parts = None,
    seeds: Whole = None,
    task: Parts = None,
    tune: Numbers = None,
    graph: Graph = None,
    optimizer: Parts = None,
    adjacency: Adjacency = None,
    attack: Parts = None,
    clip: Number = None,
    delta: Number = None,
    figure: Parts = None,
    force: Flag = None,
    learning_rate: Number = None,
    b: Whole = None,
    gossip: Matrix = None,
    seed: Whole = None,
    average_last: Whole = None,
    graph_changes: Parts = None,
    learning_rates: Rates = None,
    missed_steps: float | Parts = None,
    workload: Literal["model", "message", "prefix"] | None = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Train models with every method, to see what the noise costs.

    Train a model on a network with MF-D-SGD, for every method, level of privacy and seed, and compare the test
    losses. Every node has a part of the records, in b batches that it visits in turn; that no record takes part
    more often, or sooner again, than a strategy was made for is checked while training. Methods with the same
    seed have the same data, start and Z.

    Methods: none (no noise), dp-d-sgd, antipgd, d-mf, mafalda (the certified optimum of this network, for
    gradients that answer to errors as the task's do at the learning rate), mafalda-uncurved (for gradients that
    do not), mafalda-plain, and folders of exports. How the task curves comes of its own records, which is not
    private: this is a simulation. The noise protects a record against everybody who sees all messages: mu of
    Gaussian differential privacy.

    With sampling poisson nodes draw their batches in secret instead, and levels are given by epsilon and delta:
    every record takes part with probability w/b in every w-th step, where w is the number of bands of a method's
    strategy (1 for dp-d-sgd), so that batches are as large as cyclic ones in expectation. Noise is what the
    accountant of that asks for. Sums are divided by the expected size, and empty batches take noise and a step.
    sampling truncated is the same with batches of at most so many records that what is dropped costs a thousandth
    of delta; with allocation every record takes part exactly k times, in steps drawn in secret.

    Nodes train with momentum, learning rates that change (times learning_rate), weight decay (times the rate),
    local steps, rounds of gossip and gradient tracking, over networks that change or fail, and they may miss
    steps. mafalda, mafalda-uncurved and d-mf then know of it, mafalda-plain is the optimum of the network that
    does not. An export that was made for such training brings it along, and is refused for other flags. The line
    "noise" compares the squared error that the noise alone makes of the models with the predicted one. For linear
    regression the loss above training without noise is predicted, too: it is off where gradients are clipped, and
    where batches curve differently.

    With tune every method trains with several learning rates, and is compared at its own best one: that of the
    least mean loss on one half of the test records, while losses are of the other half. Choosing it is not paid
    for in privacy.

    With attack NODE that node attacks real training instead, with dp-d-sgd: it is run many times with a record of
    the victim and without it, and what the attacker's statistic of the messages that it sees reaches stands
    beside what is proven: the bound for the class that the task is in (see mafalda.smoothness; local DP where it
    is in none), and the number if gradients do not react.

    With out, write runs, table and figures; runs that are there already are not run again, so an interrupted
    simulation goes on where it stopped, and more methods, levels and seeds can be added, also by several
    processes at once. All else, and every byte that is read, has to be the same.

    linear, logistic and perceptron (with tanh; with data, on images) are synthetic; housing and housing-linear
    need cal_housing.data (20,640 lines of 9 numbers, in
    https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.tgz), mnist a folder with four IDX files.

    Parameters
    ----------
    plan
        a plan, which is compared with none and dp-d-sgd at its own privacy, where no keyword says otherwise
    steps : int
        steps (default 320)
    epsilon : float | Sequence[float]
        levels of privacy as epsilons for delta, instead of mu
    methods : Sequence[Path | Export], default none,dp-d-sgd,antipgd,d-mf,mafalda-uncurved,mafalda
        what to compare; folders of exports, too, such as out or name=out; and mafalda-plain, which ignores what
        is more than plain training (there by default if there is more)
    mu : float | Sequence[float], default 0.2,0.5,1
        levels of privacy, of Gaussian DP
    out : Path
        folder that keeps the result; without one it goes with the object
    k : int
        epochs: how often a record takes part (default 20 if 20 divides T)
    sampling : str | Mapping[str, Any], default cyclic
        batches: cyclic (cut once, visited in turn), or of as many records in expectation: poisson: in secret,
        every record with probability w/b in each step of its group, one of w bins: in secret, every record put
        once into one of b batches of random size, drawn independently and uniformly: not a permutation that is
        cut into equal batches allocation: in secret, every record in one step, drawn at random, of each of k
        blocks of its group's steps; T = k·b truncated: poisson with batches of at most max of up to records
        records, for static shapes
        bandwidth : int
            bands of mafalda's strategy with poisson or bins (default: the best number)
    seeds : int, default 10
        runs of every method at every level
    task : str | Mapping[str, Any], default linear
        what is learned: linear, logistic, perceptron, housing, housing-linear, mnist
        data : str
            path of the data of housing and housing-linear (a file), or mnist and perceptron (a folder)
        records : int
            records of a synthetic task (default 4000)
        test_rows : int
            test records that losses are of while training; all of them at the end (0: always all)
    tune : float | Sequence[float]
        train with several learning rates, these times learning_rate, and compare every method at its own best
        one, by the loss on test records kept apart; that is not paid for in privacy
    graph : Graph
        graph: a file (edge list, .mtx, .npy; .gz too), directed:FILE, whose edges "u v" let u average over v, or
        florentine complete:n cycle:n path:n star:n grid:RxC hypercube:d regular:n,d erdos:n,p barabasi:n,m
        watts:n,k,p geometric:n,r
    optimizer : str | Mapping[str, Any]
        what nodes do with gradients, such as momentum:0.9,nesterov:
        decay : float
            what models lose in a step, times the rate; decoupled from gradients
        local : int
            gossip follows every so many gradient steps; T counts these
        momentum : float
            of every node, from 0 to below 1; it is not gossiped
        nesterov : bool
            Nesterov's form of momentum
        rounds : int
            so many rounds of gossip at a time
        tracking : bool
            nodes gossip and follow the mean gradient, too
    adjacency : Literal["zero-out", "replace-one"], default zero-out
        neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise)
    attack : str | Mapping[str, Any]
        let the node with this LABEL attack a record of another one, instead of comparing losses
        confidence : float
            of the interval
        runs : int
            runs of an attacked training with the record, and as many without
        victim : str
            LABEL of whose record is attacked (default: the nearest node that the attacker does not see)
    clip : float, default 1
        norm to which each record's gradient is clipped
    delta : float, default 1e-06
        for which epsilon is reported
    figure : str | Mapping[str, Any]
        what pictures look like: a column of a journal may want width:3.4,font:8,no-title
        font : float
            letters in POINTS (default 10)
        no_title : bool
            without the title, which a caption says
        width : float
            in INCHES (default 7)
    force : bool
        replace runs of other inputs
    learning_rate : float
        of the steps (default: one that suits the task)
    b : int
        batches of a node: steps between participations (default T/k)
    gossip : str | Matrix, default uniform
        gossip matrix: uniform, metropolis, max-degree, laplacian, or a .npy, .mtx or .csv file; directed:FILE for
        one of directed edges
    seed : int
        seed of random graphs and random estimates
    average_last : int
        count the errors of the last so many steps alone, as of models that are averaged or compared there
        (default: those of all steps)
    graph_changes : str | Mapping[str, Any]
        how the network changes, such as failures:0.1,links:0.2:
        failures : float
            probability that a node fails in a round of gossip: it keeps its model
        links : float
            probability that an edge fails in a round of gossip
        neighbours : int
            in every round a node averages over itself and so many others, drawn from all
        sequence : str
            FILE of networks that take turns, one a step, over the nodes of graph: edge lists, separated by empty
            lines
    learning_rates : Path | Sequence[float], default constant
        how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
        step:factor,from[,from…], or a FILE with one number a line
    missed_steps : float | str | Mapping[str, Any]
        probability that a node has no gradient in a step, and sends no noise
        carry : bool
            the next message has the rows of noise of missed steps; otherwise they are lost
    workload : Literal["model", "message", "prefix"], default model
        whose error counts: model (after averaging), message (before), prefix (centralized)
    """
    return call("simulate", locals())


def benchmark(
    graph: Graph = None,
    *,
    steps: Whole = None,
    epsilon: Numbers = None,
    only: Flag = None,
    out: Path | None = None,
    k: Whole = None,
    workloads: Flag = None,
    delta: Number = None,
    figure: Parts = None,
    force: Flag = None,
    gossip: Matrix = None,
    seed: Whole = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Compare all strategies on a suite of graphs.

    Measure every class of strategies and every baseline on a suite of graphs, for T = 64 (k = 4, b = 16) and T =
    380 (k = 20, b = 19), and compare the losses with the certified optimum. Where batches are drawn in secret
    (sampling poisson) what a strategy costs depends on the privacy: DP-D-SGD and the best number of bands are
    compared with the optimum, whose batches are visited in turn, by squared errors with the noise for every
    epsilon.

    With out, write benchmark.csv, benchmark.json and figures of all that is in the folder. What is there already
    is not measured again: an interrupted benchmark goes on where it stopped, and more graphs and numbers of steps
    can be added, also by several processes at once. Gossip, seed, epsilon and delta have to be the same.

    With workloads, compare strategies over optimizers and networks that change, for T = 128 (k = 8, b = 16): the
    one that is optimal for plain training on the network, a centralized one (D-MF) that knows the optimizer, and
    the certified optimum, which knows both. out is then a folder of its own, with workloads.csv, workloads.json,
    a figure, and the sequences of networks.

    Parameters
    ----------
    steps : int
        measure for this number of steps only
    epsilon : float | Sequence[float], default 0.5,2,8
        levels of privacy to compare at, with delta
    graph : Graph
        a graph besides the suite: a file, directed:FILE or florentine complete:n cycle:n path:n star:n grid:RxC
        hypercube:d regular:n,d erdos:n,p barabasi:n,m watts:n,k,p geometric:n,r; may be repeated
    only : bool
        measure the graphs of graph only
    out : Path
        folder that keeps the result; without one it goes with the object
    k : int
        participations for steps (default 20 if 20 divides T)
    workloads : bool
        compare strategies over optimizers and networks that change, instead; graph takes the place of its graphs
    delta : float, default 1e-06
        of the levels of privacy
    figure : str | Mapping[str, Any]
        what pictures look like: a column of a journal may want width:3.4,font:8,no-title
        font : float
            letters in POINTS (default 10)
        no_title : bool
            without the title, which a caption says
        width : float
            in INCHES (default 7)
    force : bool
        replace rows of other inputs
    gossip : str | Matrix, default uniform
        gossip matrix: uniform, metropolis, max-degree, laplacian, or a .npy, .mtx or .csv file; directed:FILE for
        one of directed edges
    seed : int
        seed of random graphs and random estimates
    """
    return call("benchmark", locals())


def sampling(
    graph: Graph = None,
    *,
    steps: int,
    delta: Number = None,
    epsilon: Numbers = None,
    out: Path | None = None,
    k: Whole = None,
    b: Whole = None,
    figure: Parts = None,
    force: Flag = None,
    workload: Literal["model", "message"] | None = None,
    gossip: Matrix = None,
    seed: Whole = None,
    schema: Schema = None,
    unit: Parts = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Compare secret batches with batches in turn, at equal privacy.

    Compare what strategies cost on a network where batches are drawn in secret, by Poisson sampling, with the
    certified optimum for batches in turn, whose privacy holds against whoever knows when a record takes part. For
    every epsilon and numbers of bands w from 1 (DP-D-SGD) to b: the squared error with the noise for (epsilon,
    delta), divided by the error of the optimum with its own noise. A batch of w bands is drawn from one of w
    groups, every record with probability w/b: as many as in turn, on average. Beside them are two lower bounds:
    no strategy, whatever its class, has a smaller error under Poisson sampling from the groups of the best bands,
    or under random bins; and, where T = k·b, the best number of bands with random allocation, where every record
    takes part exactly k times, and, up to 512 steps and 64 batches, what strategies without negative entries
    reach under random bins, with noise that a confirmation by samples says is enough, but for a chance of 1e-9
    each.

    With out, write sampling.csv, sampling.json and a picture. "mafalda.optimize sampling poisson" exports the
    best strategy for an epsilon, and proves that no other number of bands is better.

    Parameters
    ----------
    steps : int
        steps (required)
    delta : float, default 1e-06
        of the levels of privacy
    epsilon : float | Sequence[float], default 0.5,1,2,4,8,16
        levels of privacy to compare at, with delta
    out : Path
        folder that keeps the result; without one it goes with the object
    graph : Graph
        graph: a file (edge list, .mtx, .npy; .gz too), directed:FILE, whose edges "u v" let u average over v, or
        florentine complete:n cycle:n path:n star:n grid:RxC hypercube:d regular:n,d erdos:n,p barabasi:n,m
        watts:n,k,p geometric:n,r
    k : int
        how often a record takes part (default 20 if 20 divides T)
    b : int
        steps between participations (default T/k)
    figure : str | Mapping[str, Any]
        what pictures look like: a column of a journal may want width:3.4,font:8,no-title
        font : float
            letters in POINTS (default 10)
        no_title : bool
            without the title, which a caption says
        width : float
            in INCHES (default 7)
    force : bool
        replace files that are there
    workload : Literal["model", "message"], default model
        whose error counts: model (after averaging) or message (before)
    gossip : str | Matrix, default uniform
        gossip matrix: uniform, metropolis, max-degree, laplacian, or a .npy, .mtx or .csv file; directed:FILE for
        one of directed edges
    seed : int
        seed of random graphs and random estimates
    schema : Path | Sequence[Sequence[int]], default cyclic
        when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at most
        k times single: once FILE: in the steps of one of its lines, counted from 0
    unit : str | Mapping[str, Any], default record
        who is protected: record, person, with all records that are theirs, or silo, with its whole update in
        every step
        batches : int
            in how many of the b batches a person may have records (default 1)
    """
    return call("sampling", locals())


def advise(
    graph: Graph = None,
    *,
    steps: int,
    records: int,
    out: Path | None = None,
    sampling: Literal["cyclic", "poisson", "bins", "allocation", "truncated", "secret"] | None = None,
    trust: Parts = None,
    delta: Number = None,
    epsilon: Number = None,
    memory: int | Parts = None,
    missed_steps: float | Parts = None,
    k: Whole = None,
    unit: Parts = None,
    figure: Parts = None,
    force: Flag = None,
    gram: Parts = None,
    limit: Text = None,
    gossip: Matrix = None,
    seed: Whole = None,
    adjacency: Adjacency = None,
    budgets: Text = None,
    clip: Number = None,
    mu: Number = None,
    average_last: Whole = None,
    curvature: float | Path | Sequence[float] | Array | None = None,
    distance: Numbers = None,
    graph_changes: Parts = None,
    learning_rate: Number = None,
    learning_rates: Rates = None,
    optimizer: Parts = None,
    task: Parts = None,
    workload: Literal["model", "message", "prefix"] | None = None,
    schema: Schema = None,
    b: Whole = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Say how to make noise in your case: what to take, and what it relies on.

    Compare the ways to make noise for a case, and say which one to take: noise of every node's own (local DP) or
    shared by pairs, batches in turn or drawn in secret, correlated or independent, one strategy for all nodes or
    one a node. The table is ranked by the squared error with the noise for the privacy, in units of the clip, and
    says of every way what it relies on, what a node keeps, and what breaks it. Then comes the command that
    computes and exports the first.

    Say what may be relied on: trust, and sampling secret if nodes can keep secret which records they draw. What
    you say nothing of is compared, too, but has no rank: a way whose promise is weaker than you think is no
    advice. What cannot be combined is left out, with the reason. docs/choosing.md has cases.

    A training forgets noise, and then correlated noise may cost more than independent noise. With curvature,
    records and distance, or task, ways are ranked by the predicted excess risk of training, each at its best rate
    and number of steps (up to steps, with batches of the same size), and what is recommended is never worse than
    independent noise. A task's curvature is of its records, which is not private: it is for simulations.

    On a terminal, what is missing is asked.

    With memory front a second table says what memory at a node buys. With out, write advice.csv, advice.json and
    pictures.

    Parameters
    ----------
    steps : int
        steps (required)
    records : int
        with curvature, the records of a node, in batches of T/k steps (required)
    out : Path
        folder that keeps the result; without one it goes with the object
    sampling : Literal["cyclic", "poisson", "bins", "allocation", "truncated", "secret"]
        can nodes keep secret which records they draw? cyclic: no, batches are visited in turn secret: yes;
        compares poisson and allocation poisson, allocation, bins: yes, in this way (default: as secret, but only
        batches in turn are ranked)
    trust : str | Mapping[str, Any]
        who is trusted: ldp: nobody; every node has its own noise secldp: nodes keep to themselves the secrets
        that they share with neighbours (default: both are compared, and ldp alone is ranked)
        coalitions : str
            who puts together what they know: 1 (nobody: single curious nodes), 2 (any two nodes), or a file with the
            labels of a coalition a line (nodes in none are trusted); the eavesdropper is always there
        largest_pair : float
            the most variance that a pair may share, where a node alone would need 1: larger gains a little, and a
            node that drops out leaves it behind (docs/secrets-optimum.md)
        secrets : str
            which pairs may share noise: gossip (the edges of the graph), all (up to 500 nodes), or a file of edges
    graph : Graph
        graph: a file (edge list, .mtx, .npy; .gz too), directed:FILE, whose edges "u v" let u average over v, or
        florentine complete:n cycle:n path:n star:n grid:RxC hypercube:d regular:n,d erdos:n,p barabasi:n,m
        watts:n,k,p geometric:n,r
    delta : float
        the delta of epsilon, or to report an epsilon for mu
    epsilon : float
        privacy wanted, with delta, instead of mu
    memory : int | str | Mapping[str, Any]
        leave out strategies that keep more, such as 4GB,dim=1e6 (MB is 10⁶ bytes, MiB is 2²⁰)
        dim : int
            parameters of the model
        float32 : bool
            a node keeps numbers of 4 bytes, not of 8
        front : bool
            a second table: what memory at a node buys; takes minutes for hundreds of steps
    missed_steps : float | str | Mapping[str, Any]
        probability that a node has no gradient in a step, and sends no noise
        carry : bool
            the next message has the rows of noise of missed steps; otherwise they are lost
    k : int
        how often a record takes part (default 20 if 20 divides T)
    unit : str | Mapping[str, Any], default record
        who is protected: record, person, with all records that are theirs, or silo, with its whole update in
        every step
        batches : int
            in how many of the b batches a person may have records (default 1)
    figure : str | Mapping[str, Any]
        what pictures look like: a column of a journal may want width:3.4,font:8,no-title
        font : float
            letters in POINTS (default 10)
        no_title : bool
            without the title, which a caption says
        width : float
            in INCHES (default 7)
    force : bool
        replace files that are there
    gram : str | Mapping[str, Any], default auto
        Gram matrix: exact, lanczos (estimated from random vectors, with an error bound), sampled (likewise from
        random runs of networks that change), or auto: exact unless that takes minutes
        probes : int
            random vectors of lanczos, at least 4 (default 800,000 divided by the nodes, a multiple of 4 from 4 to
            100); all unit vectors, without chance, for as many nodes or for 128 and fewer
        steps : int
            products with the gossip matrix for each of them
    limit : str, default 1m0s
        stop the search for a way after so long, and do not try what a guess puts at more than twice of it; one
        band of every scheme and own noise with batches in turn are always compared
    gossip : str | Matrix, default uniform
        gossip matrix: uniform, metropolis, max-degree, laplacian, or a .npy, .mtx or .csv file; directed:FILE for
        one of directed edges
    seed : int
        seed of random graphs and random estimates
    adjacency : Literal["zero-out", "replace-one"], default zero-out
        neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise)
    budgets : str
        a privacy level for every node, in the place of mu, epsilon, delta and clip: CSV file with the columns
        node, epsilon and delta, or mu, and clip
    clip : float, default 1
        norm to which each record's gradient is clipped
    mu : float
        privacy wanted, as the parameter of Gaussian DP
    average_last : int
        count the errors of the last so many steps alone, as of models that are averaged or compared there
        (default: those of all steps)
    curvature : float | Path | Sequence[float] | Array
        second derivatives of the loss, times learning_rate: numbers, or a FILE with lines "x,directions". Ways
        are then compared by their predicted excess risk, each at its best rate and number of steps
    distance : float | Sequence[float], default 1
        with curvature, of the first model from the optimum: in all directions together, or one a second
        derivative
    graph_changes : str | Mapping[str, Any]
        how the network changes, such as failures:0.1,links:0.2:
        failures : float
            probability that a node fails in a round of gossip: it keeps its model
        links : float
            probability that an edge fails in a round of gossip
        neighbours : int
            in every round a node averages over itself and so many others, drawn from all
        sequence : str
            FILE of networks that take turns, one a step, over the nodes of graph: edge lists, separated by empty
            lines
    learning_rate : float, default 1
        with curvature, the base rate that it has in it
    learning_rates : Path | Sequence[float], default constant
        how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
        step:factor,from[,from…], or a FILE with one number a line
    optimizer : str | Mapping[str, Any]
        what nodes do with gradients, such as momentum:0.9,nesterov:
        decay : float
            what models lose in a step, times the rate; decoupled from gradients
        local : int
            gossip follows every so many gradient steps; T counts these
        momentum : float
            of every node, from 0 to below 1; it is not gossiped
        nesterov : bool
            Nesterov's form of momentum
        rounds : int
            so many rounds of gossip at a time
        tracking : bool
            nodes gossip and follow the mean gradient, too
    task : str | Mapping[str, Any]
        instead of curvature, the spectrum, distance and records of a task of mafalda.simulate: linear, logistic,
        perceptron, housing, housing-linear, mnist
        data : str
            path of the data of housing and housing-linear (a file), or mnist and perceptron (a folder)
        records : int
            records of a synthetic task (default 4000)
    workload : Literal["model", "message", "prefix"], default model
        whose error counts: model (after averaging), message (before), prefix (centralized)
    schema : Path | Sequence[Sequence[int]], default cyclic
        when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at most
        k times single: once FILE: in the steps of one of its lines, counted from 0
    b : int
        steps between participations (default T/k)
    """
    return call("advise", locals())


def epsilon(
    *,
    adjacency: Adjacency = None,
    alpha: float | Parts = None,
    delta: Number = None,
    epsilon: Number = None,
    export: Source = None,
    mu: Number = None,
    node: Text = None,
    noise_multiplier: Number = None,
    sampling: Parts = None,
    step: int | Sequence[int] | None = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Convert between mu-GDP, (epsilon, delta) and Renyi DP.

    Convert between the parameters of Gaussian DP, approximate DP and Renyi DP. Give two of mu, epsilon and delta
    and the third is computed, exactly and rounded to the safe side; alpha adds the Renyi divergence of that
    order, and alpha with rdp (the divergence of a Gaussian mechanism) stands for mu.

    With sampling poisson the mechanism is given: in each of rounds every record takes part with probability,
    independently and in secret (adjacency). noise_multiplier gives the epsilon for delta, or epsilon the least
    noise multiplier. The epsilon holds; the least one is known within 0.2 % as a rule (docs/sampling.md), and
    where it is not the output says so, and what proves the epsilon.

    With sampling allocation the steps are cut into rounds blocks of choices steps, and every record takes part in
    exactly one step of each block, drawn at random, in secret (docs/sampling-allocation.md).

    With sampling truncated a round takes at most max of up to records records; the chance that some are dropped
    is counted in delta (docs/sampling-truncated.md).

    With export it is an odometer: what a run has given away after step steps, to everybody who sees all messages,
    and not only when it is over. It is never more than the plan's guarantee. It is for a run whose end does not
    depend on the records.

    Parameters
    ----------
    adjacency : Literal["zero-out", "replace-one"], default zero-out
        with sampling: neighbours differ in a record that is there or zero (zero-out), or, not with allocation, in
        a record that is another one (replace-one)
    alpha : float | str | Mapping[str, Any]
        Renyi order
        rdp : float
            Renyi divergence of this order, of a Gaussian mechanism
    delta : float
        of (epsilon, delta)-DP
    epsilon : float
        of (epsilon, delta)-DP
    export : Path | Export
        what a run of the export in this folder has given away, step by step
    mu : float
        GDP parameter
    node : str
        with export: LABEL of the node (default: the node that has spent the most)
    noise_multiplier : float
        with sampling: noise standard deviation over the clip
    sampling : str | Mapping[str, Any]
        batches that are drawn in secret, here all in one group: poisson: in secret, every record with probability
        w/b in each step of its group, one of w allocation: in secret, every record in one step, drawn at random,
        of each of k blocks of its group's steps; T = k·b truncated: poisson with batches of at most max of up to
        records records, for static shapes
        choices : int
            of allocation: steps of a block
        max : int
            of truncated: records in a round; of more that are drawn, some are dropped
        probability : float
            of a record to take part in a round
        records : int
            of truncated: at least as many as there are
        rounds : int
            rounds that a record can be drawn for, or blocks
    step : int | Sequence[int]
        with export: after so many steps, or a list of them (default: 20 steps up to the last)
    """
    return call("epsilon", locals())


def graph(
    graph: Graph,
    *,
    force: Flag = None,
    format: Literal["text", "nvflare"] | None = None,
    out: Path | None = None,
    gossip: Matrix = None,
    seed: Whole = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Inspect or make a graph and its gossip matrix.

    Inspect a graph, from a file or made, and its gossip matrix; with out, write edges.tsv, gossip.mtx and
    nodes.csv.

    Built-in graphs:
      florentine      marriages of 15 Florentine families (Breiger & Pattison 1986)
      complete:n      every node with every other
      cycle:n         a ring of n ≥ 3 nodes
      path:n          a line
      star:n          node 0 with n-1 others
      grid:RxC        R rows of C nodes
      hypercube:d     2^d nodes
      regular:n,d     random, every node of degree d
      erdos:n,p       random, every edge with probability p
      barabasi:n,m    random, new nodes join m old ones by degree
      watts:n,k,p     random, a ring of k neighbours rewired with probability p
      geometric:n,r   random points of the unit square, nearer than r

    Parameters
    ----------
    graph
        a path, the name of a built-in graph, or a networkx graph
    force : bool
        replace files that are there
    format : Literal["text", "nvflare"], default text
        text, or nvflare: the network as NVFlare's peer-to-peer executors take it, as JSON
    out : Path
        folder that keeps the result; without one it goes with the object
    gossip : str | Matrix, default uniform
        gossip matrix: uniform, metropolis, max-degree, laplacian, or a .npy, .mtx or .csv file; directed:FILE for
        one of directed edges
    seed : int
        seed of random graphs and random estimates
    """
    return call("graph", locals())


def verify(
    plan: Path | Export,
    *,
    gossip: Matrix = None,
    graph: Graph = None,
    graph_changes: Parts = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Check an export from its bytes alone.

    Recompute everything that the manifest of an export claims: hashes, shape, C·C⁻¹ = I, parameters, sensitivity,
    noise level; and, where the network can be had again, squared error, loss, lower bounds and baselines.
    Built-in graphs and the centralized workload are made again; for a graph or gossip matrix from a file, name
    that file.

    A manifest that two programs could read differently (a key twice, in another case, or unknown) is refused.
    What cannot be recomputed is listed as not checked: how the run went and, without the network's file, all that
    depends on it.

    Parameters
    ----------
    plan
        a plan, or the folder of an export
    gossip : str | Matrix
        the gossip matrix file the export was made for
    graph : Graph
        the graph file the export was made for; of several networks the files, in their order
    graph_changes : str | Mapping[str, Any]
        how the network changes:
        sequence : str
            the file of networks that take turns the export was made for
    """
    return call("verify", locals())


def report(
    *results: Path | Export | Result,
    force: Flag = None,
    out: Path | None = None,
    title: Text = None,
    progress: Progress = None,
    binary: Text = None,
) -> str:
    """Make one HTML file of results, to look at and to pass on.

    Make one HTML file of folders that were written with out, in the order given: exports, accounts, simulations,
    benchmarks, comparisons of secret batches, averages, audits of trainings, and pictures of mafalda.plot. The
    file needs nothing but a browser, and asks nobody for anything: pictures, numbers, style and script are
    inside.

    It says what was asked, what is certified and what that does not cover, and how to make it again, with the
    SHA-256 of every file. Entries of C and its inverse can be read; on a map of the network an attacker is
    chosen, with mouse or keyboard, to see who leaks how much to it. Nothing is computed or verified:
    mafalda.verify does that.

    Parameters
    ----------
    results
        plans, results, or their folders
    force : bool
        replace a file that is there
    out : Path
        write the report to this file
    title : str
        of the report (default: the names of the folders)
    """
    return call("report", locals())


def plot(
    plan: Path | Export,
    *,
    figure: Parts = None,
    force: Flag = None,
    gossip: Matrix = None,
    graph: Graph = None,
    graph_changes: Parts = None,
    node: Text = None,
    out: Path | None = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Draw an export: matrices, convergence, errors, spectrum.

    Draw an export, as .png, .svg and .pdf:

      matrices      C and C⁻¹ side by side, in signed colours
      convergence   how loss and lower bound approached each other
      errors        the error of every step, beside those of DP-D-SGD and D-MF
      spectrum      the eigenvalues of the gossip matrix, which say how fast errors spread
      sampling      of exports with sampling poisson: errors at the same privacy, for epsilon from 0.25 to 16
      sharing       of exports with trust secldp: who relies on whom, own noise as size and shared noise as width

    Where nodes have strategies of their own, the matrices are those of node, and the errors those of all nodes
    together, each with its own. Errors and spectrum need the network. Built-in graphs are made again; for a graph
    or gossip matrix from a file, name it. Nothing is written before everything is drawn.

    Parameters
    ----------
    plan
        a plan, or the folder of an export
    figure : str | Mapping[str, Any]
        what pictures look like: a column of a journal may want width:3.4,font:8,no-title
        font : float
            letters in POINTS (default 10)
        no_title : bool
            without the title, which a caption says
        width : float
            in INCHES (default 7)
    force : bool
        replace pictures that are there
    gossip : str | Matrix
        the gossip matrix file the export was made for
    graph : Graph
        the graph file the export was made for
    graph_changes : str | Mapping[str, Any]
        how the network changes:
        sequence : str
            the file of networks that take turns the export was made for
    node : str
        LABEL of the node whose strategy to draw, if nodes have their own (default: the first)
    out : Path
        folder that keeps the result; without one it goes with the object
    """
    return call("plot", locals())


def average(
    graph: Graph = None,
    *,
    compare: Flag = None,
    noise_std: Number = None,
    observer: str | Sequence[str] | None = None,
    out: Path | None = None,
    protocol: Parts = None,
    push_sum: Parts = None,
    rounds: Whole = None,
    values: Path | Mapping[str, float] | Parts = None,
    victim: Text = None,
    delta: Number = None,
    figure: Parts = None,
    force: Flag = None,
    papers: Flag = None,
    gossip: Matrix = None,
    seed: Whole = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Average private values with PPAC, DPPS or gossip, and say who learns what.

    Let the nodes of a network average one private value each, and say what the others learn of it.

      ppac    fragments, then consensus: the exact average; leakage in nats for every observer and victim (Gaussian values and noise)
      dpps    push-sum with Laplace noise in every message of every round; the noise follows an estimate of the sensitivity
      gossip  Gaussian noise on every value once, then consensus: differential privacy against everybody

    compare runs all three on the same graph and values; with out, those that are there are not run again. The
    promises are different in kind: docs/protocols.md.

    dpps also takes the directed graphs graph d-out:n,d (in every round node i sends to i+1, ..., i+d-1) and exp:n
    (in round t to i+2^t), and push_sum sequence:FILE: an edge list "u v" (u sends to v) for every round, rounds
    separated by empty lines.

    Values are drawn, or read with values FILE (lines "label value"). The noise is that of a simulation: it
    protects nobody's values.

    Parameters
    ----------
    compare : bool
        all protocols side by side
    noise_std : float
        standard deviation of the noise (default: 15 times values std for ppac, difference for gossip)
    observer : str | Sequence[str]
        ppac, gossip: LABEL of the observer, or LABEL,LABEL,... of nodes that collude (default: every node, alone)
    out : Path
        folder that keeps the result; without one it goes with the object
    protocol : str | Mapping[str, Any], default ppac
        protocol: ppac, dpps, gossip
        chosen : str
            ppac: read from this file which neighbour completes each node's fragments (lines "node neighbour";
            default: random)
        difference : float
            gossip: values this far apart are to be indistinguishable (default: values std)
    push_sum : str | Mapping[str, Any]
        noise of dpps, such as laplace-b:20,sync:0:
        c_prime : float
            C' of the recursion, instead
        estimate : str
            where S is from: sound: estimates that are proved to be enough for this network paper: the paper's
            recursion with its C' = 0.78 and lambda = 0.55, which can be too small real: what nobody in the network
            knows
        gamma_n : float
            the noise rate that it is multiplied by; a round has epsilon = b/gamma-n
        lambda : float
            lambda of the recursion, instead
        laplace_b : float
            noise is Laplace of scale S/b, S the sensitivity of the round. The default leaves an average, under an
            epsilon = b/gamma-n of a round that hides next to nothing; under laplace-b:5 errors grow on most networks
        sequence : str
            read the directed graphs of the rounds from this file
        sync : int
            all nodes average exactly after so many rounds, which resets the sensitivity (0: never)
    rounds : int
        rounds. ppac and gossip: nodes average t times, and leakage counts the t+1 messages of the rounds 0 to t,
        v(t) included; dpps: t rounds, with t messages (default: ppac and gossip until all are within 1e-6 of the
        average, with leakage for ever; dpps 10)
    values : Path | Mapping[str, float] | str | Mapping[str, Any]
        read the values from this file, instead of drawing them
        std : float
            standard deviation of the values
    victim : str
        ppac, gossip: LABEL of the only victim
    graph : Graph
        graph: a file (edge list, .mtx, .npy; .gz too), directed:FILE, whose edges "u v" let u average over v, or
        florentine complete:n cycle:n path:n star:n grid:RxC hypercube:d regular:n,d erdos:n,p barabasi:n,m
        watts:n,k,p geometric:n,r
    delta : float, default 1e-06
        of (epsilon, delta)-DP
    figure : str | Mapping[str, Any]
        what pictures look like: a column of a journal may want width:3.4,font:8,no-title
        font : float
            letters in POINTS (default 10)
        no_title : bool
            without the title, which a caption says
        width : float
            in INCHES (default 7)
    force : bool
        replace files that are there
    papers : bool
        draw the figures of the papers that have averaging into out
    gossip : str | Matrix
        consensus matrix: metropolis, max-degree or laplacian (default: laplacian, which is I - (D-A)/d_max;
        metropolis where that reaches no consensus, and for dpps)
    seed : int
        seed of random graphs, values, chosen neighbours and noise
    """
    return call("average", locals())


def partpsp(
    *,
    laplace_b: Numbers = None,
    networks: Sequence[Path | Export] | None = None,
    out: Path | None = None,
    push_sum: Parts = None,
    seeds: Whole = None,
    shared: int | Sequence[int] | None = None,
    task: Parts = None,
    batch: Whole = None,
    clip: Number = None,
    epochs: Whole = None,
    figure: Parts = None,
    force: Flag = None,
    learning_rate: Number = None,
    nodes: Whole = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Train with PartPSP: push-sum with Laplace noise, of some layers only.

    Train a perceptron (features-10-features-classes, tanh, no biases) on directed networks with PartPSP (Zhou,
    Xue & Chen), and print the test accuracy as their Table II has it: rows are how many layers are shared (all of
    them is SGPDP) and the noise, columns networks.

    The noise of a round is Laplace of scale gamma-n·S/b in every shared parameter, S the sensitivity of the
    round; the round has epsilon = b/gamma-n, which is printed: b alone is no epsilon. By default S is the real
    one, as in the paper's table. No node knows it, so this shows the best that can be expected; push_sum
    estimate:sound takes what the nodes can compute.

    synthetic needs no data; mnist a folder with four IDX files.

    Parameters
    ----------
    laplace_b : float | Sequence[float], default 1,2,3
        noise levels; training without noise is always there, too
    networks : Sequence[Path | Export], default exp,d-out:4,d-out:6,d-out:8
        directed networks: exp, and d-out:d for several d
    out : Path
        folder that keeps the result; without one it goes with the object
    push_sum : str | Mapping[str, Any]
        noise, such as gamma-n:1e-4,estimate:sound:
        estimate : str
            sensitivity of the rounds: real, sound or paper (see mafalda.average)
        gamma_n : float
            noise rate; a round has epsilon = b/gamma-n
        sync : int
            all nodes average exactly after so many rounds (0: never)
    seeds : int, default 3
        runs of every cell
    shared : int | Sequence[int], default 1,2,3
        how many of the three layers are shared, from the first
    task : str | Mapping[str, Any], default synthetic
        what is learned: synthetic or mnist
        data : str
            folder with the data of mnist
        features : int
            features of the synthetic task (784 for a model as large as the paper's)
        records : int
            records of the synthetic task
    batch : int, default 50
        records of a node in a round
    clip : float, default 100
        sum of magnitudes to which shared gradients are clipped
    epochs : int, default 12
        passes over the records
    figure : str | Mapping[str, Any]
        what pictures look like: a column of a journal may want width:3.4,font:8,no-title
        font : float
            letters in POINTS (default 10)
        no_title : bool
            without the title, which a caption says
        width : float
            in INCHES (default 7)
    force : bool
        replace files that are there
    learning_rate : float, default 0.3
        of shared and local layers
    nodes : int, default 10
        nodes of the network
    """
    return call("partpsp", locals())


def smoothness(
    *,
    model: str | Mapping[str, Any],
    rate: float,
    batch: int | Parts = None,
    clip: float | Parts = None,
    data: Path | Array | Parts = None,
    norm: Number = None,
    weight_decay: Number = None,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Tell how strongly a training reacts: the class that account asks for.

    Tell which class of steps a training is in, and with which number: what account's reaction asks for. A network
    that trains leaks more than its messages show, because hidden nodes answer to models that hold the victim's
    data, and the class says by how much at most.

    A node's step is theta - eta (decay theta + (1/D) sum over its batch of clip(gradient) + noise). beta is the
    Lipschitz constant of the SUM of clipped gradients, and the number x is eta beta / D. By default D is 1, and
    rate multiplies the sum; with mean it multiplies the mean over a batch of batch records. Batches that are
    drawn in secret can hold all records of a node: batch is then that, and divisor what the sum is divided by. If
    the rate changes, rate is the largest.

    Models: linear (o - y)^2, logistic (one output, two classes), softmax (an output a class), with o = Wx + b,
    from a bound on the Euclidean norm of the inputs x; convex and smooth (not convex, such as a network with
    smooth activations) from beta, a Lipschitz constant of one record's unclipped gradient. Most networks have
    none: their class is nothing, and local DP the number to publish.

    norm is a bound that everybody may know: scale inputs down to it. The largest norm in data is private
    information of those who have the records; a privacy statement that is made of it says something about them.

    Parameters
    ----------
    model : str | Mapping[str, Any]
        what is trained (required): linear, logistic, softmax, convex, smooth
        beta : float
            Lipschitz constant of one record's gradient, before clipping: of convex and smooth
        classes : int
            of softmax: 2 are as good as logistic (default: more)
        curvature : float
            largest second derivative of the loss of an output (default: 2 of linear, 1/4 of logistic)
        no_intercept : bool
            the model has no parameter b
        ridge : float
            lambda of a term lambda/2 |theta|^2 in every record's loss, clipped with it
    rate : float
        learning rate, the largest (required)
    batch : int | str | Mapping[str, Any], default 1
        records that a batch can have at most
        divisor : float
            the sum of a batch is divided by this number (default 1)
        mean : bool
            the rate multiplies the mean over so many records, not the sum
        smallest : int
            records that it has at least, for ridge (default: the same)
    clip : float | str | Mapping[str, Any]
        norm that gradients are clipped to: if none is as long, the class is smaller
        per_layer : bool
            weights and intercept are clipped apart, each to this norm
        unclipped : bool
            you can prove that no gradient is ever clipped
    data : Path | Array | str | Mapping[str, Any]
        take the largest norms of this file instead: .npy, or rows of numbers as text
        target : str
            column that is no input, counted from 1, or from the end: -1
    norm : float
        a public bound on the norm of every record's inputs, without the 1 of the intercept
    weight_decay : float
        what models lose in a step, times the rate, outside the clip
    """
    return call("smoothness", locals())


def spent(
    description: Path,
    *,
    progress: Progress = None,
    binary: Text = None,
) -> Result:
    """Say what a training of another program gives away in total.

    Account for a training of another program (Flower, p2pfl, NVFlare, Opacus, or your own loop) from a
    description of its rounds: the total epsilon by round, for whom it holds, what the description leaves open,
    and what would keep it to what was announced.

    A description is TOML, such as

        preset = "flower-local-dp"    # or flower-central-dp, flower-local-dp, nvflare-svt, opacus, p2pfl, or none
        rounds = 20
        clip = 1.0
        epsilon = 3.0                 # what is announced for a round
        delta = 1e-5

    Keys: unit (record, person, silo: who is protected), delta, adjacency (zero-out, replace-one); and of a round:
    rounds, mechanism (gaussian, matrix, laplace, svt), probability (drawn in secret), recipients (that get noise
    of their own for the same data), clip, and one of sigma, noise_multiplier and epsilon (with sensitivity,
    announced_delta); weight (the largest of a unit in a mean, over its equal share), count_std (of adaptive
    clipping), matrix (C.npy or the folder of an export, with participations and separation, or in every round),
    parameters, fraction, noise_var, epsilon_release. Several [[phase]] tables are phases with keys of their own.
    docs/is-my-epsilon-right.md explains them.

    Parameters
    ----------
    description
        the path of a description, TOML
    """
    return call("spent", locals())
