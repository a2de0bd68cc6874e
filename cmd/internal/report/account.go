package report

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/study"
	"mafalda/threat"
)

// account is the section of what attackers learn.
func (s *Section) account(ctx context.Context, from *Source, graphFile string) error {
	a := from.Account
	if err := a.check(); err != nil {
		return err
	}
	s.Lead = "What an attacker learns of every other node: the squared sensitivity of its view, and the privacy that " +
		"follows. All numbers are rounded up."
	s.askStudy(a.Settings)
	first := a.Attackers[0]
	holds := holdsFor(first)
	s.Certified = append(s.Certified, fmt.Sprintf("Each pair: the attacker (%s) learns no more of the victim than μ-GDP "+
		"with the μ given, for gradients of norm 1 and noise of standard deviation %s. Sensitivity is %s.",
		views(first.Trust), upText(Setting(a.Settings, "sigma")), boundOf(a)))
	if holds != "" {
		s.Certified = append(s.Certified, "This holds for "+holds+".")
	}
	if first.Why != "" {
		s.warn("the class of gradients is not used, and local DP reported: %s", first.Why)
	}
	if reacting(first) {
		s.NotCovered = append(s.NotCovered, "the column “if gradients do not react”: it is no guarantee for a training")
	}
	if first.Local > 0 {
		mu := ""
		if first.LocalMu != nil {
			mu = ", μ = " + textUp(*first.LocalMu)
		}
		s.Certified = append(s.Certified, fmt.Sprintf("Whoever sees all messages, and knows all noise but the victim's own (local DP), "+
			"learns at most sens² = %s%s.", textUp(first.Local), mu))
	}
	s.NotCovered = append(s.NotCovered,
		"what other attackers see: coalitions that were not asked about, somebody who listens on more links",
		"records that take part more often, or sooner again, than participation says",
		"what a node that does not follow the protocol could learn")
	if Setting(a.Settings, "bound") == "lower" {
		s.warn("these are lower bounds: what is certainly lost, no guarantee")
	}
	if nodes, err := strconv.Atoi(Setting(a.Settings, "nodes")); err == nil && len(a.Attackers) > 1 &&
		len(a.Attackers) < nodes {
		s.warn("%d of %d nodes have attacked so far; the map has these", len(a.Attackers), nodes)
	}
	s.distances(a)
	s.summarizeAccount(a)
	return s.accountMap(ctx, a, graphFile)
}

// summarizeAccount says who learns what, and how much the most exposed node leaks.
func (s *Section) summarizeAccount(a *Account) {
	first := a.Attackers[0]
	s.sum(whatItIs, "what %s learns: %s on %s, T = %s", views(first.Trust), first.Algorithm, Setting(a.Settings, "graph"),
		Setting(a.Settings, "T"))
	if holds := holdsFor(first); holds != "" {
		s.sum("holds for", "%s", holds)
		if first.LocalMu != nil && holds != threat.Everything {
			s.sum("training", "local DP: μ = %s", textUp(*first.LocalMu))
		}
	}
	infinite, pairs := 0, 0
	var mu, epsilon float64
	for _, r := range threat.ByDistance(a.Attackers) {
		infinite, pairs = infinite+r.Infinite, pairs+r.Pairs
		mu, epsilon = max(mu, r.Mu), max(epsilon, r.Epsilon)
	}
	if infinite > 0 {
		s.sum("no privacy", "%d of %d pairs: a gradient is seen without noise", infinite, pairs)
		return
	}
	text := "the most exposed of " + countOf(pairs, "pair") + ": μ = " + textUp(mu)
	if epsilon > 0 {
		text += ", ε = " + textUp(epsilon) + " for δ = " + upText(Setting(a.Settings, "delta"))
	}
	s.sum("privacy", "%s", text)
}

// check finds what no account has.
func (a *Account) check() error {
	if len(a.Attackers) == 0 {
		return fmt.Errorf("account.json has no attackers: %w", ErrNothing)
	}
	for _, r := range a.Attackers {
		for _, p := range r.Pairs {
			if !p.Infinite && (p.SensSquared == nil || p.Mu == nil) || p.Infinite && p.SensSquared != nil {
				return fmt.Errorf("account.json is damaged: %q of %q has no number", r.Attacker, p.Victim)
			}
		}
	}
	return nil
}

// holdsFor returns what the numbers of a report hold for, also of one whose program did not say it; empty: for all.
func holdsFor(r threat.Report) string {
	trust, err := threat.ParseTrust(r.Trust)
	if err != nil || r.HoldsFor != "" {
		return r.HoldsFor
	}
	return trust.HoldsFor()
}

// reacting reports whether the numbers of a report are of nodes whose gradients may react, beside those of gradients that
// do not.
func reacting(r threat.Report) bool {
	for _, p := range r.Pairs {
		if p.WithoutReaction != nil {
			return true
		}
	}
	return false
}

func views(trust string) string {
	switch trust {
	case "pndp":
		return "a node that sees what reaches it"
	case "ldp":
		return "everybody who sees all messages, and knows all noise but the victim's own"
	case "eavesdropper":
		return "an outsider who sees all messages, and knows no node's secrets"
	case "secldp":
		return "everybody who sees all messages and knows a node's own secrets"
	}
	return trust
}

// askStudy lists the inputs of a study, but for hashes and what is empty or off.
func (s *Section) askStudy(in study.Inputs) {
	for _, i := range in {
		var p export.Participation
		switch {
		case i.Value == "" || i.Value == "false" || i.Name == "program" || isHash(i.Value):
		case json.Unmarshal([]byte(i.Value), &p) == nil && p.Schema != "":
			s.ask(i.Name, "%s: at most k = %d times, b = %d steps apart", p.Schema, p.K, p.B)
		default:
			if called, text := words(in, i.Name, i.Value); called != "" {
				s.ask(called, "%s", text)
			}
		}
	}
}

func isHash(text string) bool {
	if len(text) != 64 {
		return false
	}
	_, err := strconv.ParseUint(text[:16], 16, 64)
	return err == nil
}

// distances is the table by distance.
func (s *Section) distances(a *Account) {
	heldFor := ""
	if holds := holdsFor(a.Attackers[0]); holds != "" {
		heldFor = "; holds for " + holds
	}
	t := Table{Caption: "By distance from the attacker" + heldFor, Header: []string{"distance", "pairs", "infinite", "least sens²",
		"mean sens²", "most sens²", "μ (most)"}, Words: 0}
	withDelta := false
	rows := threat.ByDistance(a.Attackers)
	for _, r := range rows {
		withDelta = withDelta || r.Epsilon > 0
	}
	if withDelta {
		t.Header = append(t.Header, "ε (most)")
	}
	apart := reacting(a.Attackers[0])
	if apart {
		t.Header = append(t.Header, "if gradients do not react (most)", "local DP")
	}
	for _, r := range rows {
		distance := strconv.Itoa(r.Distance)
		if r.Distance == threat.NoPath {
			distance = "no path"
		}
		least, mean, most, mu, epsilon := textUp(r.Least), textUp(r.Mean), textUp(r.Most), textUp(r.Mu), textUp(r.Epsilon)
		if r.Infinite > 0 {
			mean, most, mu, epsilon = "infinite", "infinite", "infinite", "infinite"
		}
		line := []string{distance, strconv.Itoa(r.Pairs), strconv.Itoa(r.Infinite), least, mean, most, mu}
		if withDelta {
			line = append(line, epsilon)
		}
		if apart {
			line = append(line, upOrDash(r.WithoutReaction), upOrDash(r.Local))
		}
		t.Rows = append(t.Rows, line)
	}
	s.Tables = append(s.Tables, t)
}

func upOrDash(v *float64) string {
	if v == nil {
		return "–"
	}
	return textUp(*v)
}

// boundOf says what the squared sensitivities are.
func boundOf(a *Account) string {
	switch first := a.Attackers[0]; {
	case first.Reaction != nil:
		return "a bound for every training of the class"
	case first.HoldsFor == threat.Everything:
		return "local DP, of what can reach the attacker"
	}
	return bounds(Setting(a.Settings, "bound"))
}

// accountMap makes the map of attackers and victims.
func (s *Section) accountMap(ctx context.Context, a *Account, graphFile string) error {
	m := &Map{ID: s.ID, Kind: "account", Delta: nonZero(Setting(a.Settings, "delta")), HoldsFor: holdsFor(a.Attackers[0])}
	at := map[string]int{}
	for _, p := range a.Attackers[0].Pairs { // every report has all nodes
		at[p.Victim] = 0
		m.Labels = append(m.Labels, p.Victim)
	}
	if len(m.Labels) > mostNodes {
		s.warn("no map of more than %d nodes; there are %d", mostNodes, len(m.Labels))
		return nil
	}
	m.sort(at)
	if most := max(1, mostPairs/len(m.Labels)); len(a.Attackers) > most {
		s.warn("the map has the first %d of %d attackers; pairs.csv has all", most, len(a.Attackers))
		a = &Account{a.Version, a.Settings, a.Export, a.Attackers[:most]}
	}
	for _, r := range a.Attackers {
		m.Attackers = append(m.Attackers, attackerOf(r, at, m.Delta != ""))
	}
	edges, complete := m.hopEdges()
	if known, err := networkOf(ctx, a.Settings, graphFile, at); err != nil {
		return err
	} else if known != nil {
		edges, complete = known, true
	}
	m.Edges = edges
	switch {
	case complete:
	case len(a.Attackers) > 1:
		m.Note = "Edges between nodes that have not attacked are not in the folder."
	default:
		m.Note = "Nodes are on rings by their distance from the attacker; other edges than its own are not in the folder."
	}
	s.Map = m
	return m.place()
}

func nonZero(text string) string {
	if text == "0" {
		return ""
	}
	return text
}

// attackerOf returns the numbers of a report in the order of the map's nodes.
func attackerOf(r threat.Report, at map[string]int, withEpsilon bool) Attacker {
	a := Attacker{Name: r.Attacker, Self: []int{}, Mu: make([]float64, len(at)), Hops: make([]int, len(at))}
	if withEpsilon {
		a.Epsilon = make([]float64, len(at))
	}
	for _, p := range r.Pairs {
		i, known := at[p.Victim]
		if !known {
			continue
		}
		a.Hops[i] = -1
		if p.Distance != nil {
			a.Hops[i] = *p.Distance
		}
		if a.Hops[i] == 0 {
			a.Self = append(a.Self, i)
		}
		a.Mu[i] = upBy(p.Mu)
		if withEpsilon {
			a.Epsilon[i] = upBy(p.Epsilon)
		}
	}
	return a
}

// networkOf returns the edges of the network of an account: of a built-in graph that is made again, or of a file. It is
// nil if neither is there.
func networkOf(ctx context.Context, in study.Inputs, file string, at map[string]int) ([][2]int, error) {
	source, want := Setting(in, "graph"), Setting(in, "file of the graph")
	directed := Setting(in, "directed") == "true"
	switch {
	case want != "" && file != "":
		n, err := graph.LoadNetwork(ctx, graph.NetworkOptions{Source: file, Directed: directed})
		if err != nil {
			return nil, err
		}
		if n.Origin.SHA256 != want {
			return nil, fmt.Errorf("%s is not the graph of this account: it has another SHA-256", file)
		}
		return edgesOf(n.Graph, at), nil
	case want != "" || Setting(in, "file of the gossip matrix") != "":
		return nil, nil
	}
	var seed uint64
	if text := Setting(in, "seed"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return nil, nil
		}
	}
	g, known, err := graph.ByName(source, graph.BuiltinOptions{Seed: seed})
	if err != nil || !known {
		return nil, nil // one that this version does not make: the edges that attackers know are drawn
	}
	return edgesOf(g, at), nil
}

// edgesOf returns the edges between nodes of a map, each once, whatever their direction.
func edgesOf(g *graph.Graph, at map[string]int) (edges [][2]int) {
	seen := map[[2]int]bool{}
	g.Adjacency().DoNonZero(func(i, j int, _ float64) {
		u, here := at[g.Label(i)]
		v, there := at[g.Label(j)]
		if e := [2]int{min(u, v), max(u, v)}; here && there && u != v && !seen[e] {
			seen[e] = true
			edges = append(edges, e)
		}
	})
	return edges
}

// hopEdges returns the edges that attackers know of: to the nodes one hop away. They are all if every node attacks.
func (m *Map) hopEdges() (edges [][2]int, complete bool) {
	seen, attacked := map[[2]int]bool{}, map[int]bool{}
	for _, a := range m.Attackers {
		if len(a.Self) != 1 {
			continue
		}
		u := a.Self[0]
		attacked[u] = true
		for v, hops := range a.Hops {
			if e := [2]int{min(u, v), max(u, v)}; hops == 1 && !seen[e] {
				seen[e] = true
				edges = append(edges, e)
			}
		}
	}
	return edges, len(attacked) == len(m.Labels)
}
