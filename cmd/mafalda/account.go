package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"mafalda/accounting"
	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/limits"
	"mafalda/internal/parallel"
	"mafalda/internal/rounding"
	"mafalda/internal/study"
	"mafalda/participation"
	"mafalda/threat"
)

type accountFlags struct {
	network            cli.NetworkFlags
	schema             cli.SchemaFlags
	threat             threatFlags
	attacker, bound    string
	sigma, delta       float64
	alpha              float64
	growth             string
	out                string
	force, json, quiet bool

	lengths []int // of growth
}

func newAccountCmd() *cobra.Command {
	var f accountFlags
	cmd := &cobra.Command{
		Use:   "account",
		Short: "Compute who learns how much of whom",
		Long: `Compute what an attacker learns of every other node: the squared sensitivity of its view, and the privacy that follows.

Sensitivities are for gradients of norm 1 and noise of standard deviation 1; --sigma is the real noise over the clip. A record
takes part in every step unless -k, -b or --schema say otherwise, as in Figure 2 of Bellet et al. Bounds: best is the smallest
proven one and never above local DP; abs, spectral and exact are single ones; lower is no bound, but what is certainly lost.

With -o the pairs are written as CSV and JSON, with a figure by distance. The folder belongs to one network, algorithm,
export and set of flags; more attackers, or numbers of steps of --growth, can be added to it, also by several processes
at once, and an interrupted command goes on where it stopped.`,
		Example: `  mafalda account --graph florentine --T 10 --attacker Medici
  mafalda account --graph ego.edges --T 380 -k 20 --attacker 1,2 --sigma 2 --delta 1e-6   # a coalition
  mafalda account --graph erdos:100,0.2 --T 10 --attacker all -o figure2
  mafalda account --graph florentine --T 40 --gossip metropolis --attacker Medici --secure-summation --forget-own-noise
  mafalda account --graph erdos:100,0.15 --gossip metropolis --attacker 0 --secure-summation --forget-own-noise --growth 10,30,100,300
  mafalda account --graph florentine --T 380 -k 20 --algorithm mf-d-sgd --strategy out --attacker Medici`,
		Args: cli.NoArgs,
		RunE: cli.UntilInterrupted(f.run),
	}
	f.network.BindGraph(cmd)
	f.network.BindGossip(cmd)
	f.schema.BindEvery(cmd)
	f.threat.bind(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.attacker, "attacker", "",
		"`LABEL` of the attacking node, LABEL,LABEL,... of a coalition, or all: every node in turn;\nlabels with commas in quotes, as in CSV")
	fl.StringVar(&f.bound, "bound", "best", "of the sensitivity: "+strings.Join(threat.Measures(), ", "))
	fl.Float64Var(&f.sigma, "sigma", 1, "noise standard deviation over the clip")
	fl.Float64Var(&f.delta, "delta", 0, "report the epsilon of this delta, too")
	fl.Float64Var(&f.alpha, "alpha", 2, "order of the Renyi divergence to report")
	fl.StringVar(&f.growth, "growth", "", "instead of --T: compare these numbers of steps, such as 10,20,50, with the asymptote")
	fl.StringVarP(&f.out, "output", "o", "", "write pairs and figure to this `folder`")
	fl.BoolVar(&f.force, "force", false, "replace results of other inputs")
	fl.BoolVar(&f.json, "json", false, "print JSON instead of the table")
	fl.BoolVarP(&f.quiet, "quiet", "q", false, "print errors only (and the JSON, with --json)")
	cli.CompleteWith(cmd, "bound", threat.Measures())
	return cmd
}

// pair is what an attacker learns of a victim.
type pair struct {
	Victim      string   `json:"victim"`
	Distance    *int     `json:"distance,omitempty"` // hops; absent without a path
	SensSquared *float64 `json:"sens_squared,omitempty"`
	Bound       string   `json:"bound"`
	Infinite    bool     `json:"infinite,omitempty"` // a gradient is seen without noise
	Mu          *float64 `json:"mu,omitempty"`
	RDP         *float64 `json:"rdp,omitempty"`
	Epsilon     *float64 `json:"epsilon,omitempty"`
	Cyffers     *float64 `json:"cyffers_sens_squared,omitempty"`
}

// accountOf is what one attacker learns.
type accountOf struct {
	Attacker  string  `json:"attacker"`
	Trust     string  `json:"trust"`
	Algorithm string  `json:"algorithm"`
	Local     float64 `json:"ldp_sens_squared,omitempty"`
	Pairs     []pair  `json:"pairs"`
}

// ledger is an account command whose flags and input have been checked.
type ledger struct {
	flags     *accountFlags
	network   *graph.Network
	schema    participation.Schema
	algorithm threat.Algorithm
	attackers []threat.Attacker
	bound     threat.Measure
	local     float64                    // squared sensitivity of local DP
	byName    map[string]threat.Attacker // by the names of their cells
	progress  *cli.Progress
	notes     io.Writer
}

func (f *accountFlags) run(cmd *cobra.Command) error {
	l, err := f.prepare(cmd)
	if err != nil {
		return err
	}
	if f.growth != "" {
		return l.runGrowth(cmd)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(15)) // large matrices live long: do not let as much garbage pile up beside them
	store, err := study.Open[accountCell, accountOf](f.out, l.spec())
	if err != nil {
		return cli.StudyError(err)
	}
	l.progress.At = "attackers"
	options := study.Options{Workers: l.sideBySide(), Progress: l.progress.ShowAt}
	err = study.Run(cmd.Context(), store, l.cells(), l.account, options)
	l.progress.Clear()
	if err != nil {
		err = cli.StoppedError(err, f.out, "attacker")
	}
	if err := cli.Summarize(cmd.Context(), store, err, l.files); err != nil {
		return err
	}
	accounts, err := l.accounts(store)
	if err != nil {
		return err
	}
	return l.print(cmd.OutOrStdout(), accounts)
}

func (f *accountFlags) prepare(cmd *cobra.Command) (*ledger, error) {
	l := &ledger{flags: f, progress: cli.NewProgress(cmd.ErrOrStderr(), f.quiet || f.json), notes: cmd.ErrOrStderr()}
	fl := cmd.Flags()
	var err error
	if f.growth != "" {
		if fl.Changed("T") || fl.Changed("participations") || fl.Changed("separation") || fl.Changed("schema") {
			return nil, cli.Usagef("--growth has its own numbers of steps: leave out --T, -k, -b and --schema")
		}
		if f.lengths, err = parseGrowth(f.growth); err != nil {
			return nil, err
		}
		f.schema.Steps = slices.Max(f.lengths)
		if err := fl.Set("T", strconv.Itoa(f.schema.Steps)); err != nil {
			return nil, cli.Usage(err)
		}
	}
	if l.schema, err = f.schema.ChooseEvery(cmd); err != nil {
		return nil, err
	}
	if l.bound, err = threat.ParseMeasure(f.bound); err != nil {
		return nil, cli.Usage(err)
	}
	switch {
	case !(f.sigma > 0) || math.IsInf(f.sigma, 1):
		return nil, cli.Usagef("--sigma %v: must be positive and finite", f.sigma)
	case fl.Changed("delta") && !(f.delta > 0 && f.delta < 1):
		return nil, cli.Usagef("--delta %v: must be between 0 and 1", f.delta)
	case !(f.alpha > 1) || math.IsInf(f.alpha, 1):
		return nil, cli.Usagef("--alpha %v: must be above 1 and finite", f.alpha)
	}
	if l.algorithm, err = f.threat.choose(cmd, l.schema); err != nil {
		return nil, err
	}
	if l.network, err = f.network.Load(); err != nil {
		return nil, err
	}
	if err := f.threat.checkNodes(l.network.Graph); err != nil {
		return nil, err
	}
	if !f.quiet {
		for _, n := range l.network.Notes {
			fmt.Fprintln(l.notes, n)
		}
	}
	if l.attackers, err = f.threat.attackers(f.attacker, l.network.Graph); err != nil {
		return nil, err
	}
	what := fmt.Sprintf("the view of an attacker of %d nodes in %d steps", l.network.Graph.Nodes(), l.schema.Steps())
	if err := cli.CheckMemory(what, l.viewBytes()); err != nil {
		return nil, err
	}
	err = parallel.Await(cmd.Context(), func() (err error) {
		l.local, err = l.algorithm.Local(l.schema)
		return err
	})
	if err != nil && cmd.Context().Err() == nil {
		err = cli.Usage(err)
	}
	return l, err
}

// sideBySide returns how many attackers are computed at a time: as many as there are cores, and as have room in a quarter of
// the memory.
func (l *ledger) sideBySide() int {
	have, _ := limits.Memory()
	return max(1, int(min(float64(have)/4/l.viewBytes(), float64(runtime.GOMAXPROCS(0)))))
}

// viewBytes is about what one attacker's view takes.
func (l *ledger) viewBytes() float64 { return l.scenario(threat.Attacker{}).Needs() }

func (l *ledger) scenario(a threat.Attacker) threat.Scenario {
	return threat.Scenario{Gossip: l.network.Gossip.Matrix(), Algorithm: l.algorithm, Attacker: a, Schema: l.schema}
}

// name returns the attacker's labels.
func (l *ledger) name(a threat.Attacker) string {
	if len(a.Nodes) == 0 {
		return "everybody"
	}
	var labels []string
	for _, v := range a.Nodes {
		labels = append(labels, l.network.Graph.Label(v))
	}
	return strings.Join(labels, ",")
}

// account computes all pairs of one attacker, by distance and then by label.
func (l *ledger) account(ctx context.Context, c accountCell) (accountOf, error) {
	a := l.byName[c.name()]
	out := accountOf{Attacker: l.name(a), Trust: a.Trust.String(), Algorithm: l.algorithm.Name()}
	if !math.IsInf(l.local, 1) {
		out.Local = l.local
	}
	w := l.network.Gossip.Matrix()
	hops := graph.Hops(w, a.Nodes)
	var cyffers []float64
	every := l.schema.Participations() == l.schema.Steps()
	if a.Trust == threat.PNDP && every && l.algorithm.Name() == "dp-d-sgd" && !a.SecureSummation && !l.network.Graph.Directed() {
		cyffers = threat.CyffersSquared(w, a.Nodes, l.schema.Steps())
	}
	var together sync.Mutex
	add := func(e threat.Exposure, bound threat.Measure) error {
		squared, err := bound.Squared(e, l.schema, l.local)
		if err != nil {
			return err
		}
		p, err := l.pair(e.Victim, squared)
		if err != nil {
			return err
		}
		if hops[e.Victim] >= 0 && len(a.Nodes) > 0 {
			p.Distance = &hops[e.Victim]
		}
		if cyffers != nil {
			p.Cyffers = &cyffers[e.Victim]
		}
		together.Lock()
		defer together.Unlock()
		out.Pairs = append(out.Pairs, p)
		return nil
	}
	pool := parallel.NewPool(ctx)
	err := parallel.Await(ctx, func() error {
		return threat.Account(ctx, l.scenario(a), func(e threat.Exposure) error {
			return pool.Do(func() error { return add(e, l.bound) })
		})
	})
	if ctx.Err() != nil {
		return accountOf{}, context.Cause(ctx) // something may still be computing
	}
	if failed := pool.Wait(); failed != nil {
		err = failed
	}
	if errors.Is(err, threat.ErrUnclear) {
		fmt.Fprintf(l.notes, "%s: what is seen without noise cannot be told from rounding; local DP is reported\n", out.Attacker)
		out.Pairs, err = nil, l.fallBack(a, &out)
	}
	if err != nil {
		if errors.Is(err, threat.ErrTooLarge) || errors.Is(err, threat.ErrStrategy) {
			return out, cli.Usage(err)
		}
		return out, fmt.Errorf("accounting for %s: %w", out.Attacker, err)
	}
	for _, v := range a.Nodes { // attackers know their own gradients
		if err := add(threat.Exposure{Victim: v, Infinite: true}, threat.Absolute); err != nil {
			return out, err
		}
	}
	slices.SortStableFunc(out.Pairs, func(p, q pair) int {
		if d := distanceOf(p) - distanceOf(q); d != 0 {
			return d
		}
		return slices.Index(l.network.Graph.Labels(), p.Victim) - slices.Index(l.network.Graph.Labels(), q.Victim)
	})
	return out, nil
}

// fallBack reports local DP for everybody.
func (l *ledger) fallBack(a threat.Attacker, out *accountOf) error {
	for v := range l.network.Graph.Nodes() {
		if slices.Contains(a.Nodes, v) {
			continue
		}
		p, err := l.pair(v, l.local)
		if err != nil {
			return err
		}
		out.Pairs = append(out.Pairs, p)
	}
	return nil
}

func distanceOf(p pair) int {
	if p.Distance == nil {
		return math.MaxInt32
	}
	return *p.Distance
}

// pair converts a squared sensitivity.
func (l *ledger) pair(victim int, squared float64) (pair, error) {
	p := pair{Victim: l.network.Graph.Label(victim), Bound: l.bound.String()}
	if math.IsInf(squared, 1) {
		p.Infinite = true
		return p, nil
	}
	squared = math.Max(squared, 0)
	mu, err := l.muOf(squared)
	if err != nil {
		return p, err
	}
	rdp := 0.0
	if mu > 0 {
		if rdp, err = accounting.RDP(mu, l.flags.alpha); err != nil {
			return p, err
		}
	}
	p.SensSquared, p.Mu, p.RDP = &squared, &mu, &rdp
	if l.flags.delta > 0 {
		epsilon := 0.0
		if mu > 0 {
			if epsilon, err = accounting.Epsilon(mu, l.flags.delta); err != nil {
				return p, err
			}
		}
		p.Epsilon = &epsilon
	}
	return p, nil
}

// muOf returns the μ of a squared sensitivity, rounded up: what --sigma gives for gradients of norm 1.
func (l *ledger) muOf(squared float64) (float64, error) {
	return accounting.MuFromNoise(l.flags.sigma, rounding.SqrtUp(squared), 1)
}

// print writes the table by distance, or JSON.
func (l *ledger) print(w io.Writer, accounts []accountOf) error {
	if l.flags.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		if len(accounts) == 1 {
			return e.Encode(accounts[0])
		}
		return e.Encode(map[string]any{"attackers": accounts})
	}
	if l.flags.quiet {
		return nil
	}
	fmt.Fprintf(w, "graph          %s\n", l.network.Line())
	fmt.Fprintf(w, "gossip         %s\n", l.network.Origin.GossipLine())
	fmt.Fprintf(w, "algorithm      %s, T = %d steps\n", l.algorithm.Name(), l.schema.Steps())
	fmt.Fprintf(w, "participation  %v\n", l.schema)
	fmt.Fprintf(w, "attackers      %s\n", l.attackersLine())
	fmt.Fprintf(w, "bound          %s of sens², for gradients of norm 1 and noise of standard deviation %g\n\n", l.bound, l.flags.sigma)
	if err := l.table(w, accounts); err != nil || l.flags.out == "" {
		return err
	}
	return l.written(w, "account.json", "pairs.csv", "exposure.png", "exposure.svg")
}

func (l *ledger) attackersLine() string {
	a := l.attackers[0]
	what := map[threat.Trust]string{threat.LDP: "see all messages", threat.PNDP: "see the messages they receive and send, and know their own noise",
		threat.SecLDP: "see all messages, and know their own noise"}[a.Trust]
	if a.SecureSummation {
		what = "see weighted sums of messages, and know their own noise"
		if a.ForgetOwnNoise {
			what = "see weighted sums of messages under their own noise"
		}
	}
	who := l.name(a)
	if len(l.attackers) > 1 {
		who = fmt.Sprintf("each of %d nodes", len(l.attackers))
	}
	return who + ": " + what
}
