package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"mafalda/export"
	"mafalda/simulate"
)

// cell is a place in the grid of runs.
type cell struct {
	Method string  `json:"method"`
	Mu     float64 `json:"mu,omitempty"` // 0: without noise
	Seed   uint64  `json:"seed"`
}

// keptRun is a run on disk. Numbers that a diverged run does not have are absent.
type keptRun struct {
	cell
	Steps    []int     `json:"steps"`
	Losses   []float64 `json:"losses"`
	Mean     *float64  `json:"mean_last50,omitempty"`
	Final    *float64  `json:"final,omitempty"`
	Full     *float64  `json:"final_full_test,omitempty"`
	Clipped  float64   `json:"clipped_fraction"`
	Diverged int       `json:"diverged_at,omitempty"`
	Seconds  float64   `json:"seconds"`
}

func keep(c cell, r *simulate.Result) keptRun {
	k := keptRun{c, r.Steps, r.Losses, nil, nil, nil, r.Clipped, r.Diverged, r.Seconds}
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
	return &simulate.Result{Steps: k.Steps, Losses: k.Losses, Mean: value(k.Mean), Final: value(k.Final), Full: value(k.Full),
		Clipped: k.Clipped, Diverged: k.Diverged, Seconds: k.Seconds}
}

// valid reports whether a run from a file has what a run has.
func (k keptRun) valid() bool {
	finished := k.Mean != nil && k.Final != nil && k.Full != nil && len(k.Losses) > 0
	return len(k.Steps) == len(k.Losses) && (finished || k.Diverged > 0)
}

// grid keeps runs in memory and, with a folder, in runs.json.
type grid struct {
	path     string
	settings string
	runs     map[cell]keptRun
	order    []cell
	saved    time.Time
	unsaved  bool
}

type keptGrid struct {
	Version  string    `json:"version"`
	Settings string    `json:"settings"` // all that runs depend on besides their cell
	Runs     []keptRun `json:"runs"`
}

// open reads what an earlier simulation with the same settings has left.
func (s *simulation) open() (*grid, error) {
	g := &grid{settings: s.settings(), runs: map[cell]keptRun{}, saved: time.Now()}
	if s.flags.out == "" {
		return g, nil
	}
	if err := os.MkdirAll(s.flags.out, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of the runs: %w", err)
	}
	g.path = filepath.Join(s.flags.out, "runs.json")
	text, err := os.ReadFile(g.path)
	if errors.Is(err, os.ErrNotExist) {
		return g, g.write() // now, rather than after the first hour: can it be written?
	}
	if err != nil {
		return nil, err
	}
	var kept keptGrid
	if err := json.Unmarshal(text, &kept); err != nil || kept.Settings == "" {
		return nil, usagef("%s is not of a simulation: choose another folder", g.path)
	}
	switch {
	case kept.Version == version() && kept.Settings == g.settings:
		for _, r := range kept.Runs {
			if !r.valid() {
				return nil, usagef("%s: the run of %s, mu %g, seed %d is damaged: choose another folder", g.path, r.Method, r.Mu, r.Seed)
			}
			g.put(r)
		}
	case !s.flags.force:
		return nil, usagef("%s is of a simulation with other settings: choose another folder, or --force to replace it", g.path)
	}
	return g, nil
}

// settings describes everything that a run depends on, but its cell.
func (s *simulation) settings() string {
	o, c := s.network.origin, s.config
	seed := ""
	if o.Seed != nil {
		seed = strconv.FormatUint(*o.Seed, 10)
	}
	return fmt.Sprintf("%s %s | graph %s %s %s, gossip %s %s, directed %v, %d nodes | %v, %d batches, %d rounds | rate %v, clip %v, %v | %d test rows, every %d",
		c.Task.Name, s.data, o.Source, o.SHA256, seed, o.Gossip, o.GossipSHA256, o.Directed, o.Nodes, c.Schema, c.Batches, c.Rounds, c.LearningRate,
		c.Clip, s.adjacency, c.TestRows, c.Every)
}

// missing returns the cells that were asked for and have no run: seed by seed, so that comparisons can be made early.
func (g *grid) missing(s *simulation) []cell {
	var cells []cell
	for seed := range uint64(s.flags.seeds) {
		for _, m := range s.methods {
			for _, mu := range s.levelsOf(m) {
				c := cell{m.key, mu, seed}
				if _, ok := g.runs[c]; !ok {
					cells = append(cells, c)
				}
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

func (g *grid) put(r keptRun) {
	if _, ok := g.runs[r.cell]; !ok {
		g.order = append(g.order, r.cell)
	}
	g.runs[r.cell] = r
}

// of returns the runs of a method at a level, in the order of seeds.
func (g *grid) of(m method, mu float64, seeds int) []*simulate.Result {
	var runs []*simulate.Result
	for seed := range uint64(seeds) {
		runs = append(runs, g.runs[cell{m.key, mu, seed}].result())
	}
	return runs
}

// add keeps a run, on disk within a second or two.
func (g *grid) add(c cell, r *simulate.Result) error {
	g.put(keep(c, r))
	g.unsaved = true
	if time.Since(g.saved) < time.Second {
		return nil
	}
	return g.save()
}

// save writes what is not on disk yet.
func (g *grid) save() error {
	if !g.unsaved {
		return nil
	}
	g.saved = time.Now()
	g.unsaved = false
	return g.write()
}

func (g *grid) write() error {
	if g.path == "" {
		return nil
	}
	kept := keptGrid{version(), g.settings, []keptRun{}}
	for _, c := range g.order {
		kept.Runs = append(kept.Runs, g.runs[c])
	}
	return export.WriteFile(g.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(kept) }, true)
}
