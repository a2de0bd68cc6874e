package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"mafalda/internal/cli"
	"mafalda/internal/figures"
	"mafalda/internal/simulated"
	"mafalda/internal/study"
	"mafalda/simulate"
)

// cell is a place in the grid of runs.
type cell struct {
	Method string  `json:"method"`           // as on the command line
	Export string  `json:"export,omitempty"` // digest of the folder's files, if the method is one
	Mu     float64 `json:"mu,omitempty"`     // 0: without noise
	Seed   uint64  `json:"seed"`
}

// keptRun is a run on disk. Numbers that a diverged run does not have are absent.
type keptRun struct {
	Steps    []int     `json:"steps"`
	Losses   []float64 `json:"losses"`
	Mean     *float64  `json:"mean_last50,omitempty"`
	Final    *float64  `json:"final,omitempty"`
	Full     *float64  `json:"final_full_test,omitempty"`
	Accuracy *float64  `json:"accuracy,omitempty"` // on all test records, of classifications
	Clipped  float64   `json:"clipped_fraction"`
	Diverged int       `json:"diverged_at,omitempty"`
	Seconds  float64   `json:"seconds"`
}

func keep(r *simulate.Result) keptRun {
	k := keptRun{r.Steps, r.Losses, nil, nil, nil, r.Accuracy, r.Clipped, r.Diverged, r.Seconds}
	if r.Diverged == 0 {
		k.Mean, k.Final, k.Full = &r.Mean, &r.Final, &r.Full
	}
	return k
}

func (k keptRun) result() *simulate.Result {
	value := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	return &simulate.Result{Steps: k.Steps, Losses: k.Losses, Mean: value(k.Mean), Final: value(k.Final), Full: value(k.Full), Accuracy: k.Accuracy,
		Clipped: k.Clipped, Diverged: k.Diverged, Seconds: k.Seconds}
}

// keptGrid is the content of runs.json.
type keptGrid struct {
	simulated.Mark
	Version  string       `json:"version"`
	Settings study.Inputs `json:"settings"` // all that runs depend on besides their cell
	Runs     []listedRun  `json:"runs"`
}

type listedRun struct {
	Method string  `json:"method"` // for an export its folder, and the start of the digest of its files
	Mu     float64 `json:"mu,omitempty"`
	Seed   uint64  `json:"seed"`
	keptRun
}

// spec says whose the folder of a simulation is.
func (s *simulation) spec() study.Spec {
	c := s.config
	spec := study.Of("simulate")
	in := &spec.Inputs
	in.Add("task", c.Task.Name)
	in.Add("data", s.data)
	s.network.AddTo(in)
	in.Add("participation", c.Schema)
	in.Add("batches", c.Batches)
	in.Add("rounds", c.Rounds)
	in.Add("learning rate", c.LearningRate)
	in.Add("clip", c.Clip)
	in.Add("adjacency", s.adjacency)
	in.Add("delta", s.flags.delta)
	in.Add("test rows", c.TestRows)
	in.Add("steps between losses", c.Every)
	spec.Summaries = figures.WithFiles([]string{"runs.json", "simulate.csv"}, "privacy-utility")
	for _, mu := range s.levels {
		spec.Summaries = figures.WithFiles(spec.Summaries, lossFigureName(mu))
	}
	spec.Former = study.Formerly("runs.json", []string{"version", "settings", "runs"}, isOfSimulation)
	spec.Replace = s.flags.force
	return spec
}

// cells are the runs that were asked for: seed by seed, so that comparisons can be made early.
func (s *simulation) cells() []cell {
	var cells []cell
	for seed := range uint64(s.flags.seeds) {
		for _, m := range s.methods {
			for _, mu := range s.levelsOf(m) {
				cells = append(cells, cell{m.name, m.export, mu, seed})
			}
		}
	}
	return cells
}

// levelsOf returns the levels of a method: one, 0, if it has no noise.
func (s *simulation) levelsOf(m method) []float64 {
	if m.name == "none" {
		return []float64{0}
	}
	return s.levels
}

// run computes a cell.
func (s *simulation) run(ctx context.Context, c cell) (keptRun, error) {
	at := fmt.Sprintf("%s, mu %g, seed %d", c.Method, c.Mu, c.Seed)
	s.progress.At = at
	noise, err := s.noiseOf(ctx, c)
	if err != nil {
		return keptRun{}, err
	}
	r, err := simulate.Run(ctx, s.config, noise, c.Seed)
	if errors.Is(err, simulate.ErrParticipation) || errors.Is(err, simulate.ErrData) {
		err = cli.Usage(err)
	}
	if err != nil {
		return keptRun{}, err
	}
	if r.Diverged > 0 && !s.flags.quiet {
		s.progress.Clear()
		fmt.Fprintf(s.notes, "%s: the loss is not finite after step %d; the run is kept, and not in the means\n", at,
			r.Diverged)
	}
	return keep(r), nil
}

// variant is a method as the runs of a folder know it.
type variant struct{ Method, Export string }

// grid is runs, and the methods, levels and seeds that they are of.
type grid struct {
	methods []variant
	levels  []float64 // of methods with noise, ascending
	runs    map[cell]*simulate.Result
}

func newGrid() *grid { return &grid{runs: map[cell]*simulate.Result{}} }

func (g *grid) add(c cell, r keptRun) {
	if v := (variant{c.Method, c.Export}); !slices.Contains(g.methods, v) {
		g.methods = append(g.methods, v)
	}
	if c.Method != "none" && !slices.Contains(g.levels, c.Mu) {
		g.levels = append(g.levels, c.Mu)
		slices.Sort(g.levels)
	}
	g.runs[c] = r.result()
}

// of returns the runs of a method at a level by their seeds.
func (g *grid) of(v variant, mu float64) map[uint64]*simulate.Result {
	if v.Method == "none" {
		mu = 0
	}
	runs := map[uint64]*simulate.Result{}
	for c, r := range g.runs {
		if c.Method == v.Method && c.Export == v.Export && c.Mu == mu {
			runs[c.Seed] = r
		}
	}
	return runs
}

// inOrder returns runs in the order of their seeds.
func inOrder(runs map[uint64]*simulate.Result) []*simulate.Result {
	var all []*simulate.Result
	for _, seed := range seedsOf(runs) {
		all = append(all, runs[seed])
	}
	return all
}

func seedsOf(runs map[uint64]*simulate.Result) []uint64 {
	var seeds []uint64
	for seed := range runs {
		seeds = append(seeds, seed)
	}
	slices.Sort(seeds)
	return seeds
}

// inPairs returns the runs of the seeds that both have.
func inPairs(a, b map[uint64]*simulate.Result) (of, and []*simulate.Result) {
	for _, seed := range seedsOf(a) {
		if other, both := b[seed]; both {
			of, and = append(of, a[seed]), append(and, other)
		}
	}
	return of, and
}

// name of a method in tables and figures: with the start of its digest where exports of the same name were others.
func (g *grid) name(v variant) string {
	for _, other := range g.methods {
		if other.Method == v.Method && other.Export != v.Export {
			return v.Method + "#" + v.Export[:min(8, len(v.Export))]
		}
	}
	return v.Method
}

// none returns the method without noise, if there is one.
func (g *grid) none() (variant, bool) {
	v := variant{Method: "none"}
	return v, slices.Contains(g.methods, v)
}

// seeds says how many runs there are of every method at every level.
func (g *grid) seeds() string {
	least, most := math.MaxInt, 0
	for _, v := range g.methods {
		for _, mu := range g.levels {
			if n := len(g.of(v, mu)); n > 0 {
				least, most = min(least, n), max(most, n)
			}
		}
	}
	if v, ok := g.none(); ok && len(g.levels) == 0 {
		least, most = len(g.of(v, 0)), len(g.of(v, 0))
	}
	if least < most {
		return fmt.Sprintf("%d to %s", least, cli.Count(most, "run"))
	}
	return cli.Count(most, "run")
}

// asked returns the runs that the command line asks for.
func (s *simulation) asked(store *study.Store[cell, keptRun]) (*grid, error) {
	g := newGrid()
	for _, c := range s.cells() {
		r, _, err := store.Get(c)
		if err != nil {
			return nil, err
		}
		g.add(c, r)
	}
	return g, nil
}

// sortRuns puts the runs of a folder in the order of methods, those of the command line first, levels and seeds.
func (s *simulation) sortRuns(entries []study.Entry[cell, keptRun]) {
	place := func(c cell) int {
		if at := s.methodOf(c); at >= 0 {
			return at
		}
		if at := slices.Index(methodNames, c.Method); at >= 0 {
			return len(s.methods) + at
		}
		return len(s.methods) + len(methodNames)
	}
	slices.SortFunc(entries, func(a, b study.Entry[cell, keptRun]) int {
		x, y := a.Cell, b.Cell
		return cmp.Or(place(x)-place(y), cmp.Compare(x.Method, y.Method), cmp.Compare(x.Export, y.Export),
			cmp.Compare(x.Mu, y.Mu), cmp.Compare(x.Seed, y.Seed))
	})
}
