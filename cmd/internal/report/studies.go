package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// simulation is the section of trained models.
func (s *Section) simulation(from *Source) error {
	m := from.Simulation
	if len(m.Runs) == 0 || len(m.Rows) == 0 {
		return fmt.Errorf("no runs: %w", ErrNothing)
	}
	s.Lead = "Models that were trained with every method, to see what the noise costs."
	s.warn("simulated, not private: the noise comes from a seed")
	s.askStudy(m.Settings)
	s.missingRuns(m.Runs)
	s.NotCovered = []string{
		"other tasks, models, data and learning rates than these",
		"runs that were not made: a mean of few seeds can be off by more than its standard error",
	}
	t := Table{Caption: "Test losses, mean of the last 50 steps", Header: []string{"method", "μ", "ε", "seeds",
		"diverged", "loss", "std", "final, all test records", "above none"}, Words: 1}
	for _, r := range m.Rows {
		t.Rows = append(t.Rows, []string{r["method"], dash(upText(r["mu"])), dash(upText(r["epsilon"])), r["seeds"],
			r["diverged"], dash(nearText(r["mean_last50"])), dash(nearText(r["std_last50"])),
			dash(nearText(r["final_full_test"])), dash(nearText(r["above_none"]))})
	}
	s.Tables = append(s.Tables, t)
	s.summarizeLosses(m.Rows)
	s.chart(lossChart(m.Rows, Setting(m.Settings, "delta")))
	return nil
}

// summarizeLosses says the losses at the strictest and at the weakest level.
func (s *Section) summarizeLosses(rows []Row) {
	byLevel, levels := map[float64][]string{}, []float64{}
	for _, r := range rows {
		if r["mean_last50"] == "" {
			continue
		}
		level, err := strconv.ParseFloat(r["epsilon"], 64)
		if err != nil {
			level = math.Inf(1) // without noise
		}
		if !slices.Contains(levels, level) {
			levels = append(levels, level)
		}
		byLevel[level] = append(byLevel[level], r["method"]+" "+nearText(r["mean_last50"]))
	}
	slices.Sort(levels)
	for i, level := range levels {
		name := "loss at ε = " + textUp(level)
		switch {
		case math.IsInf(level, 1):
			name = "loss without noise"
		case i > 0 && i+1 < len(levels) && !math.IsInf(levels[i+1], 1):
			continue // in between
		}
		s.sum(name, "%s", strings.Join(byLevel[level], ", "))
	}
}

func (s *Section) chart(c chart) {
	if p, ok := c.picture(); ok {
		s.Charts = append(s.Charts, p)
	}
}

func dash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// missingRuns says which grid the runs do not fill.
func (s *Section) missingRuns(runs []Run) {
	type level struct{ mu, epsilon float64 }
	type place struct {
		level
		seed uint64
	}
	places, there, methods := map[place]bool{}, map[string]int{}, []string{}
	for _, r := range runs {
		if r.Mu > 0 || r.Epsilon > 0 {
			places[place{level{r.Mu, r.Epsilon}, r.Seed}] = true
			there[r.Method]++
		}
		if !slices.Contains(methods, r.Method) {
			methods = append(methods, r.Method)
		}
	}
	for _, method := range methods {
		if n := there[method]; n > 0 && n < len(places) {
			s.warn("half finished: %s has %d of %d runs", method, n, len(places))
		}
	}
}

// lossChart draws losses against ε, a line a method.
func lossChart(rows []Row, delta string) chart {
	c := chart{caption: "Test loss against ε, for δ = " + delta, x: "ε (local DP)", y: "test loss",
		logX: true, logY: true}
	at := map[string]int{}
	var epsilons []float64
	for _, r := range rows {
		if e, err := strconv.ParseFloat(r["epsilon"], 64); err == nil && !slices.Contains(epsilons, e) {
			epsilons = append(epsilons, e)
		}
	}
	slices.Sort(epsilons)
	for _, r := range rows {
		loss, err := strconv.ParseFloat(r["mean_last50"], 64)
		if err != nil {
			continue
		}
		i, known := at[r["method"]]
		if !known {
			i = len(c.series)
			at[r["method"]] = i
			c.series = append(c.series, series{name: r["method"], method: r["method"]})
		}
		where := epsilons // without noise: at all
		if e, err := strconv.ParseFloat(r["epsilon"], 64); err == nil {
			where = []float64{e}
		}
		for _, e := range where {
			says := fmt.Sprintf("%s, ε = %s: loss %s", r["method"], textUp(e), textNearest(loss))
			if r["epsilon"] == "" {
				says = fmt.Sprintf("%s: loss %s", r["method"], textNearest(loss))
			}
			c.series[i].points = append(c.series[i].points, point{x: e, y: loss, says: says})
		}
	}
	return c
}

// benchmark is the section of strategies on graphs.
func (s *Section) benchmark(from *Source) error {
	b := from.Benchmark
	if len(b.Rows) == 0 {
		return fmt.Errorf("no rows: %w", ErrNothing)
	}
	s.Lead = "Strategies and baselines on several graphs, compared with the certified optimum."
	s.ask("gossip", "%s", b.Gossip)
	s.ask("seed", "%d", b.Seed)
	s.ask("privacy", "ε in %v, δ = %g", b.Epsilons, b.Delta)
	s.Certified = []string{"Each graph's lower bound: no strategy has a smaller loss, where attackers may know when a " +
		"record takes part. Ratios are over the dense optimum's."}
	s.NotCovered = []string{"other graphs, steps and participations than these", "accuracies: losses are of the noise alone"}
	t := Table{Caption: "Losses, and errors at the same privacy over that of the optimum in turn", Words: 2,
		Header: []string{"graph", "strategy", "T", "k", "b", "loss", "ratio", "lower bound", "numbers at a node"}}
	for _, e := range b.Epsilons {
		t.Header = append(t.Header, fmt.Sprintf("ratio, ε = %g", e))
	}
	for _, r := range b.Rows {
		if r.StrategyRow == nil {
			return fmt.Errorf("%s: a row of workload %s: %w", r.Graph, r.Workload, ErrNothing)
		}
		line := []string{r.Graph, r.Strategy, strconv.Itoa(r.KB().Steps()), strconv.Itoa(r.K), strconv.Itoa(r.B), "–", "–",
			"–", strconv.Itoa(r.MemoryFloats)}
		if r.Loss > 0 {
			line[5], line[6] = textUp(r.Loss), fmt.Sprintf("%.4f", r.Ratio)
		}
		if r.LowerBound > 0 {
			line[7] = textDown(r.LowerBound)
		}
		for i := range b.Epsilons {
			text := "–"
			if i < len(r.AtPrivacy) {
				text = fmt.Sprintf("%.4f", r.AtPrivacy[i].Ratio)
			}
			line = append(line, text)
		}
		t.Rows = append(t.Rows, line)
	}
	s.Tables = append(s.Tables, t)
	s.memoryCharts(from)
	return nil
}

// none is where strategies without memory are drawn, on an axis that has no 0.
const none = 0.5

// spread leaves out labels that would lie on others.
func spread(all []series) {
	var kept []point
	for i := range all {
		for j, p := range all[i].points {
			close := func(q point) bool {
				return math.Abs(math.Log(p.x/q.x)) < 0.5 && math.Abs(math.Log(p.y/q.y)) < 0.12
			}
			if p.label != "" && slices.ContainsFunc(kept, close) {
				all[i].points[j].label = ""
			} else if p.label != "" {
				kept = append(kept, p)
			}
		}
	}
}

// memoryCharts draws memory against error, a chart a participation and a series a graph.
func (s *Section) memoryCharts(from *Source) {
	b := from.Benchmark
	level := slices.Index(b.Epsilons, 2)
	if level < 0 {
		level = len(b.Epsilons) / 2
	}
	var done []string
	for _, of := range b.Rows {
		name := fmt.Sprintf("T = %d, k = %d", of.KB().Steps(), of.K)
		if slices.Contains(done, name) {
			continue
		}
		done = append(done, name)
		c := chart{x: "numbers that a node keeps, for each model parameter (none: left edge)", logX: true, logY: true,
			caption: "Memory against error, " + name, y: "loss over the certified optimum's"}
		if len(b.Epsilons) > 0 {
			c.caption += fmt.Sprintf(", at ε = %g, δ = %g", b.Epsilons[level], b.Delta)
			c.y = "squared error over the certified optimum's"
		}
		for _, r := range b.Rows {
			if r.KB() != of.KB() {
				continue
			}
			ratio := r.Ratio
			if level < len(r.AtPrivacy) {
				ratio = r.AtPrivacy[level].Ratio
			}
			i := slices.IndexFunc(c.series, func(s series) bool { return s.name == r.Graph })
			if i < 0 {
				i = len(c.series)
				c.series = append(c.series, series{name: r.Graph, dots: true})
			}
			at := point{x: math.Max(none, float64(r.MemoryFloats)), y: ratio,
				says: fmt.Sprintf("%s on %s: %s, ratio %.4f", r.Strategy, r.Graph, countOf(r.MemoryFloats, "number"), ratio)}
			if i == 0 {
				at.label = r.Strategy
			}
			c.series[i].points = append(c.series[i].points, at)
		}
		spread(c.series)
		s.chart(c)
	}
}

// sampling is the section of secret batches compared with batches in turn.
func (s *Section) sampling(from *Source) error {
	m := from.Sampling
	if len(m.Rows) == 0 {
		return fmt.Errorf("no rows: %w", ErrNothing)
	}
	s.Lead = "Batches drawn in secret, compared with batches in turn at the same (ε, δ)."
	if g := m.Graph; g != nil {
		s.ask("graph", "%s: %d nodes, %d edges", g.Source, g.Nodes, g.Edges)
		s.ask("gossip", "%s", g.GossipLine())
	}
	s.ask("workload", "%s, T = %d steps", m.Workload, m.Steps)
	s.ask("participation", "k = %d times, b = %d steps apart (expected, where batches are secret)", m.Participations,
		m.Separation)
	s.ask("delta", "%g", m.Delta)
	s.Certified = []string{"The optimum in turn is certified. For secret batches the strategy of each number of bands is " +
		"the best with so many, and ε is what the accountant bounds."}
	s.NotCovered = []string{"nodes whose draws, batch sizes or empty batches become known: they need the optimum in turn",
		"replace-one adjacency"}
	t := Table{Caption: "Squared error at the same privacy", Header: []string{"ε", "best number of bands",
		"noise multiplier", "its error", "optimum in turn", "ratio"}}
	bands := series{name: "best number of bands", method: "none"}
	c := chart{caption: fmt.Sprintf("Error against ε, δ = %g", m.Delta), x: "ε", y: "squared error at (ε, δ)", logX: true,
		logY: true, series: []series{{name: "certified optimum, in turn", method: "mafalda"}}}
	for _, r := range m.Rows {
		t.Rows = append(t.Rows, []string{plain(r.Epsilon), strconv.Itoa(r.Best.Bands), textUp(r.Best.NoiseMultiplier),
			textUp(r.Best.Error), textUp(r.Cyclic), fmt.Sprintf("%.4f", r.Best.Ratio)})
		c.series[0].points = append(c.series[0].points, point{x: r.Epsilon, y: r.Cyclic,
			says: fmt.Sprintf("in turn, ε = %g: error %s", r.Epsilon, textUp(r.Cyclic))})
		bands.points = append(bands.points, point{x: r.Epsilon, y: r.Best.Error,
			says: fmt.Sprintf("%s, ε = %g: error %s, %.4f of the optimum in turn", countOf(r.Best.Bands, "band"),
				r.Epsilon, textUp(r.Best.Error), r.Best.Ratio)})
		for _, at := range r.Bands {
			name := countOf(at.Bands, "band")
			i := slices.IndexFunc(c.series, func(s series) bool { return s.name == name })
			if i < 0 {
				i = len(c.series)
				of := series{name: name}
				if at.Bands == 1 {
					of = series{name: name, method: "dp-d-sgd"}
				}
				c.series = append(c.series, of)
			}
			c.series[i].points = append(c.series[i].points, point{x: r.Epsilon, y: at.Error,
				says: fmt.Sprintf("%s, ε = %g: error %s", name, r.Epsilon, textUp(at.Error))})
		}
	}
	c.series = append(c.series, bands)
	s.Tables = append(s.Tables, t)
	s.chart(c)
	return nil
}

// tablesAndPictures is the section of a folder that has tables and pictures, whatever it is of.
func (s *Section) tablesAndPictures(from *Source) error {
	const shown = 200 // rows
	s.Lead = "Pictures and tables, as they are in the folder."
	s.askStudy(from.inputs())
	for _, name := range from.ending(".csv") {
		header, rows, err := from.table(name)
		if err != nil {
			s.warn("%s is not shown: %v", name, err)
			continue
		}
		t := Table{Caption: name, Header: header, Words: 1}
		if len(rows) > shown {
			t.Caption = fmt.Sprintf("%s, the first %d of %d rows", name, shown, len(rows))
		}
		for _, r := range rows[:min(shown, len(rows))] {
			var line []string
			for _, column := range header {
				line = append(line, strings.TrimSpace(r[column]))
			}
			t.Rows = append(t.Rows, line)
		}
		s.Tables = append(s.Tables, t)
	}
	return nil
}
