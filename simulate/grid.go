package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mafalda/factorize/baselines"
	"mafalda/internal/lists"
)

// Variant is a method as runs know it: exports of one name may be several.
type Variant struct{ Method, Export string }

// Grid is runs, and the methods, levels and seeds that they are of.
type Grid struct {
	Methods []Variant // methods in the order of their first runs
	Levels  []float64 // levels of methods with noise, ascending: μ, or ε where batches are drawn in secret

	Sampling string // the scheme of the cells, empty if batches are visited in turn

	runs map[Cell]*Result
}

// NewGrid returns the grid of runs of these cells, which has as many.
func NewGrid(cells []Cell, runs []Result) *Grid {
	g := &Grid{runs: map[Cell]*Result{}}
	for i, c := range cells {
		if v := (Variant{c.Method, c.Export}); !slices.Contains(g.Methods, v) {
			g.Methods = append(g.Methods, v)
		}
		if c.Method != None && !slices.Contains(g.Levels, c.level()) {
			g.Levels = append(g.Levels, c.level())
		}
		if c.Sampling != "" {
			g.Sampling = c.Sampling
		}
		g.runs[c] = &runs[i]
	}
	slices.Sort(g.Levels)
	return g
}

// bySeed returns the runs of a method at a level by their seeds, at its own best rate if there are several.
func (g *Grid) bySeed(v Variant, level float64) map[uint64]*Result {
	return g.atRate(v, level, g.Rate(v, level))
}

// atRate returns the runs of a method at a level and a learning rate by their seeds.
func (g *Grid) atRate(v Variant, level, rate float64) map[uint64]*Result {
	runs := map[uint64]*Result{}
	for c, r := range g.runs {
		if c.is(v, level) && c.Rate == rate {
			runs[c.Seed] = r
		}
	}
	return runs
}

// is reports whether the cell is of a method at a level; those without noise are of every level.
func (c Cell) is(v Variant, level float64) bool {
	return c.Method == v.Method && c.Export == v.Export && (c.Method == None || c.level() == level)
}

// Rate returns the learning rate of the most runs that did not diverge, and of these with the least mean loss on the
// records that are kept apart, over the seeds that all rates have, or over all seeds if they share none; 0 where one rate
// alone was tried.
func (g *Grid) Rate(v Variant, level float64) float64 {
	runs, times := map[float64]map[uint64]*Result{}, map[uint64]int{}
	for c := range g.runs {
		if c.is(v, level) {
			runs[c.Rate] = g.atRate(v, level, c.Rate)
			times[c.Seed]++
		}
	}
	if len(runs) == 0 {
		return 0
	}
	most := slices.Max(slices.Collect(maps.Values(times)))
	losses := func(rate float64) (of []float64) {
		for _, seed := range slices.Sorted(maps.Keys(runs[rate])) {
			if most < len(runs) || times[seed] == len(runs) {
				of = append(of, known([]*Result{runs[rate][seed]}, func(r *Result) *float64 { return r.Validation })...)
			}
		}
		return of
	}
	return slices.MinFunc(slices.Sorted(maps.Keys(runs)), func(a, b float64) int {
		first, second := losses(a), losses(b)
		return cmp.Or(len(second)-len(first), cmp.Compare(stat.Mean(first, nil), stat.Mean(second, nil)))
	})
}

// Runs returns the runs of a method at a level in the order of their seeds; those without noise are of every level.
func (g *Grid) Runs(v Variant, level float64) []*Result {
	runs := g.bySeed(v, level)
	return lists.Map(slices.Sorted(maps.Keys(runs)), func(seed uint64) *Result { return runs[seed] })
}

// pairRuns returns the runs of the seeds that both have.
func pairRuns(a, b map[uint64]*Result) (of, and []*Result) {
	for _, seed := range slices.Sorted(maps.Keys(a)) {
		if other, both := b[seed]; both {
			of, and = append(of, a[seed]), append(and, other)
		}
	}
	return of, and
}

// Name of a method in tables and figures: with the start of its digest where exports of the same name were others.
func (g *Grid) Name(v Variant) string {
	for _, other := range g.Methods {
		if other.Method == v.Method && other.Export != v.Export {
			return v.Method + "#" + v.Export[:min(8, len(v.Export))]
		}
	}
	return v.Method
}

// none returns the method without noise, if there is one.
func (g *Grid) none() (Variant, bool) {
	v := Variant{Method: None}
	return v, slices.Contains(g.Methods, v)
}

// Len returns how many runs there are.
func (g *Grid) Len() int { return len(g.runs) }

// Missing says, a method a line, which have fewer runs than there are levels and seeds.
func (g *Grid) Missing() []string {
	places := map[string]bool{}
	there := map[string]int{}
	for c := range g.runs {
		if c.Method == None {
			continue
		}
		places[fmt.Sprint(c.level(), c.Rate, c.Seed)] = true
		there[g.Name(Variant{c.Method, c.Export})]++
	}
	var all []string
	for _, v := range g.Methods {
		if n := there[g.Name(v)]; n > 0 && n < len(places) {
			all = append(all, fmt.Sprintf("%s has %d of %d runs", g.Name(v), n, len(places)))
		}
	}
	return all
}

// Count says how many runs there are of every method at every level: "10 runs", or "3 to 10 runs".
func (g *Grid) Count() string {
	least, most := math.MaxInt, 0
	for _, v := range g.Methods {
		for _, mu := range g.Levels {
			if n := len(g.bySeed(v, mu)); n > 0 {
				least, most = min(least, n), max(most, n)
			}
		}
	}
	if v, ok := g.none(); ok && len(g.Levels) == 0 {
		least, most = len(g.bySeed(v, 0)), len(g.bySeed(v, 0))
	}
	text := fmt.Sprintf("%d runs", most)
	if most == 1 {
		text = "1 run"
	}
	if least < most {
		return fmt.Sprintf("%d to %s", least, text)
	}
	return text
}

// bestBaseline returns the method of others with the smallest mean loss, of those with the fewest diverged runs,
// if there is one.
func (g *Grid) bestBaseline(mu float64) (best Variant, found bool) {
	var least Summary
	for _, v := range g.Methods {
		if !slices.Contains(baselines.Names(), v.Method) {
			continue
		}
		sum := Summarize(g.Runs(v, mu))
		if sum.Diverged == sum.Seeds {
			continue
		}
		if !found || cmp.Or(sum.Diverged-least.Diverged, cmp.Compare(*sum.Mean, *least.Mean)) < 0 {
			best, least, found = v, sum, true
		}
	}
	return best, found
}
