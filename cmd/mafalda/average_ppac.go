package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/protocols/ppac"
)

// nats is mutual information; in JSON an infinite one is the string "inf".
type nats float64

func (v nats) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(v), 1) {
		return []byte(`"inf"`), nil
	}
	return strconv.AppendFloat(nil, float64(v), 'g', -1, 64), nil
}

func (v nats) String() string {
	if math.IsInf(float64(v), 1) {
		return "inf"
	}
	return cli.NumberUp(float64(v))
}

type leakagePair struct {
	Observer string `json:"observer"` // of colluding ones all labels, separated by commas
	Victim   string `json:"victim"`
	Leakage  nats   `json:"leakage"`
	Limit    nats   `json:"limit"` // at most so much of it is left, however much noise there is
}

type leafPair struct {
	Head string `json:"head"`
	Tail string `json:"tail"`
}

type recoveredValue struct {
	Observer  string  `json:"observer"`
	Victim    string  `json:"victim"`
	Value     float64 `json:"value"`
	Recovered float64 `json:"recovered"`
}

// ppacResult is the JSON of --protocol ppac.
type ppacResult struct {
	averageRun
	Floor     float64          `json:"floor"` // what the average itself says of a value
	Worst     nats             `json:"worst_leakage"`
	MeanLeak  float64          `json:"mean_finite_leakage"`
	Infinite  int              `json:"infinite_pairs"`
	Ceilings  int              `json:"upper_bound_observers,omitempty"`
	Pairs     []leakagePair    `json:"pairs"`
	Leaves    []leafPair       `json:"generalized_leaves"`
	Recovered []recoveredValue `json:"recovered"` // the attack, carried out on this run
	Chosen    []chosenPair     `json:"chosen"`
}

type chosenPair struct {
	Node      string `json:"node"`
	Neighbour string `json:"neighbour"`
}

// ppacAveraging is a run of PPAC with what it leaks.
type ppacAveraging struct {
	flags    *averageFlags
	network  *graph.Network
	protocol *ppac.Protocol
	values   []float64
	noise    float64 // standard deviation
	run      *ppac.Run
	result   ppacResult
	observed []observed
}

func (f *averageFlags) runPPAC(ctx context.Context, n *graph.Network, u []float64, bar *cli.Progress) (*ppacAveraging, error) {
	chosen, err := f.chooseNeighbours(n.Graph)
	if err != nil {
		return nil, err
	}
	p, err := ppac.New(n.Graph, n.Gossip, chosen)
	if err != nil {
		return nil, err
	}
	coalitions, victims, err := f.observers(n.Graph)
	if err != nil {
		return nil, err
	}
	rounds, tolerance, err := f.limit(n.Graph.Nodes())
	if err != nil {
		return nil, err
	}
	a := &ppacAveraging{flags: f, network: n, protocol: p, values: u, noise: f.noise(15 * f.valueStd)}
	if a.run, err = p.Prepare(u, ppac.Uniform(f.valueStd, a.noise), f.random(forNoise)); err != nil {
		return nil, cli.Usage(err)
	}
	if err := p.Average(ctx, a.run, rounds, tolerance); err != nil {
		return nil, err
	}
	if a.observed, err = a.observe(ctx, coalitions, victims, bar); err != nil {
		return nil, err
	}
	a.summarize(victims)
	return a, nil
}

// chooseNeighbours draws m_i, or reads it.
func (f *averageFlags) chooseNeighbours(g *graph.Graph) ([]int, error) {
	if f.chosen == "" {
		return ppac.ChooseNeighbours(g, f.random(forChoice)), nil
	}
	chosen := make([]int, g.Nodes())
	return chosen, readPairs(f.chosen, g.Labels(), func(i int, text string) error {
		v := slices.Index(g.Labels(), text)
		if v < 0 || g.Adjacency().At(i, v) == 0 {
			return fmt.Errorf("node %s chooses %q, which is not its neighbour", g.Label(i), text)
		}
		chosen[i] = v
		return nil
	})
}

// upTo returns the last round that observers see.
func (f *averageFlags) upTo() int {
	if f.fixed {
		return f.rounds
	}
	return ppac.Forever
}

func (a *ppacAveraging) label(coalition []int) string {
	var labels []string
	for _, v := range coalition {
		labels = append(labels, a.network.Graph.Label(v))
	}
	return strings.Join(labels, ",")
}

// summarize fills in the result.
func (a *ppacAveraging) summarize(victims []int) {
	g, f := a.network.Graph, a.flags
	r := &a.result
	*r = ppacResult{averageRun: f.newAverageRun("ppac", a.network, a.noise, a.run.Mean, a.run.Errors()), Floor: floorOf(g.Nodes()), Pairs: []leakagePair{},
		Leaves: []leafPair{}, Recovered: []recoveredValue{}}
	for i, label := range g.Labels() {
		r.Chosen = append(r.Chosen, chosenPair{label, g.Label(a.protocol.Chosen(i))})
	}
	for _, l := range ppac.GeneralizedLeaves(g) {
		r.Leaves = append(r.Leaves, leafPair{g.Label(l.Head), g.Label(l.Tail)})
	}
	finite := 0
	for _, o := range a.observed {
		if o.view.Ceiling() {
			r.Ceilings++
		}
		limits := a.protocol.Limits(o.coalition, func(int) float64 { return f.valueStd })
		for _, l := range o.leaks {
			r.Pairs = append(r.Pairs, leakagePair{a.label(o.coalition), g.Label(l.Victim), nats(l.Nats), nats(limits[l.Victim])})
			r.Worst = max(r.Worst, nats(l.Nats))
			if !math.IsInf(l.Nats, 1) {
				finite++
				r.MeanLeak += l.Nats
				continue
			}
			r.Infinite++
			if value, err := a.protocol.Recover(a.run, o.coalition, l.Victim); err == nil {
				r.Recovered = append(r.Recovered, recoveredValue{a.label(o.coalition), g.Label(l.Victim), a.values[l.Victim], value})
			}
		}
	}
	if finite > 0 {
		r.MeanLeak /= float64(finite)
	}
}

// floorOf is I(average; value), which nothing that averages can avoid.
func floorOf(nodes int) float64 { return math.Log1p(1/float64(nodes-1)) / 2 }

func (a *ppacAveraging) data() any { return a.result }

// shownPairs is how many pairs are printed.
const shownPairs = 10

func (a *ppacAveraging) print(w io.Writer) error {
	r := &a.result
	fmt.Fprintf(w, "graph          %s\n", a.network.Line())
	fmt.Fprintf(w, "protocol       ppac: fragments with noise, then consensus with %s weights\n", r.Gossip)
	fmt.Fprintf(w, "values         standard deviation %g; noise %g (seed %d)\n", r.ValueStd, r.NoiseStd, r.Seed)
	fmt.Fprintf(w, "average        %.10g; %s\n", r.Mean, roundsText(r.Rounds, r.Errors))
	upTo := "for ever"
	if r.UpTo != nil {
		upTo = fmt.Sprintf("in the rounds 0 to %d", *r.UpTo)
	}
	fmt.Fprintf(w, "leakage        I(all a node sees %s; the victim's value) in nats, for Gaussian values and noise\n", upTo)
	fmt.Fprintf(w, "               the average alone says %s of a value\n", cli.NumberUp(r.Floor))
	if len(a.observed[0].coalition) > 1 {
		fmt.Fprintf(w, "               the observers collude, which goes beyond the paper\n")
	}
	fmt.Fprintln(w)
	pairs := slices.Clone(r.Pairs)
	slices.SortStableFunc(pairs, func(a, b leakagePair) int { return cmp.Compare(b.Leakage, a.Leakage) })
	var rows [][]string
	for _, p := range pairs[:min(shownPairs, len(pairs))] {
		rows = append(rows, []string{p.Observer, p.Victim, p.Leakage.String(), p.Limit.String()})
	}
	if err := cli.Table(w, []string{"observer", "victim", "leakage", "noise → ∞, at most"}, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\npairs          %d, the %d worst above; %d infinite, the others %s on average\n", len(pairs), len(rows), r.Infinite, cli.NumberUp(r.MeanLeak))
	if r.Ceilings > 0 {
		fmt.Fprintf(w, "               upper bounds for %d observers: following what they learn would take too much precision\n", r.Ceilings)
	}
	a.printRisks(w)
	return nil
}

// printRisks names the structures that give values away.
func (a *ppacAveraging) printRisks(w io.Writer) {
	r := &a.result
	if len(r.Leaves) == 0 {
		fmt.Fprintln(w, "structure      no generalized leaf: no single node recovers a value")
		return
	}
	g := a.network.Graph
	inLeaf := map[ppac.Pair]bool{}
	for _, l := range ppac.GeneralizedLeaves(g) {
		inLeaf[l] = true
	}
	recovered := map[leafPair]recoveredValue{}
	for _, v := range r.Recovered {
		recovered[leafPair{v.Victim, v.Observer}] = v
	}
	for _, p := range ppac.Recoverable(g) {
		head, tail := g.Label(p.Head), g.Label(p.Tail)
		kind := "next to a leaf"
		if inLeaf[p] {
			kind = "generalized leaf"
		}
		line := fmt.Sprintf("%s: %s recovers the value of %s", kind, tail, head)
		if v, ok := recovered[leafPair{head, tail}]; ok {
			line += fmt.Sprintf(": computed %.8g, it is %.8g", v.Recovered, v.Value)
		}
		fmt.Fprintf(w, "risk           %s\n", line)
	}
}

func roundsText(rounds int, errors []float64) string {
	return fmt.Sprintf("after %s the nodes are %s from it (‖·‖₂), %s at the start", cli.Count(rounds, "round"), cli.Number(errors[len(errors)-1]), cli.Number(errors[0]))
}
