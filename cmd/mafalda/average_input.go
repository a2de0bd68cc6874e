package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"mafalda/graph"
	"mafalda/internal/cli"
	"mafalda/internal/files"
)

// consensus loads a connected graph with a consensus matrix.
func (f *averageFlags) consensus(note func(string, ...any)) (*graph.Network, error) {
	if name, _, _ := strings.Cut(f.network.Source, ":"); name == "exp" || name == "d-out" {
		return nil, cli.Usagef("--graph %s: this network is directed, and for --protocol dpps only", f.network.Source)
	}
	byDefault := !f.network.GossipGiven() && f.network.GossipFile == ""
	n, err := f.network.LoadBy(graph.Laplacian)
	if err != nil {
		return nil, err
	}
	if n.Graph.Directed() {
		return nil, cli.Usagef("the graph is directed: %s needs an undirected one", f.protocol)
	}
	if byDefault && n.Graph.RegularBipartite() {
		n.Note("note: I - (D-A)/d_max swaps two halves of this graph for ever: taking metropolis weights")
		n.Origin.Gossip = graph.Metropolis.String()
		if n.Gossip, err = graph.NewGossip(n.Graph, graph.Metropolis); err != nil {
			return nil, cli.Usage(err)
		}
	}
	for _, text := range n.Notes {
		note("%s", text)
	}
	return n, nil
}

// start returns a network for consensus, and its nodes' values.
func (f *averageFlags) start(note func(string, ...any)) (*graph.Network, []float64, error) {
	n, err := f.consensus(note)
	if err != nil {
		return nil, nil, err
	}
	u, err := f.startValues(n.Graph.Labels())
	return n, u, err
}

// The purposes of random numbers.
const (
	forValues uint64 = iota + 1
	forChoice
	forNoise
	forFigures
)

func (f *averageFlags) random(purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(f.network.Seed, 0x6176657261676500+purpose))
}

// largestValue is that of values and standard deviations: sums and squares of more would not be numbers.
const largestValue = 1e150

// startValues draws the nodes' values, or reads them.
func (f *averageFlags) startValues(labels []string) ([]float64, error) {
	u := make([]float64, len(labels))
	if f.values == "" {
		r := f.random(forValues)
		for i := range u {
			u[i] = f.valueStd * r.NormFloat64()
		}
		return u, nil
	}
	return u, readPairs(f.values, labels, func(i int, text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(math.Abs(v) <= largestValue) {
			return fmt.Errorf("%q is not a finite number, of at most %g", text, largestValue)
		}
		u[i] = v
		return nil
	})
}

// readPairs reads lines "label something", one for each node, and hands them to set.
func readPairs(path string, labels []string, set func(node int, text string) error) error {
	file, _, err := files.Open(path)
	if err != nil {
		return cli.Usage(err)
	}
	defer file.Close()
	number := make(map[string]int, len(labels))
	for i, l := range labels {
		number[l] = i
	}
	seen := make([]bool, len(labels))
	scanner := bufio.NewScanner(file)
	for line := 1; scanner.Scan(); line++ {
		text := strings.TrimSpace(strings.TrimPrefix(scanner.Text(), "\xef\xbb\xbf"))
		if text == "" || text[0] == '#' {
			continue
		}
		fields := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;", r) })
		if len(fields) != 2 {
			return cli.Usagef("%s:%d: %q is not a label and what belongs to it", path, line, text)
		}
		i, ok := number[fields[0]]
		if !ok || seen[i] {
			return cli.Usagef("%s:%d: node %q is not in the graph, or comes twice", path, line, fields[0])
		}
		if seen[i], err = true, set(i, fields[1]); err != nil {
			return cli.Usagef("%s:%d: %w", path, line, err)
		}
	}
	if err := scanner.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("a line is too long")
		}
		return cli.Usagef("%s: %w", path, err)
	}
	if i := slices.Index(seen, false); i >= 0 {
		return cli.Usagef("%s: nothing for node %s", path, labels[i])
	}
	return nil
}

// observers returns the observers to look at: one coalition, or every node alone; and the victims.
func (f *averageFlags) observers(g *graph.Graph) (coalitions [][]int, victims []int, err error) {
	find := func(flag, label string) (int, error) {
		v := slices.Index(g.Labels(), strings.TrimSpace(label))
		if v < 0 {
			return 0, cli.Usagef("--%s %s: the graph has no such node", flag, strings.TrimSpace(label))
		}
		return v, nil
	}
	if f.observer == "" {
		for v := range g.Nodes() {
			coalitions = append(coalitions, []int{v})
		}
	} else {
		var coalition []int
		for _, label := range strings.Split(f.observer, ",") {
			v, err := find("observer", label)
			if err != nil {
				return nil, nil, err
			}
			if slices.Contains(coalition, v) {
				return nil, nil, cli.Usagef("--observer %s is named twice", label)
			}
			coalition = append(coalition, v)
		}
		if len(coalition) == g.Nodes() {
			return nil, nil, cli.Usagef("--observer names all nodes: there is no victim")
		}
		coalitions = [][]int{coalition}
	}
	if f.victim != "" {
		v, err := find("victim", f.victim)
		if err != nil {
			return nil, nil, err
		}
		if f.observer != "" && slices.Contains(coalitions[0], v) {
			return nil, nil, cli.Usagef("--victim %s is an observer: it knows its own value", f.victim)
		}
		victims = []int{v}
	}
	return coalitions, victims, checkPairs(g.Nodes(), coalitions, victims)
}

// bytesOfPair is what an observer and a victim take, in the result and as JSON.
const bytesOfPair = 300

// checkPairs refuses, before anything is computed, more pairs than there is memory for.
func checkPairs(nodes int, coalitions [][]int, victims []int) error {
	heads := float64(nodes)
	if victims != nil {
		heads = float64(len(victims))
	}
	pairs := float64(len(coalitions)) * heads
	return cli.CheckMemory(fmt.Sprintf("saying what %d observers learn of %.0f nodes (--observer and --victim name some)",
		len(coalitions), heads), pairs*bytesOfPair)
}

// noise returns --noise-std, or a protocol's default.
func (f *averageFlags) noise(otherwise float64) float64 {
	if f.given("noise-std") {
		return f.noiseStd
	}
	return otherwise
}

const (
	closeEnough = 1e-6 // to the average, for rounds to end by themselves
	mostNumbers = 2e7  // n·rounds that are kept
)

// limit returns how many rounds may be run, and how close the nodes must come before.
func (f *averageFlags) limit(nodes int) (rounds int, tolerance float64, err error) {
	if f.fixed {
		if float64(f.rounds)*float64(nodes) > 10*mostNumbers {
			return 0, 0, cli.Usagef("--rounds %d: %d nodes would keep %.3g GB of values", f.rounds, nodes, float64(f.rounds)*float64(nodes)*8e-9)
		}
		return f.rounds, 0, nil
	}
	return max(int(mostNumbers)/nodes, 1), closeEnough, nil
}
