"""The commands of the program as functions. Made by generate.py of commands.json: do not change it by hand.

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


def optimize(
    graph: Graph = None,
    *,
    steps: int | None = None,
    adjacency: str | None = None,
    average_last: int | None = None,
    bandwidth: int | None = None,
    budgets: str | None = None,
    buffers: int | None = None,
    carry: bool | None = None,
    checkpoint: Path | None = None,
    clip: float | None = None,
    coalitions: str | Path | Sequence[Sequence[str]] | None = None,
    curvature: float | Path | Sequence[float] | np.ndarray | None = None,
    delta: float | None = None,
    dim: int | None = None,
    directed: bool | None = None,
    epsilon: float | None = None,
    failure: float | None = None,
    float32: bool | None = None,
    force: bool | None = None,
    format: str | None = None,
    gossip: str | None = None,
    gossip_matrix: Matrix = None,
    gossip_rounds: int | None = None,
    gradient_tracking: bool | None = None,
    gram: str | None = None,
    graph_sequence: Path | Sequence[Graph] | None = None,
    groups: int | None = None,
    keep_partial: bool | None = None,
    lanczos_steps: int | None = None,
    largest_pair: float | None = None,
    learning_rates: str | Path | Sequence[float] | None = None,
    link_failures: float | None = None,
    local_steps: int | None = None,
    max_batch: int | None = None,
    memory: int | str | None = None,
    missed_steps: float | None = None,
    momentum: float | None = None,
    mu: float | None = None,
    nesterov: bool | None = None,
    no_baselines: bool | None = None,
    no_dense: bool | None = None,
    node_failures: float | None = None,
    objective: str | None = None,
    out: Path | None = None,
    k: int | None = None,
    per_node: bool | None = None,
    person_batches: int | None = None,
    probes: int | None = None,
    random_neighbours: int | None = None,
    records: int | None = None,
    resume: bool | None = None,
    risk: str | None = None,
    samples: int | None = None,
    sampling: str | None = None,
    scale_columns: bool | None = None,
    schema: str | Path | Sequence[Sequence[int]] | None = None,
    secrets: str | Path | Sequence[Sequence[str]] | None = None,
    seed: int | None = None,
    b: int | None = None,
    start: Path | Export | None = None,
    strategy: str | None = None,
    strict: bool | None = None,
    tolerance: float | None = None,
    trust: str | None = None,
    unit: str | None = None,
    weight_decay: float | None = None,
    workload: str | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Plan:
    """Compute, certify and export the optimal strategy of a network.

    Compute the strategy C of least loss sens(C)²·‖LC⁻¹‖² for a network and a number of steps, with a proof of how
    close to the optimum it is. A node adds row t of C⁻¹Z to its gradients at step t.

    A record takes part at most k times, b steps apart (--schema says otherwise). With --T alone, k = 20 if 20
    divides T.

    Keywords:
        steps
            steps (required)
        adjacency
            neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise) (default
            zero-out)
        average_last
            count the errors of the last so many steps alone, as of models that are averaged or compared there
            (default: those of all steps)
        bandwidth
            bands or coefficients w of the strategy (default: see --strategy)
        budgets
            a privacy level for every node, in the place of --mu, --epsilon, --delta and --clip: CSV file with the
            columns node, epsilon and delta, or mu, and clip
        buffers
            buffers of --strategy blt and comb, 1 to 64; fewer by default where T is no more (default 4)
        carry
            the next message has the rows of noise of missed steps; otherwise they are lost
        checkpoint
            keep the optimization in this file while it runs, every ten seconds
        clip
            norm to which each record's gradient is clipped (default 1)
        coalitions
            with --trust secldp, who puts together what they know: 1 (nobody: single curious nodes), 2 (any two
            nodes), or a file with the labels of a coalition a line (nodes in none are trusted); the eavesdropper
            is always there (default 1)
        curvature
            gradients react to errors by these second derivatives of the loss, times the base learning rate:
            numbers (0.3, or 0.01:20,0.3 for twenty directions and one), an interval (0.001..0.9, of which nobody
            knows which), or a FILE with lines "x,directions"; a training forgets noise (default: gradients do not
            react; docs/objective.md)
        delta
            the delta of --epsilon, or to report an epsilon for --mu
        dim
            parameters of the model
        directed
            edges have a direction: "u v" lets u average over v
        epsilon
            privacy wanted, with --delta, instead of --mu
        failure
            probability that the accountant of --sampling bins may be wrong with (default 1e-9)
        float32
            a node keeps numbers of 4 bytes, not of 8
        force
            replace an earlier export
        format
            of the matrices: npy, csv or both (default npy)
        gossip
            gossip matrix: uniform, metropolis, max-degree, laplacian (default uniform)
        gossip_matrix
            read the gossip matrix from this .npy, .mtx or .csv file instead
        gossip_rounds
            so many rounds of gossip at a time (default 1)
        gradient_tracking
            nodes gossip and follow the mean gradient, too
        gram
            Gram matrix: exact, lanczos (estimated from random vectors, with an error bound), sampled (likewise
            from random runs of networks that change), or auto: exact unless that takes minutes (default auto)
        graph
            graph: a file (edge list, .mtx, .npy; .gz too) or florentine complete:n cycle:n path:n star:n grid:RxC
            hypercube:d regular:n,d erdos:n,p barabasi:n,m watts:n,k,p geometric:n,r; several times, and nobody
            knows which it will be: the least worst ratio
        graph_sequence
            FILE of networks that take turns, one a step, over the nodes of --graph: edge lists, separated by
            empty lines
        groups
            so many dense strategies that the nodes share, found by assigning and optimizing in turn
        keep_partial
            export the best strategy so far if interrupted or not converged
        lanczos_steps
            products with the gossip matrix for each of them (default 40)
        largest_pair
            with --trust secldp, the most variance that a pair may share, where a node alone would need 1: larger
            gains a little, and a node that drops out leaves it behind (docs/secrets-optimum.md) (default 300)
        learning_rates
            how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
            step:factor,from[,from…], or a FILE with one number a line (default constant)
        link_failures
            probability that an edge fails in a round of gossip
        local_steps
            gossip follows every so many gradient steps; T counts these (default 1)
        max_batch
            with --sampling truncated: records in a step; of more that are drawn, some are dropped, and the chance
            of that is added to --delta (default: the least that costs nearly nothing)
        memory
            choose class and width of --strategy, the best that keeps no more, such as 4GB; needs --dim (MB is 10⁶
            bytes, MiB is 2²⁰)
        missed_steps
            probability that a node has no gradient in a step, and sends no noise
        momentum
            of every node, from 0 to below 1; it is not gossiped
        mu
            privacy wanted, as the parameter of Gaussian DP
        nesterov
            Nesterov's form of it
        no_baselines
            do not compare with DP-D-SGD, AntiPGD and D-MF
        no_dense
            export the parameters of a structured strategy only, not its matrices (the default for T > 4096)
        node_failures
            probability that a node fails in a round of gossip: it keeps its model
        objective
            what is to be small: mean: the squared error of all steps together max: of the worst step last: of the
            model after the last step (default mean)
        out
            folder that keeps the result; without one it goes with the object
        k
            how often a record takes part (default 20 if 20 divides T)
        per_node
            a dense strategy for every node, exported as one n×T×T array
        person_batches
            with --unit person: in how many of the b batches a person may have records (default 1)
        probes
            random vectors of --gram lanczos, at least 4 (default 800,000 divided by the nodes, a multiple of 4
            from 4 to 100); all unit vectors, without chance, for as many nodes or for 128 and fewer
        random_neighbours
            in every round a node averages over itself and so many others, drawn from all
        records
            with --sampling truncated: at least as many records as any node has
        resume
            go on with the optimization in the file of --checkpoint, if it is there
        risk
            of --curvature: excess (how far the loss is above its least value), distance (of the models), or worst
            (the largest ratio to the best strategy for each alone) (default excess)
        samples
            of the accountant of --sampling bins, drawn with --seed (default 524288)
        sampling
            how nodes draw batches: cyclic (in turn; attackers may know when a record takes part), poisson (in
            secret, every record with probability w/b in w groups; needs --epsilon and --delta, and finds the best
            w up to b unless --bandwidth says it), allocation (in secret, every record in one step, drawn at
            random, of each of k blocks of its group's steps; T = k·b), truncated (poisson with batches of at most
            --max-batch records, for static shapes; needs --records), bins (in secret, every record put once into
            one of b batches of random size, drawn independently and uniformly: not a permutation that is cut into
            equal batches; needs --epsilon and --delta) (default cyclic)
        scale_columns
            fit the scales of columns, for --strategy toeplitz and comb
        schema
            when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at
            most k times single: once FILE: in the steps of one of its lines, counted from 0 (default cyclic)
        secrets
            with --trust secldp, which pairs may share noise: gossip (the edges of the graph), all (up to 500
            nodes), or a file of edges (default gossip)
        seed
            seed of random graphs and random estimates
        b
            steps between participations (default T/k)
        start
            start from the strategy of this earlier export, of the same T (another network will do)
        strategy
            class of strategies: dense: the optimum among all, T rows of noise kept banded: w bands, w-1 rows kept
            (default 2b; b under min-sep, where it is the default) toeplitz: w coefficients, w-1 rows kept
            (default b) blt: a rational function, d buffers kept (default 4) banded-inverse: C⁻¹ of w
            coefficients, w-1 rows kept (default b) comb: blt of d buffers (default 4) times a comb of period w,
            d+w rows kept (default b)
        strict
            refuse a disconnected graph instead of keeping its largest component
        tolerance
            certified relative gap to stop at (default 1e-3 for --objective max, 1e-2 for last and for noise that
            counts for nothing)
        trust
            against whom: ldp: everybody who sees all messages; every node has its own noise secldp: nodes, too,
            that know the noise they share; pairs share noise that cancels when they average (docs/secrets.md)
            (default ldp)
        unit
            who is protected: record, or person, with all records that are theirs (default record)
        weight_decay
            what models lose in a step, times the rate; decoupled from gradients
        workload
            whose error counts: model (after averaging), message (before), prefix (centralized) (default model)
    """
    return call("optimize", locals())


def account(
    plan: Path | Export | None = None,
    *,
    steps: int | None = None,
    algorithm: str | None = None,
    alpha: float | None = None,
    attackers: str | Sequence[str] | None = None,
    bound: str | None = None,
    carry: bool | None = None,
    clipped_convex: float | str | None = None,
    coalitions: str | Path | Sequence[Sequence[str]] | None = None,
    convex: float | str | None = None,
    delta: float | None = None,
    directed: bool | None = None,
    export: Path | Export | None = None,
    fixed_inputs: bool | None = None,
    force: bool | None = None,
    forget_own_noise: bool | None = None,
    gossip: str | None = None,
    gossip_matrix: Matrix = None,
    gossip_rounds: int | None = None,
    gradient_tracking: bool | None = None,
    graph: Graph = None,
    graph_sequence: Path | Sequence[Graph] | None = None,
    growth: str | None = None,
    learning_rates: str | Path | Sequence[float] | None = None,
    link_failures: float | None = None,
    lipschitz: float | str | None = None,
    local_steps: int | None = None,
    missed_steps: float | None = None,
    momentum: float | None = None,
    nesterov: bool | None = None,
    node_failures: float | None = None,
    out: Path | None = None,
    own_noise: float | None = None,
    k: int | None = None,
    person_batches: int | None = None,
    random_neighbours: int | None = None,
    refine: bool | None = None,
    schema: str | Path | Sequence[Sequence[int]] | None = None,
    secure_summation: bool | None = None,
    seed: int | None = None,
    b: int | None = None,
    shared_noise: float | None = None,
    sigma: float | None = None,
    smooth: float | str | None = None,
    strict: bool | None = None,
    strongly_convex: str | Sequence[float] | None = None,
    trust: str | None = None,
    unit: str | None = None,
    weight_decay: float | None = None,
    worst_answer: bool | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Compute who learns how much of whom.

    Compute what an attacker learns of every other node: the squared sensitivity of its view, and the privacy that
    follows.

    Sensitivities are for gradients of norm 1 and noise of standard deviation 1; mu and epsilon are for the real
    noise: that of --sigma, over what a record can move a sum of gradients by (the clip, or twice the clip where
    records are replaced), or else what the export of --export was calibrated with. A record takes part in every
    step unless -k, -b or --schema say otherwise, as in Figure 2 of Bellet et al. Bounds: best is the smallest
    proven one and never above local DP; abs, spectral and exact are single ones; lower is no bound, but what is
    certainly lost, and no mu follows from it.

    What a node learns (--trust pndp, with --secure-summation or without) depends on how gradients of other nodes
    react to models that the attacker does not see. Without a flag about that the guarantee is local DP. With
    --convex, --smooth, --clipped-convex, --strongly-convex or --lipschitz it is a bound for every training of
    that class (x = ηβ is the learning rate, of which --learning-rates are multiples, times a Lipschitz constant
    of the sum of clipped gradients; docs/threat-models.md says which). With --fixed-inputs it is for inputs that
    do not react to what hidden nodes learned (averaging, fixed streams); a network that trains has the local-DP
    number; that number is shown beside others as "if gradients do not react", and is no guarantee for a training.
    What everybody learns (ldp, secldp) holds however nodes react.

    Bounds of a class are of all victims at once. Where it takes seconds, or with --refine, the pairs that lose
    most at each distance get their best bound, which is several times smaller where a record takes part more than
    once.

    With an optimizer, or networks that change, the attacker sees other messages; local DP stays. Where networks
    or missed steps are drawn, what is reported holds whatever is drawn: local DP, less what can never arrive.
    Columns "as drawn" are for exactly those of --seed, and no others.

    With -o the pairs are written as CSV and JSON, with a figure by distance. The folder belongs to one network,
    algorithm, export and set of flags; more attackers, or numbers of steps of --growth, can be added to it, also
    by several processes at once, and an interrupted command goes on where it stopped.

    Keywords:
        plan
            of a plan its steps, participation, network and algorithm are taken, where no keyword says otherwise
        steps
            steps (required)
        algorithm
            algorithm: dp-d-sgd, antipgd, muffliato, decor, zip-dl, mf-d-sgd (default dp-d-sgd)
        alpha
            order of the Renyi divergence to report (default 2)
        attackers
            LABEL of the attacking node, LABEL,LABEL,... of a coalition, or all: every node in turn; labels with
            commas in quotes, as in CSV
        bound
            of the sensitivity: best, abs, spectral, exact, lower (default best)
        carry
            the next message has the rows of noise of missed steps; otherwise they are lost
        clipped_convex
            convex losses that are clipped, softmax, say: x = ηβ, β summed up over records before clipping
        coalitions
            who colludes under secldp, where nodes share noise: every SET of at most so many nodes, or those of a
            file (default: as the export says)
        convex
            convex losses, never clipped or of linear models with one output: x = ηβ
        delta
            report the epsilon of this delta, too
        directed
            edges have a direction: "u v" lets u average over v
        export
            the export folder whose strategy mf-d-sgd runs, with the noise it was calibrated with
        fixed_inputs
            not at all: averaging, streams that are fixed beforehand
        force
            replace results of other inputs
        forget_own_noise
            the attacker's own noise counts as protection
        gossip
            gossip matrix: uniform, metropolis, max-degree, laplacian (default uniform)
        gossip_matrix
            read the gossip matrix from this .npy, .mtx or .csv file instead
        gossip_rounds
            so many rounds of gossip at a time (default 1)
        gradient_tracking
            nodes gossip and follow the mean gradient, too
        graph
            graph: a file (edge list, .mtx, .npy; .gz too) or florentine complete:n cycle:n path:n star:n grid:RxC
            hypercube:d regular:n,d erdos:n,p barabasi:n,m watts:n,k,p geometric:n,r
        graph_sequence
            FILE of networks that take turns, one a step, over the nodes of --graph: edge lists, separated by
            empty lines
        growth
            instead of --T: compare these numbers of steps, such as 10,20,50, with the asymptote
        learning_rates
            how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
            step:factor,from[,from…], or a FILE with one number a line (default constant)
        link_failures
            probability that an edge fails in a round of gossip
        lipschitz
            steps that move models at most L times as far apart
        local_steps
            gossip follows every so many gradient steps; T counts these (default 1)
        missed_steps
            probability that a node has no gradient in a step, and sends no noise
        momentum
            of every node, from 0 to below 1; it is not gossiped
        nesterov
            Nesterov's form of it
        node_failures
            probability that a node fails in a round of gossip: it keeps its model
        out
            folder that keeps the result; without one it goes with the object
        own_noise
            standard deviation of a node's own noise in decor (default 1)
        k
            how often a record takes part (default: in every step; with -b, 20 if that fits)
        person_batches
            with --unit person: in how many of the b batches a person may have records (default 1)
        random_neighbours
            in every round a node averages over itself and so many others, drawn from all
        refine
            find the best bound for the pairs that lose most at each distance (default: where that takes seconds,
            or with --worst-answer)
        schema
            when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at
            most k times single: once FILE: in the steps of one of its lines, counted from 0 (default cyclic)
        secure_summation
            nodes see only weighted sums of messages
        seed
            seed of random graphs and random estimates
        b
            steps between participations (default T/k)
        shared_noise
            standard deviation of the noise that neighbours share in decor (default 1)
        sigma
            noise standard deviation over what a record can move a sum by: the clip, or 2·clip (default: that of
            --export, or 1)
        smooth
            smooth losses, convex or not, clipped in any way: x = ηβ, β of the sum of the clipped gradients
        strict
            refuse a disconnected graph instead of keeping its largest component
        strongly_convex
            strongly convex losses, never clipped: x,y = ηβ,ηλ
        trust
            what the attacker sees: ldp: all messages, and all noise but the victim's own pndp: what reaches it
            (for training see above) secldp: all messages and the attacker's own secrets eavesdropper: all
            messages, and no secrets (default pndp)
        unit
            who is protected: record, or person, with all records that are theirs (default record)
        weight_decay
            what models lose in a step, times the rate; decoupled from gradients
        worst_answer
            print what the worst answers of the class reach, as far as they are found, of the pairs that lose most
            at each distance
    """
    return call("account", locals())


def audit(
    plan: Path | Export | None = None,
    *,
    steps: int | None = None,
    actual: str | None = None,
    actual_batches: int | None = None,
    adjacency: str | None = None,
    algorithm: str | None = None,
    answer: str | None = None,
    attacker: str | Sequence[str] | None = None,
    audit_seed: int | None = None,
    carry: bool | None = None,
    coalitions: str | Path | Sequence[Sequence[str]] | None = None,
    coins: Path | None = None,
    confidence: float | None = None,
    delta: float | None = None,
    directed: bool | None = None,
    epsilon: float | None = None,
    export: Path | Export | None = None,
    force: bool | None = None,
    forget_own_noise: bool | None = None,
    gossip: str | None = None,
    gossip_matrix: Matrix = None,
    gossip_rounds: int | None = None,
    gradient_tracking: bool | None = None,
    graph: Graph = None,
    graph_sequence: Path | Sequence[Graph] | None = None,
    groups: int | None = None,
    known_seed: bool | None = None,
    learning_rates: str | Path | Sequence[float] | None = None,
    link_failures: float | None = None,
    local_steps: int | None = None,
    max_batch: int | None = None,
    missed_steps: float | None = None,
    momentum: float | None = None,
    nesterov: bool | None = None,
    node_failures: float | None = None,
    noise_multiplier: float | None = None,
    noise_scale: float | None = None,
    out: Path | None = None,
    own_noise: float | None = None,
    k: int | None = None,
    person_batches: int | None = None,
    probability: float | None = None,
    random_neighbours: int | None = None,
    records: int | None = None,
    run: Path | None = None,
    runs: int | None = None,
    sampling: str | None = None,
    scaled_nodes: str | None = None,
    schema: str | Path | Sequence[Sequence[int]] | None = None,
    secure_summation: bool | None = None,
    seed: int | None = None,
    b: int | None = None,
    shared_noise: float | None = None,
    strict: bool | None = None,
    trust: str | None = None,
    unit: str | None = None,
    victim: str | None = None,
    weight_decay: float | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Attack the simulated protocol, to prove the accounting wrong.

    Run the protocol many times with random noise, with and without a record of the victim, give the attacker what
    it sees, and apply the best linear test. The mu that the attack reaches, with its confidence interval, stands
    against the claimed one. With --export the noise is made by C_inv of the export itself, at the level that it
    was calibrated with. Of an export whose nodes share noise (--trust secldp) the worst coalition that it allows
    attacks, or that of --coalitions or --attacker, and the claim is the export's.

    The claim of --trust pndp holds for inputs that do not react to what hidden nodes learned (averaging, fixed
    streams); a network that trains has the local-DP number. With --answer all nodes but the attackers react to
    the model θ that they hold, in units of what a record can move a sum of gradients by: clip:K,B adds clip(K·θ,
    B) to what they send, so that B is about how many records react; that is the gradient of a loss that falls as
    the model grows, the sign that hurts. linear:D sends D·θ in the place of θ. What a threshold of the attack's
    statistic proves (Clopper and Pearson) stands against the claim, against the bound for nodes that react like
    that, and against local DP. With the name of a class (convex:X, smooth:X, clipped-convex:X,
    strongly-convex:X,Y, lipschitz:L, as mafalda smoothness has them) the worst linear answers of the class are
    played, and the claim is the bound for the class, which they may not exceed.

    With --sampling the privacy of secret batches is attacked: the attacker sees all messages, whatever the
    network, and applies the likelihood ratio test of what the nodes really do (--actual), at several points of
    the curve of epsilon and delta that is claimed. The claim is the accountant's, or the export's of --export, or
    --epsilon. Fixed batches under a Poisson claim fail.

    With --run a training that happened is audited, by the messages that a node recorded and by records that were
    made up for that (docs/auditing.md). It says how much of them arrived, a lower bound for epsilon, and whether
    the run has one of the faults that people make. With --confidence 0.95, unless it is given. What a node
    received of the others is audited with --attacker and its label: by the matched filter of mafalda account, for
    canaries of a node that it attacks.

    Keywords:
        plan
            of a plan its steps, participation, network and algorithm are taken, where no keyword says otherwise
        steps
            steps (required)
        actual
            with --sampling: what the nodes really do (default: the same): one of these, or records shuffled and
            cut into equal batches, permutation: once, for batches in turn; shuffle: anew for each of T/b blocks
        actual_batches
            in how many batches of a cycle the victim's records really are (default: as claimed)
        adjacency
            with --sampling: data sets differ in a record that is there or not (zero-out), or in one that is
            replaced (replace-one); with --export as it says (default zero-out)
        algorithm
            algorithm: dp-d-sgd, antipgd, muffliato, decor, zip-dl, mf-d-sgd (default dp-d-sgd)
        answer
            let nodes react to their models θ, and HOW: clip:K,B adds clip(K·θ, B) to what they send (B can be
            inf), linear:D sends D·θ; convex:X, smooth:X, ...: the worst answers of the class, against its bound
        attacker
            LABEL of the attacking node, or LABEL,LABEL,... of a coalition; labels with commas in quotes, as in
            CSV
        audit_seed
            seed of the simulated noise (default 1)
        carry
            the next message has the rows of noise of missed steps; otherwise they are lost
        coalitions
            who colludes under secldp, where nodes share noise: every SET of at most so many nodes, or those of a
            file (default: as the export says)
        coins
            with --run: the file of its canaries, which says who they are and which of them take part
        confidence
            of the interval (default 0.999)
        delta
            with --sampling: the delta of the claim
        directed
            edges have a direction: "u v" lets u average over v
        epsilon
            with --sampling: the epsilon that is claimed (default: the accountant's)
        export
            the export folder whose strategy mf-d-sgd runs, with the noise it was calibrated with
        force
            with -o: replace a result that is there
        forget_own_noise
            the attacker's own noise counts as protection
        gossip
            gossip matrix: uniform, metropolis, max-degree, laplacian (default uniform)
        gossip_matrix
            read the gossip matrix from this .npy, .mtx or .csv file instead
        gossip_rounds
            so many rounds of gossip at a time (default 1)
        gradient_tracking
            nodes gossip and follow the mean gradient, too
        graph
            graph: a file (edge list, .mtx, .npy; .gz too) or florentine complete:n cycle:n path:n star:n grid:RxC
            hypercube:d regular:n,d erdos:n,p barabasi:n,m watts:n,k,p geometric:n,r
        graph_sequence
            FILE of networks that take turns, one a step, over the nodes of --graph: edge lists, separated by
            empty lines
        groups
            with --sampling: groups of records (default: the bands of the strategy)
        known_seed
            with --sampling: the attacker knows the seed that batches are drawn from
        learning_rates
            how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
            step:factor,from[,from…], or a FILE with one number a line (default constant)
        link_failures
            probability that an edge fails in a round of gossip
        local_steps
            gossip follows every so many gradient steps; T counts these (default 1)
        max_batch
            with --sampling truncated: records in a step; of more, some are dropped
        missed_steps
            probability that a node has no gradient in a step, and sends no noise
        momentum
            of every node, from 0 to below 1; it is not gossiped
        nesterov
            Nesterov's form of it
        node_failures
            probability that a node fails in a round of gossip: it keeps its model
        noise_multiplier
            with --sampling: noise standard deviation over the clip that is claimed
        noise_scale
            multiply the nodes' noise, but not the claim: below 1 the audit should fail (default 1)
        out
            folder that keeps the result; without one it goes with the object
        own_noise
            standard deviation of a node's own noise in decor (default 1)
        k
            how often a record takes part (default: in every step; with -b, 20 if that fits)
        person_batches
            with --unit person: in how many of the b batches a person may have records (default 1)
        probability
            with --sampling: of a record in a step of its group (default: groups/b)
        random_neighbours
            in every round a node averages over itself and so many others, drawn from all
        records
            with --sampling truncated: at least as many as a node has
        run
            audit a training that happened: the folder in which a node recorded its messages (docs/auditing.md)
        runs
            runs of the protocol with the record, and as many without (with --answer: 10000, with --sampling:
            50000) (default 4000)
        sampling
            attack the privacy of batches that are drawn in secret: poisson: from --groups in turn, each record
            with --probability bins: each record in one of -b batches, drawn once allocation: from --groups in
            turn, each record in one step, drawn at random, of each of T/b blocks truncated: poisson with at most
            --max-batch of up to --records records a step cyclic: each record in one of -b fixed batches, and no
            secret
        scaled_nodes
            LABEL,LABEL,... of the nodes whose own noise --noise-scale multiplies (default: all noise)
        schema
            when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at
            most k times single: once FILE: in the steps of one of its lines, counted from 0 (default cyclic)
        secure_summation
            nodes see only weighted sums of messages
        seed
            seed of random graphs and random estimates
        b
            steps between participations (default T/k)
        shared_noise
            standard deviation of the noise that neighbours share in decor (default 1)
        strict
            refuse a disconnected graph instead of keeping its largest component
        trust
            what the attacker sees: ldp: all messages, and all noise but the victim's own pndp: what reaches it
            (for training see above) secldp: all messages and the attacker's own secrets eavesdropper: all
            messages, and no secrets (default pndp)
        unit
            who is protected: record, or person, with all records that are theirs (default record)
        victim
            LABEL of the victim, or all: every node that does not attack, one after the other (default: the
            nearest node; where nodes share noise, the one of whom most is learned; with --answer, the nearest one
            that the attacker does not see)
        weight_decay
            what models lose in a step, times the rate; decoupled from gradients
    """
    return call("audit", locals())


def simulate(
    plan: Path | Export | None = None,
    *,
    steps: int | None = None,
    adjacency: str | None = None,
    attack: str | None = None,
    average_last: int | None = None,
    bandwidth: int | None = None,
    carry: bool | None = None,
    clip: float | None = None,
    confidence: float | None = None,
    data: Path | np.ndarray | None = None,
    delta: float | None = None,
    directed: bool | None = None,
    epsilon: float | Sequence[float] | None = None,
    force: bool | None = None,
    gossip: str | None = None,
    gossip_matrix: Matrix = None,
    gossip_rounds: int | None = None,
    gradient_tracking: bool | None = None,
    graph: Graph = None,
    graph_sequence: Path | Sequence[Graph] | None = None,
    learning_rate: float | None = None,
    learning_rates: str | Path | Sequence[float] | None = None,
    link_failures: float | None = None,
    local_steps: int | None = None,
    methods: Sequence[str | Path | Export] | None = None,
    missed_steps: float | None = None,
    momentum: float | None = None,
    mu: float | Sequence[float] | None = None,
    nesterov: bool | None = None,
    node_failures: float | None = None,
    out: Path | None = None,
    k: int | None = None,
    random_neighbours: int | None = None,
    records: int | None = None,
    runs: int | None = None,
    sampling: str | None = None,
    seed: int | None = None,
    seeds: int | None = None,
    b: int | None = None,
    strict: bool | None = None,
    task: str | None = None,
    test_rows: int | None = None,
    tune: float | Sequence[float] | None = None,
    victim: str | None = None,
    weight_decay: float | None = None,
    workload: str | None = None,
    progress: Progress = None,
    binary: str | None = None,
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

    With --sampling poisson nodes draw their batches in secret instead, and levels are given by --epsilon and
    --delta: every record takes part with probability w/b in every w-th step, where w is the number of bands of a
    method's strategy (1 for dp-d-sgd), so that batches are as large as cyclic ones in expectation. Noise is what
    the accountant of that asks for. Sums are divided by the expected size, and empty batches take noise and a
    step. --sampling truncated is the same with batches of at most so many records that what is dropped costs a
    thousandth of delta; with allocation every record takes part exactly k times, in steps drawn in secret.

    Nodes train with momentum, learning rates that change (times --learning-rate), weight decay (times the rate),
    local steps, rounds of gossip and gradient tracking, over networks that change or fail, and they may miss
    steps. mafalda, mafalda-uncurved and d-mf then know of it, mafalda-plain is the optimum of the network that
    does not. An export that was made for such training brings it along, and is refused for other flags. The line
    "noise" compares the squared error that the noise alone makes of the models with the predicted one. For linear
    regression the loss above training without noise is predicted, too: it is off where gradients are clipped, and
    where batches curve differently.

    With --tune every method trains with several learning rates, and is compared at its own best one: that of the
    least mean loss on one half of the test records, while losses are of the other half. Choosing it is not paid
    for in privacy.

    With --attack NODE that node attacks real training instead, with dp-d-sgd: it is run many times with a record
    of the victim and without it, and what the attacker's statistic of the messages that it sees reaches stands
    beside what is proven: the bound for the class that the task is in (see mafalda smoothness; local DP where it
    is in none), and the number if gradients do not react.

    With -o, write runs, table and figures; runs that are there already are not run again, so an interrupted
    simulation goes on where it stopped, and more methods, levels and seeds can be added, also by several
    processes at once. All else, and every byte that is read, has to be the same.

    linear, logistic and perceptron (with tanh; with --data, on images) are synthetic; housing and housing-linear
    need cal_housing.data (20,640 lines of 9 numbers, in
    https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.tgz), mnist a folder with four IDX files.

    Keywords:
        plan
            a plan, which is compared with none and dp-d-sgd at its own privacy, where no keyword says otherwise
        steps
            steps (default 320)
        adjacency
            neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise) (default
            zero-out)
        attack
            let the node with this LABEL attack a record of another one, instead of comparing losses
        average_last
            count the errors of the last so many steps alone, as of models that are averaged or compared there
            (default: those of all steps)
        bandwidth
            bands of mafalda's strategy with --sampling poisson (default: the best power of 2) or bins (default:
            all)
        carry
            the next message has the rows of noise of missed steps; otherwise they are lost
        clip
            norm to which each record's gradient is clipped (default 1)
        confidence
            of the interval of an attack (default 0.999)
        data
            path of the data of housing and housing-linear (a file), or mnist and perceptron (a folder)
        delta
            for which epsilon is reported (default 1e-06)
        directed
            edges have a direction: "u v" lets u average over v
        epsilon
            levels of privacy as epsilons for --delta, instead of --mu
        force
            replace runs of other inputs
        gossip
            gossip matrix: uniform, metropolis, max-degree, laplacian (default uniform)
        gossip_matrix
            read the gossip matrix from this .npy, .mtx or .csv file instead
        gossip_rounds
            so many rounds of gossip at a time (default 1)
        gradient_tracking
            nodes gossip and follow the mean gradient, too
        graph
            graph: a file (edge list, .mtx, .npy; .gz too) or florentine complete:n cycle:n path:n star:n grid:RxC
            hypercube:d regular:n,d erdos:n,p barabasi:n,m watts:n,k,p geometric:n,r
        graph_sequence
            FILE of networks that take turns, one a step, over the nodes of --graph: edge lists, separated by
            empty lines
        learning_rate
            of the steps (default: one that suits the task)
        learning_rates
            how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
            step:factor,from[,from…], or a FILE with one number a line (default constant)
        link_failures
            probability that an edge fails in a round of gossip
        local_steps
            gossip follows every so many gradient steps; T counts these (default 1)
        methods
            what to compare; folders of exports, too; and mafalda-plain, which ignores what is more than plain
            training (there by default if there is more) (default
            none,dp-d-sgd,antipgd,d-mf,mafalda-uncurved,mafalda)
        missed_steps
            probability that a node has no gradient in a step, and sends no noise
        momentum
            of every node, from 0 to below 1; it is not gossiped
        mu
            levels of privacy, of Gaussian DP (default 0.2,0.5,1)
        nesterov
            Nesterov's form of it
        node_failures
            probability that a node fails in a round of gossip: it keeps its model
        out
            folder that keeps the result; without one it goes with the object
        k
            epochs: how often a record takes part (default 20 if 20 divides T)
        random_neighbours
            in every round a node averages over itself and so many others, drawn from all
        records
            records of a synthetic task (default 4000)
        runs
            runs of an attacked training with the record, and as many without (default 2000)
        sampling
            batches: cyclic (cut once, visited in turn), poisson (drawn in secret, of as many records in
            expectation), truncated (poisson with a largest batch), allocation (exactly k times, in steps drawn in
            secret) or bins (drawn once, in secret, independently for every record: no permutation cut into equal
            batches) (default cyclic)
        seed
            seed of random graphs and random estimates
        seeds
            runs of every method at every level (default 10)
        b
            batches of a node: steps between participations (default T/k)
        strict
            refuse a disconnected graph instead of keeping its largest component
        task
            what is learned: linear, logistic, perceptron, housing, housing-linear, mnist (default linear)
        test_rows
            test records that losses are of while training; all of them at the end (0: always all) (default 256)
        tune
            train with several learning rates, these times --learning-rate, and compare every method at its own
            best one, by the loss on test records kept apart; that is not paid for in privacy
        victim
            LABEL of whose record is attacked (default: the nearest node that the attacker does not see)
        weight_decay
            what models lose in a step, times the rate; decoupled from gradients
        workload
            whose error counts: model (after averaging), message (before), prefix (centralized) (default model)
    """
    return call("simulate", locals())


def benchmark(
    graph: Graph = None,
    *,
    steps: int | None = None,
    delta: float | None = None,
    directed: bool | None = None,
    epsilon: float | Sequence[float] | None = None,
    force: bool | None = None,
    gossip: str | None = None,
    gossip_matrix: Matrix = None,
    only: bool | None = None,
    out: Path | None = None,
    k: int | None = None,
    seed: int | None = None,
    strict: bool | None = None,
    workloads: bool | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Compare all strategies on a suite of graphs.

    Measure every class of strategies and every baseline on a suite of graphs, for T = 64 (k = 4, b = 16) and T =
    380 (k = 20, b = 19), and compare the losses with the certified optimum. Where batches are drawn in secret
    (--sampling poisson) what a strategy costs depends on the privacy: DP-D-SGD and the best number of bands are
    compared with the optimum, whose batches are visited in turn, by squared errors with the noise for every
    --epsilon.

    With -o, write benchmark.csv, benchmark.json and figures of all that is in the folder. What is there already
    is not measured again: an interrupted benchmark goes on where it stopped, and more graphs and numbers of steps
    can be added, also by several processes at once. Gossip, --seed, --directed, --epsilon and --delta have to be
    the same.

    With --workloads, compare strategies over optimizers and networks that change, for T = 128 (k = 8, b = 16):
    the one that is optimal for plain training on the network, a centralized one (D-MF) that knows the optimizer,
    and the certified optimum, which knows both. -o is then a folder of its own, with workloads.csv,
    workloads.json, a figure, and the sequences of networks.

    Keywords:
        steps
            measure for this number of steps only
        delta
            of the levels of privacy (default 1e-06)
        directed
            edges have a direction: "u v" lets u average over v
        epsilon
            levels of privacy to compare at, with --delta (default 0.5,2,8)
        force
            replace rows of other inputs
        gossip
            gossip matrix: uniform, metropolis, max-degree, laplacian (default uniform)
        gossip_matrix
            read the gossip matrix from this .npy, .mtx or .csv file instead
        graph
            a graph besides the suite: a file or florentine complete:n cycle:n path:n star:n grid:RxC hypercube:d
            regular:n,d erdos:n,p barabasi:n,m watts:n,k,p geometric:n,r; may be repeated
        only
            measure the graphs of --graph only
        out
            folder that keeps the result; without one it goes with the object
        k
            participations for --T (default 20 if 20 divides T)
        seed
            seed of random graphs and random estimates
        strict
            refuse a disconnected graph instead of keeping its largest component
        workloads
            compare strategies over optimizers and networks that change, instead; --graph takes the place of its
            graphs
    """
    return call("benchmark", locals())


def sampling(
    graph: Graph = None,
    *,
    steps: int | None = None,
    delta: float | None = None,
    directed: bool | None = None,
    epsilon: float | Sequence[float] | None = None,
    force: bool | None = None,
    gossip: str | None = None,
    gossip_matrix: Matrix = None,
    out: Path | None = None,
    k: int | None = None,
    person_batches: int | None = None,
    schema: str | Path | Sequence[Sequence[int]] | None = None,
    seed: int | None = None,
    b: int | None = None,
    strict: bool | None = None,
    unit: str | None = None,
    workload: str | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Compare secret batches with batches in turn, at equal privacy.

    Compare what strategies cost on a network where batches are drawn in secret, by Poisson sampling, with the
    certified optimum for batches in turn, whose privacy holds against whoever knows when a record takes part. For
    every --epsilon and numbers of bands w from 1 (DP-D-SGD) to b: the squared error with the noise for (epsilon,
    delta), divided by the error of the optimum with its own noise. A batch of w bands is drawn from one of w
    groups, every record with probability w/b: as many as in turn, on average. Beside them are two lower bounds:
    no strategy, whatever its class, has a smaller error under Poisson sampling from the groups of the best bands,
    or under random bins; and, where T = k·b, the best number of bands with random allocation, where every record
    takes part exactly k times, and, up to 512 steps and 64 batches, what strategies without negative entries
    reach under random bins, with noise that a confirmation by samples says is enough, but for a chance of 1e-9
    each.

    With -o, write sampling.csv, sampling.json and a picture. "mafalda optimize --sampling poisson" exports the
    best strategy for an epsilon, and proves that no other number of bands is better.

    Keywords:
        steps
            steps (required)
        delta
            of the levels of privacy (default 1e-06)
        directed
            edges have a direction: "u v" lets u average over v
        epsilon
            levels of privacy to compare at, with --delta (default 0.5,1,2,4,8,16)
        force
            replace files that are there
        gossip
            gossip matrix: uniform, metropolis, max-degree, laplacian (default uniform)
        gossip_matrix
            read the gossip matrix from this .npy, .mtx or .csv file instead
        graph
            graph: a file (edge list, .mtx, .npy; .gz too) or florentine complete:n cycle:n path:n star:n grid:RxC
            hypercube:d regular:n,d erdos:n,p barabasi:n,m watts:n,k,p geometric:n,r
        out
            folder that keeps the result; without one it goes with the object
        k
            how often a record takes part (default 20 if 20 divides T)
        person_batches
            with --unit person: in how many of the b batches a person may have records (default 1)
        schema
            when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at
            most k times single: once FILE: in the steps of one of its lines, counted from 0 (default cyclic)
        seed
            seed of random graphs and random estimates
        b
            steps between participations (default T/k)
        strict
            refuse a disconnected graph instead of keeping its largest component
        unit
            who is protected: record, or person, with all records that are theirs (default record)
        workload
            whose error counts: model (after averaging) or message (before) (default model)
    """
    return call("sampling", locals())


def advise(
    graph: Graph = None,
    *,
    steps: int | None = None,
    adjacency: str | None = None,
    average_last: int | None = None,
    budgets: str | None = None,
    carry: bool | None = None,
    clip: float | None = None,
    coalitions: str | Path | Sequence[Sequence[str]] | None = None,
    curvature: float | Path | Sequence[float] | np.ndarray | None = None,
    delta: float | None = None,
    dim: int | None = None,
    directed: bool | None = None,
    distance: float | Sequence[float] | None = None,
    epsilon: float | None = None,
    float32: bool | None = None,
    force: bool | None = None,
    gossip: str | None = None,
    gossip_matrix: Matrix = None,
    gossip_rounds: int | None = None,
    gradient_tracking: bool | None = None,
    gram: str | None = None,
    graph_sequence: Path | Sequence[Graph] | None = None,
    lanczos_steps: int | None = None,
    largest_pair: float | None = None,
    learning_rate: float | None = None,
    learning_rates: str | Path | Sequence[float] | None = None,
    limit: str | None = None,
    link_failures: float | None = None,
    local_steps: int | None = None,
    memory: int | str | None = None,
    memory_front: bool | None = None,
    missed_steps: float | None = None,
    momentum: float | None = None,
    mu: float | None = None,
    nesterov: bool | None = None,
    node_failures: float | None = None,
    out: Path | None = None,
    k: int | None = None,
    person_batches: int | None = None,
    probes: int | None = None,
    random_neighbours: int | None = None,
    records: int | None = None,
    sampling: str | None = None,
    schema: str | Path | Sequence[Sequence[int]] | None = None,
    secrets: str | Path | Sequence[Sequence[str]] | None = None,
    seed: int | None = None,
    b: int | None = None,
    strict: bool | None = None,
    trust: str | None = None,
    unit: str | None = None,
    weight_decay: float | None = None,
    workload: str | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Say how to make noise in your case: what to take, and what it relies on.

    Compare the ways to make noise for a case, and say which one to take: noise of every node's own (local DP) or
    shared by pairs, batches in turn or drawn in secret, correlated or independent, one strategy for all nodes or
    one a node. The table is ranked by the squared error with the noise for the privacy, in units of the clip, and
    says of every way what it relies on, what a node keeps, and what breaks it. Then comes the command that
    computes and exports the first.

    Say what may be relied on: --trust, and --sampling secret if nodes can keep secret which records they draw.
    What you say nothing of is compared, too, but has no rank: a way whose promise is weaker than you think is no
    advice. What cannot be combined is left out, with the reason. docs/choosing.md has three cases.

    A training forgets noise, and then correlated noise may cost more than independent noise. With --curvature,
    --records and --distance ways are ranked by the predicted excess risk of training, each at its best rate and
    number of steps (up to --T, with batches of the same size), and what is recommended is never worse than
    independent noise.

    On a terminal, what is missing is asked.

    With --memory-front a second table says what memory at a node buys. With -o, write advice.csv, advice.json and
    pictures.

    Keywords:
        steps
            steps (required)
        adjacency
            neighbouring datasets: zero-out (a record or nothing) or replace-one (twice the noise) (default
            zero-out)
        average_last
            count the errors of the last so many steps alone, as of models that are averaged or compared there
            (default: those of all steps)
        budgets
            a privacy level for every node, in the place of --mu, --epsilon, --delta and --clip: CSV file with the
            columns node, epsilon and delta, or mu, and clip
        carry
            the next message has the rows of noise of missed steps; otherwise they are lost
        clip
            norm to which each record's gradient is clipped (default 1)
        coalitions
            with --trust secldp, who puts together what they know: 1 (nobody: single curious nodes), 2 (any two
            nodes), or a file with the labels of a coalition a line (nodes in none are trusted); the eavesdropper
            is always there (default 1)
        curvature
            second derivatives of the loss, times --learning-rate: numbers, or a FILE with lines "x,directions".
            Ways are then compared by their predicted excess risk, each at its best rate and number of steps
        delta
            the delta of --epsilon, or to report an epsilon for --mu
        dim
            parameters of the model
        directed
            edges have a direction: "u v" lets u average over v
        distance
            with --curvature, of the first model from the optimum: in all directions together, or one a second
            derivative (default 1.000000)
        epsilon
            privacy wanted, with --delta, instead of --mu
        float32
            a node keeps numbers of 4 bytes, not of 8
        force
            replace files that are there
        gossip
            gossip matrix: uniform, metropolis, max-degree, laplacian (default uniform)
        gossip_matrix
            read the gossip matrix from this .npy, .mtx or .csv file instead
        gossip_rounds
            so many rounds of gossip at a time (default 1)
        gradient_tracking
            nodes gossip and follow the mean gradient, too
        gram
            Gram matrix: exact, lanczos (estimated from random vectors, with an error bound), sampled (likewise
            from random runs of networks that change), or auto: exact unless that takes minutes (default auto)
        graph
            graph: a file (edge list, .mtx, .npy; .gz too) or florentine complete:n cycle:n path:n star:n grid:RxC
            hypercube:d regular:n,d erdos:n,p barabasi:n,m watts:n,k,p geometric:n,r
        graph_sequence
            FILE of networks that take turns, one a step, over the nodes of --graph: edge lists, separated by
            empty lines
        lanczos_steps
            products with the gossip matrix for each of them (default 40)
        largest_pair
            with --trust secldp, the most variance that a pair may share, where a node alone would need 1: larger
            gains a little, and a node that drops out leaves it behind (docs/secrets-optimum.md) (default 300)
        learning_rate
            with --curvature, the base rate that it has in it (default 1)
        learning_rates
            how the rate changes, times the base rate: constant, cosine, warmup-cosine[:fraction],
            step:factor,from[,from…], or a FILE with one number a line (default constant)
        limit
            stop the search for a way after so long, and do not try what a guess puts at more than twice of it;
            one band of every scheme and own noise with batches in turn are always compared (default 1m0s)
        link_failures
            probability that an edge fails in a round of gossip
        local_steps
            gossip follows every so many gradient steps; T counts these (default 1)
        memory
            leave out strategies that keep more, such as 4GB; needs --dim (MB is 10⁶ bytes, MiB is 2²⁰)
        memory_front
            a second table: what memory at a node buys; needs --dim, and takes minutes for hundreds of steps
        missed_steps
            probability that a node has no gradient in a step, and sends no noise
        momentum
            of every node, from 0 to below 1; it is not gossiped
        mu
            privacy wanted, as the parameter of Gaussian DP
        nesterov
            Nesterov's form of it
        node_failures
            probability that a node fails in a round of gossip: it keeps its model
        out
            folder that keeps the result; without one it goes with the object
        k
            how often a record takes part (default 20 if 20 divides T)
        person_batches
            with --unit person: in how many of the b batches a person may have records (default 1)
        probes
            random vectors of --gram lanczos, at least 4 (default 800,000 divided by the nodes, a multiple of 4
            from 4 to 100); all unit vectors, without chance, for as many nodes or for 128 and fewer
        random_neighbours
            in every round a node averages over itself and so many others, drawn from all
        records
            with --curvature, the records of a node, in batches of T/k steps (required)
        sampling
            can nodes keep secret which records they draw? cyclic: no, batches are visited in turn secret: yes;
            compares poisson and allocation poisson, allocation, bins: yes, in this way (default: as secret, but
            only batches in turn are ranked)
        schema
            when a record takes part: cyclic: every b steps, at most k times min-sep: at least b steps apart, at
            most k times single: once FILE: in the steps of one of its lines, counted from 0 (default cyclic)
        secrets
            with --trust secldp, which pairs may share noise: gossip (the edges of the graph), all (up to 500
            nodes), or a file of edges (default gossip)
        seed
            seed of random graphs and random estimates
        b
            steps between participations (default T/k)
        strict
            refuse a disconnected graph instead of keeping its largest component
        trust
            who is trusted: ldp: nobody; every node has its own noise secldp: nodes keep to themselves the secrets
            that they share with neighbours (default: both are compared, and ldp alone is ranked)
        unit
            who is protected: record, or person, with all records that are theirs (default record)
        weight_decay
            what models lose in a step, times the rate; decoupled from gradients
        workload
            whose error counts: model (after averaging), message (before), prefix (centralized) (default model)
    """
    return call("advise", locals())


def epsilon(
    *,
    adjacency: str | None = None,
    alpha: float | None = None,
    choices: int | None = None,
    delta: float | None = None,
    epsilon: float | None = None,
    export: Path | Export | None = None,
    max_batch: int | None = None,
    mu: float | None = None,
    node: str | None = None,
    noise_multiplier: float | None = None,
    probability: float | None = None,
    rdp: float | None = None,
    records: int | None = None,
    rounds: int | None = None,
    sampling: str | None = None,
    step: int | Sequence[int] | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Convert between mu-GDP, (epsilon, delta) and Renyi DP.

    Convert between the parameters of Gaussian DP, approximate DP and Renyi DP. Give two of --mu, --epsilon and
    --delta and the third is computed, exactly and rounded to the safe side; --alpha adds the Renyi divergence of
    that order, and --alpha with --rdp (the divergence of a Gaussian mechanism) stands for --mu.

    With --sampling poisson the mechanism is given: in each of --rounds every record takes part with
    --probability, independently and in secret (--adjacency). --noise-multiplier gives the epsilon for --delta, or
    --epsilon the least noise multiplier. The epsilon holds; the least one is known within 0.2 % as a rule
    (docs/sampling.md), and where it is not the output says so, and what proves the epsilon.

    With --sampling allocation the steps are cut into --rounds blocks of --choices steps, and every record takes
    part in exactly one step of each block, drawn at random, in secret (docs/sampling-allocation.md).

    With --sampling truncated a round takes at most --max-batch of up to --records records; the chance that some
    are dropped is counted in --delta (docs/sampling-truncated.md).

    With --export it is an odometer: what a run has given away after --step steps, to everybody who sees all
    messages, and not only when it is over. It is never more than the plan's guarantee. It is for a run whose end
    does not depend on the records.

    Keywords:
        adjacency
            with --sampling: neighbours differ in a record that is there or zero (zero-out), or, not with
            allocation, in a record that is another one (replace-one) (default zero-out)
        alpha
            Renyi order
        choices
            with --sampling allocation: steps of a block
        delta
            of (epsilon, delta)-DP
        epsilon
            of (epsilon, delta)-DP
        export
            what a run of the export in this folder has given away, step by step
        max_batch
            with --sampling truncated: records in a round; of more that are drawn, some are dropped
        mu
            GDP parameter
        node
            with --export: LABEL of the node (default: the node that has spent the most)
        noise_multiplier
            with --sampling: noise standard deviation over the clip
        probability
            with --sampling: of a record to take part in a round
        rdp
            Renyi divergence of order alpha
        records
            with --sampling truncated: at least as many as there are
        rounds
            with --sampling: rounds that a record can be drawn for, or blocks
        sampling
            batches that are drawn in secret: poisson, each record with --probability; allocation, each record in
            one step, drawn at random, of each block of --choices steps; truncated, poisson with at most
            --max-batch of up to --records records a round
        step
            with --export: after so many steps, or a list of them (default: 20 steps up to the last)
    """
    return call("epsilon", locals())


def graph(
    graph: Graph,
    *,
    directed: bool | None = None,
    force: bool | None = None,
    format: str | None = None,
    gossip: str | None = None,
    gossip_matrix: Matrix = None,
    out: Path | None = None,
    seed: int | None = None,
    strict: bool | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Inspect or make a graph and its gossip matrix.

    Inspect a graph, from a file or made, and its gossip matrix; with -o, write edges.tsv, gossip.mtx and
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


    Keywords:
        graph
            a path, the name of a built-in graph, or a networkx graph
        directed
            edges have a direction: "u v" lets u average over v
        force
            replace files that are there
        format
            text, or nvflare: the network as NVFlare's peer-to-peer executors take it, as JSON (default text)
        gossip
            gossip matrix: uniform, metropolis, max-degree, laplacian (default uniform)
        gossip_matrix
            read the gossip matrix from this .npy, .mtx or .csv file instead
        out
            folder that keeps the result; without one it goes with the object
        seed
            seed of random graphs and random estimates
        strict
            refuse a disconnected graph instead of keeping its largest component
    """
    return call("graph", locals())


def verify(
    plan: Path | Export,
    *,
    gossip_matrix: Matrix = None,
    graph: Graph = None,
    graph_sequence: Path | Sequence[Graph] | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Check an export from its bytes alone.

    Recompute everything that the manifest of an export claims: hashes, shape, C·C⁻¹ = I, parameters, sensitivity,
    noise level; and, where the network can be had again, squared error, loss, lower bounds and baselines.
    Built-in graphs and the centralized workload are made again; for a graph or gossip matrix from a file, name
    that file.

    A manifest that two programs could read differently (a key twice, in another case, or unknown) is refused.
    What cannot be recomputed is listed as not checked: how the run went and, without the network's file, all that
    depends on it.

    Keywords:
        plan
            a plan, or the folder of an export
        gossip_matrix
            the gossip matrix file the export was made for
        graph
            the graph file the export was made for; of several networks the files, in their order
        graph_sequence
            the file of networks that take turns the export was made for
    """
    return call("verify", locals())


def report(
    *results: Path | Export | Result,
    force: bool | None = None,
    out: Path | None = None,
    title: str | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> str:
    """Make one HTML file of results, to look at and to pass on.

    Make one HTML file of folders that were written with -o, in the order given: exports, accounts, simulations,
    benchmarks, comparisons of secret batches, averages, audits of trainings, and pictures of mafalda plot. The
    file needs nothing but a browser, and asks nobody for anything: pictures, numbers, style and script are
    inside.

    It says what was asked, what is certified and what that does not cover, and how to make it again, with the
    SHA-256 of every file. Entries of C and its inverse can be read; on a map of the network an attacker is
    chosen, with mouse or keyboard, to see who leaks how much to it. Nothing is computed or verified: mafalda
    verify does that.

    Keywords:
        results
            plans, results, or their folders
        force
            replace a file that is there
        out
            write the report to this file
        title
            of the report (default: the names of the folders)
    """
    return call("report", locals())


def plot(
    plan: Path | Export,
    *,
    force: bool | None = None,
    gossip_matrix: Matrix = None,
    graph: Graph = None,
    graph_sequence: Path | Sequence[Graph] | None = None,
    node: str | None = None,
    out: Path | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Draw an export: matrices, convergence, errors, spectrum.

    Draw an export, as .png, .svg and .pdf:

      matrices      C and C⁻¹ side by side, in signed colours
      convergence   how loss and lower bound approached each other
      errors        the error of every step, beside those of DP-D-SGD and D-MF
      spectrum      the eigenvalues of the gossip matrix, which say how fast errors spread
      sampling      of exports with --sampling poisson: errors at the same privacy, for epsilon from 0.25 to 16
      sharing       of exports with --trust secldp: who relies on whom, own noise as size and shared noise as width

    Where nodes have strategies of their own, the matrices are those of --node, and the errors those of all nodes
    together, each with its own. Errors and spectrum need the network. Built-in graphs are made again; for a graph
    or gossip matrix from a file, name it. Nothing is written before everything is drawn.

    Keywords:
        plan
            a plan, or the folder of an export
        force
            replace pictures that are there
        gossip_matrix
            the gossip matrix file the export was made for
        graph
            the graph file the export was made for
        graph_sequence
            the file of networks that take turns the export was made for
        node
            LABEL of the node whose strategy to draw, if nodes have their own (default: the first)
        out
            folder that keeps the result; without one it goes with the object
    """
    return call("plot", locals())


def average(
    graph: Graph = None,
    *,
    c_prime: float | None = None,
    chosen: Path | Mapping[str, str] | None = None,
    compare: bool | None = None,
    delta: float | None = None,
    difference: float | None = None,
    directed: bool | None = None,
    estimate: str | None = None,
    force: bool | None = None,
    gamma_n: float | None = None,
    gossip: str | None = None,
    gossip_matrix: Matrix = None,
    lambda_: float | None = None,
    laplace_b: float | None = None,
    noise_std: float | None = None,
    observer: str | Sequence[str] | None = None,
    out: Path | None = None,
    papers: bool | None = None,
    protocol: str | None = None,
    rounds: int | None = None,
    seed: int | None = None,
    sequence: Path | Sequence[Graph] | None = None,
    strict: bool | None = None,
    sync: int | None = None,
    value_std: float | None = None,
    values: Path | Mapping[str, float] | None = None,
    victim: str | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Average private values with PPAC, DPPS or gossip, and say who learns what.

    Let the nodes of a network average one private value each, and say what the others learn of it.

      ppac    fragments, then consensus: the exact average; leakage in nats for every observer and victim (Gaussian values and noise)
      dpps    push-sum with Laplace noise in every message of every round; the noise follows an estimate of the sensitivity
      gossip  Gaussian noise on every value once, then consensus: differential privacy against everybody

    --compare runs all three on the same graph and values; with -o, those that are there are not run again. The
    promises are different in kind: docs/protocols.md.

    dpps also takes the directed graphs --graph d-out:n,d (in every round node i sends to i+1, ..., i+d-1) and
    exp:n (in round t to i+2^t), and --sequence FILE: an edge list "u v" (u sends to v) for every round, rounds
    separated by empty lines.

    Values are drawn, or read with --values FILE (lines "label value"). The noise is that of a simulation: it
    protects nobody's values.

    Keywords:
        c_prime
            dpps: C' of the recursion, instead
        chosen
            ppac: read from this file which neighbour completes each node's fragments (lines "node neighbour";
            default: random)
        compare
            all protocols side by side
        delta
            of (epsilon, delta)-DP (default 1e-06)
        difference
            gossip: values this far apart are to be indistinguishable (default: --value-std)
        directed
            edges have a direction: "u v" lets u average over v
        estimate
            dpps: where S is from: sound: estimates that are proved to be enough for this network paper: the
            paper's recursion with its C' = 0.78 and lambda = 0.55, which can be too small real: what nobody in
            the network knows (default sound)
        force
            replace files that are there
        gamma_n
            dpps: the noise rate that it is multiplied by; a round has epsilon = b/gamma-n (default 1)
        gossip
            consensus matrix: metropolis, max-degree or laplacian (default: laplacian, which is I - (D-A)/d_max;
            metropolis where that reaches no consensus, and for dpps)
        gossip_matrix
            read the gossip matrix from this .npy, .mtx or .csv file instead
        graph
            graph: a file (edge list, .mtx, .npy; .gz too) or florentine complete:n cycle:n path:n star:n grid:RxC
            hypercube:d regular:n,d erdos:n,p barabasi:n,m watts:n,k,p geometric:n,r
        lambda_
            dpps: lambda of the recursion, instead
        laplace_b
            dpps: noise is Laplace of scale S/b, S the sensitivity of the round. The default leaves an average,
            under an epsilon = b/gamma-n of a round that hides next to nothing; under --laplace-b 5 errors grow on
            most networks (default 50)
        noise_std
            standard deviation of the noise (default: 15 times --value-std for ppac, --difference for gossip)
        observer
            ppac, gossip: LABEL of the observer, or LABEL,LABEL,... of nodes that collude (default: every node,
            alone)
        out
            folder that keeps the result; without one it goes with the object
        papers
            draw the figures of the papers that have averaging into --output
        protocol
            protocol: ppac, dpps, gossip (default ppac)
        rounds
            rounds. ppac and gossip: nodes average t times, and leakage counts the t+1 messages of the rounds 0 to
            t, v(t) included; dpps: t rounds, with t messages (default: ppac and gossip until all are within 1e-6
            of the average, with leakage for ever; dpps 10)
        seed
            seed of random graphs, values, chosen neighbours and noise
        sequence
            dpps: read the directed graphs of the rounds from this file
        strict
            refuse a disconnected graph instead of keeping its largest component
        sync
            dpps: all nodes average exactly after so many rounds, which resets the sensitivity (0: never) (default
            5)
        value_std
            standard deviation of the values (default 10)
        values
            read the values from this file
        victim
            ppac, gossip: LABEL of the only victim
    """
    return call("average", locals())


def partpsp(
    *,
    batch: int | None = None,
    clip: float | None = None,
    data: Path | np.ndarray | None = None,
    epochs: int | None = None,
    estimate: str | None = None,
    features: int | None = None,
    force: bool | None = None,
    gamma_n: float | None = None,
    laplace_b: float | Sequence[float] | None = None,
    learning_rate: float | None = None,
    networks: Sequence[str | Path | Export] | None = None,
    nodes: int | None = None,
    out: Path | None = None,
    records: int | None = None,
    seeds: int | None = None,
    shared: int | Sequence[int] | None = None,
    sync: int | None = None,
    task: str | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Train with PartPSP: push-sum with Laplace noise, of some layers only.

    Train a perceptron (features-10-features-classes, tanh, no biases) on directed networks with PartPSP (Zhou,
    Xue & Chen), and print the test accuracy as their Table II has it: rows are how many layers are shared (all of
    them is SGPDP) and the noise, columns networks.

    The noise of a round is Laplace of scale gamma-n·S/b in every shared parameter, S the sensitivity of the
    round; the round has epsilon = b/gamma-n, which is printed: b alone is no epsilon. By default S is the real
    one, as in the paper's table. No node knows it, so this shows the best that can be expected; --estimate sound
    takes what the nodes can compute.

    synthetic needs no data; mnist a folder with four IDX files.

    Keywords:
        batch
            records of a node in a round (default 50)
        clip
            sum of magnitudes to which shared gradients are clipped (default 100)
        data
            folder with the data of mnist
        epochs
            passes over the records (default 12)
        estimate
            sensitivity of the rounds: real, sound or paper (see mafalda average) (default real)
        features
            features of the synthetic task (784 for a model as large as the paper's) (default 64)
        force
            replace files that are there
        gamma_n
            noise rate; a round has epsilon = b/gamma-n (default 0.002)
        laplace_b
            noise levels; training without noise is always there, too (default 1,2,3)
        learning_rate
            of shared and local layers (default 0.3)
        networks
            directed networks: exp, and d-out:d for several d (default exp,d-out:4,d-out:6,d-out:8)
        nodes
            nodes of the network (default 10)
        out
            folder that keeps the result; without one it goes with the object
        records
            records of the synthetic task (default 12000)
        seeds
            runs of every cell (default 3)
        shared
            how many of the three layers are shared, from the first (default 1,2,3)
        sync
            all nodes average exactly after so many rounds (0: never) (default 5)
        task
            what is learned: synthetic or mnist (default synthetic)
    """
    return call("partpsp", locals())


def smoothness(
    *,
    batch: int | None = None,
    beta: float | None = None,
    classes: int | None = None,
    clip: float | None = None,
    curvature: float | Path | Sequence[float] | np.ndarray | None = None,
    data: Path | np.ndarray | None = None,
    divisor: float | None = None,
    mean: bool | None = None,
    model: str | None = None,
    no_intercept: bool | None = None,
    norm: float | None = None,
    per_layer: bool | None = None,
    rate: float | None = None,
    ridge: float | None = None,
    smallest_batch: int | None = None,
    target: str | None = None,
    unclipped: bool | None = None,
    weight_decay: float | None = None,
    progress: Progress = None,
    binary: str | None = None,
) -> Result:
    """Tell how strongly a training reacts: the class that account asks for.

    Tell which class of steps a training is in, and with which number: what account's --convex, --clipped-convex,
    --strongly-convex, --smooth and --lipschitz ask for. A network that trains leaks more than its messages show,
    because hidden nodes answer to models that hold the victim's data, and the class says by how much at most.

    A node's step is theta - eta (decay theta + (1/D) sum over its batch of clip(gradient) + noise). beta is the
    Lipschitz constant of the SUM of clipped gradients, and the number x is eta beta / D. By default D is 1, and
    --rate multiplies the sum; with --mean it multiplies the mean over a batch of --batch records. Batches that
    are drawn in secret can hold all records of a node: --batch is then that, and --divisor what the sum is
    divided by. If the rate changes, --rate is the largest.

    Models: linear (o - y)^2, logistic (one output, two classes), softmax (an output a class), with o = Wx + b,
    from a bound on the Euclidean norm of the inputs x; convex and smooth (not convex, such as a network with
    smooth activations) from --beta, a Lipschitz constant of one record's unclipped gradient. Most networks have
    none: their class is nothing, and local DP the number to publish.

    --norm is a bound that everybody may know: scale inputs down to it. The largest norm in --data is private
    information of those who have the records; a privacy statement that is made of it says something about them.

    Keywords:
        batch
            records that a batch can have at most (default 1)
        beta
            Lipschitz constant of one record's gradient, before clipping: of --model convex and smooth
        classes
            of softmax: 2 are as good as logistic (default: more)
        clip
            norm that gradients are clipped to: if none is as long, the class is smaller
        curvature
            largest second derivative of the loss of an output (default: 2 of linear, 1/4 of logistic)
        data
            take the largest norms of this file instead: .npy, or rows of numbers as text
        divisor
            the sum of a batch is divided by this number (default 1)
        mean
            the rate multiplies the mean over --batch records, not the sum
        model
            what is trained: linear, logistic, softmax, convex, smooth
        no_intercept
            the model has no parameter b
        norm
            a public bound on the norm of every record's inputs, without the 1 of the intercept
        per_layer
            weights and intercept are clipped apart, each to --clip
        rate
            learning rate, the largest
        ridge
            lambda of a term lambda/2 |theta|^2 in every record's loss, clipped with it
        smallest_batch
            records that a batch has at least, for --ridge (default: --batch)
        target
            column of --data that is no input, counted from 1, or from the end: -1
        unclipped
            you can prove that no gradient is ever clipped
        weight_decay
            what models lose in a step, times the rate, outside the clip
    """
    return call("smoothness", locals())
