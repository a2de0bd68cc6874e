package plan

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/study"
)

// Levels are privacy levels of single nodes. Under local DP the constraints separate: what a node's own noise protects
// are its own records. So the best strategies of single nodes stay the best, and only their noise is scaled, by
// contribution_i/μ_i; one strategy for all nodes is best for H_w = Σ (clip_i/μ_i)² H_i. Where nodes share noise, what
// may be learned of node i in a step is [M_A⁻¹]_ii ≤ (μ_i/clip_i)², relative to the plan's.
type Levels struct {
	listed []listedLevel
	levels []export.NodeLevel // levels of a network's nodes, in their order, without noise; nil before Resolve
}

// listedLevel is a line of a file of levels.
type listedLevel struct {
	line   int
	node   string
	target accounting.Target
	clip   float64
	noise  accounting.Privacy // noise for a strategy of sensitivity 1, under zero-out
}

// ReadLevels reads privacy levels: CSV with a header line of the columns node, mu or epsilon and delta, and clip (1 if there is no
// such column), a line a node; lines that start with # are skipped. The errors are a fault.Argument about Budgets, and
// name the line.
func ReadLevels(r io.Reader, name string) (*Levels, error) {
	lines := csv.NewReader(r)
	lines.Comment, lines.FieldsPerRecord, lines.TrimLeadingSpace = '#', -1, true
	wrong := func(format string, args ...any) error {
		line, _ := lines.FieldPos(0)
		return fault.New("Budgets", nil, "%s:%d: %s", name, line, fmt.Sprintf(format, args...))
	}
	header, err := lines.Read()
	if err != nil {
		return nil, fault.New("Budgets", nil, "%s: it has no header line (node,epsilon,delta,clip or node,mu,clip): %v", name, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	known := []string{"node", "mu", "epsilon", "delta", "clip"}
	for i, column := range header {
		switch column = strings.TrimSpace(column); {
		case !slices.Contains(known, column):
			return nil, wrong("the column %.40q is none of %s", column, strings.Join(known, ", "))
		case slices.Contains(header[:i], column):
			return nil, wrong("the column %s is there twice", column)
		}
		header[i] = column
	}
	if !slices.Contains(header, "node") {
		return nil, wrong("there is no column node")
	}
	l := &Levels{}
	at := map[string]int{}
	for {
		fields, err := lines.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fault.New("Budgets", nil, "%s: %v", name, err)
		}
		if len(fields) != len(header) {
			return nil, wrong("%d fields, where the header has %d", len(fields), len(header))
		}
		level, err := parseLevel(header, fields)
		if err != nil {
			return nil, wrong("%v", err)
		}
		level.line, _ = lines.FieldPos(0)
		if before, twice := at[level.node]; twice {
			return nil, wrong("node %q is there twice: it is in line %d, too", level.node, before)
		}
		at[level.node] = level.line
		l.listed = append(l.listed, level)
	}
	if len(l.listed) == 0 {
		return nil, fault.New("Budgets", nil, "%s: no node has a line", name)
	}
	return l, nil
}

// parseLevel reads the fields of a line.
func parseLevel(header, fields []string) (l listedLevel, err error) {
	l.clip = 1
	numbers := map[string]*float64{"mu": &l.target.Mu, "epsilon": &l.target.Epsilon, "delta": &l.target.Delta, "clip": &l.clip}
	for i, column := range header {
		text := strings.TrimSpace(fields[i])
		number := numbers[column]
		switch {
		case column == "node":
			l.node = fields[i]
			continue
		case text == "":
			if column == "clip" {
				return l, fmt.Errorf("node %q has no clip", l.node)
			}
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 1) {
			return l, fmt.Errorf("%s %.40q must be a number above 0", column, text)
		}
		*number = v
	}
	if l.noise, err = accounting.Calibrate(l.target, 1, l.clip, accounting.ZeroOut); err != nil {
		return l, fmt.Errorf("node %q: %w", l.node, err)
	}
	return l, nil
}

// Resolve returns the levels of the nodes of a network. The errors are a fault.Argument: a node without a level, and a level of
// a node that is not there.
func (l *Levels) Resolve(n *graph.Network) (*Levels, error) {
	labels := n.Graph.Labels()
	number := lists.Places(labels)
	on := &Levels{listed: l.listed, levels: make([]export.NodeLevel, len(labels))}
	for _, level := range l.listed {
		i, ok := number[level.node]
		if !ok {
			return nil, fault.New("Budgets", nil, "[Budgets] line %d: the network has no node %q", level.line, level.node)
		}
		c := level.noise
		on.levels[i] = export.NodeLevel{Node: level.node, Mu: c.Mu, Clip: level.clip}
		if c.Delta != 0 {
			on.levels[i].Epsilon, on.levels[i].Delta = &c.Epsilon, &c.Delta
		}
	}
	for i, level := range on.levels {
		if level.Mu == 0 {
			return nil, fault.New("Budgets", nil, "[Budgets]: node %q has no level; there are %d for %d nodes", labels[i],
				len(l.listed), len(labels))
		}
	}
	return on, nil
}

// strictest returns a level that is strict enough for every node: the least μ, with the largest clip.
func (l *Levels) strictest(adjacency accounting.Adjacency) *Privacy {
	p := &Privacy{Adjacency: adjacency}
	least := math.Inf(1)
	for _, level := range l.listed {
		if p.Clip = math.Max(p.Clip, level.clip); level.noise.Mu < least {
			least, p.Target = level.noise.Mu, level.target
		}
	}
	return p
}

// weights returns how much the noise of every node counts; nil where all have one level.
func (l *Levels) weights() []float64 {
	if l == nil || l.levels == nil {
		return nil
	}
	return export.LevelWeights(l.levels)
}

// calibrate returns the levels with the noise that a strategy of sensitivity sens needs.
func (l *Levels) calibrate(sens float64, adjacency accounting.Adjacency) ([]export.NodeLevel, error) {
	levels := slices.Clone(l.levels)
	for i, level := range levels {
		var err error
		if levels[i].NoiseStd, err = accounting.NoiseStd(level.Mu, sens, adjacency.Contribution(level.Clip)); err != nil {
			return nil, fault.Because("Budgets", err)
		}
	}
	return levels, nil
}

// addTo adds everything that the best strategy depends on.
func (l *Levels) addTo(in *study.Inputs) {
	if l == nil {
		return
	}
	d := study.NewDigest()
	for _, w := range l.weights() {
		d.Int(int(math.Float64bits(w)))
	}
	in.Add("levels of the nodes", d.Sum())
}

// checkLevels rejects levels of another network.
func (p Problem) checkLevels() error {
	if p.Levels == nil || p.Network == nil || len(p.Levels.levels) == p.nodes() {
		return nil
	}
	return fault.New("Levels", nil, "are not those of the network's %d nodes: see Levels.Resolve", p.nodes())
}

// compareOneLevel fills in the least loss at one level for all nodes, the strictest, unless nothing is to be compared or
// patterns overlap.
func (s *job) compareOneLevel(ctx context.Context) error {
	if s.Problem.Levels == nil || s.Options.NoBaselines || ctx.Err() != nil || !participation.IsPartition(s.schema()) {
		return nil
	}
	s.show("one level for all nodes", 0)
	k, _, err := s.Problem.source(&s.Gram).Kernel(ctx, s.schema().Steps())
	if isEnd(err) {
		return nil
	}
	if err == nil {
		s.OneLevelLoss, err = s.leastLoss(ctx, factorize.Mean(k.Gram()), s.schema())
	}
	return err
}
