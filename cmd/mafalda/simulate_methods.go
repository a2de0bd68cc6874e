package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mafalda/benchmarks"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/simulate"
)

// methodNames are those that are no folders.
var methodNames = []string{"none", "dp-d-sgd", "antipgd", "d-mf", "mafalda"}

// baselineNames are the methods of others.
var baselineNames = []string{"dp-d-sgd", "antipgd", "d-mf"}

// method is a row of the comparison.
type method struct {
	name        string // as on the command line
	key         string // what its runs are kept under: name, or folder and hash of its manifest
	correlation *simulate.Correlation
}

// chooseMethods reads exports, and knows the others by their names.
func (s *simulation) chooseMethods(schema participation.Schema) ([]method, error) {
	var methods []method
	for _, name := range s.flags.methods {
		if slices.ContainsFunc(methods, func(m method) bool { return m.name == name }) {
			continue
		}
		m := method{name: name, key: name}
		if !slices.Contains(methodNames, name) {
			var err error
			if m, err = s.readMethod(name, schema); err != nil {
				return nil, usage(err)
			}
		}
		methods = append(methods, m)
	}
	if len(methods) == 0 {
		return nil, usagef("--methods is empty: name some of %s, or folders of exports", strings.Join(methodNames, ", "))
	}
	return methods, nil
}

// readMethod makes the correlation of an export, for the participation that it was made for.
func (s *simulation) readMethod(dir string, schema participation.Schema) (method, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return method{}, fmt.Errorf("method %q is none of %s, nor a folder", dir, strings.Join(methodNames, ", "))
	}
	e, err := export.Load(dir)
	if err != nil {
		return method{}, err
	}
	if err := e.CheckHashes(); err != nil {
		return method{}, err
	}
	m := e.Manifest
	nodes := s.network.graph.Nodes()
	switch {
	case m.Steps != schema.Steps():
		return method{}, fmt.Errorf("%s: %w: it is for T = %d steps, the run has %d (use --T %d)", dir, simulate.ErrParticipation, m.Steps, schema.Steps(), m.Steps)
	case m.PerNode != nil && len(m.PerNode.Layers) != nodes:
		return method{}, fmt.Errorf("%s: strategies of %d nodes for a network of %d", dir, len(m.PerNode.Layers), nodes)
	}
	of, err := m.Participation.Of(m.Steps)
	if err != nil {
		return method{}, fmt.Errorf("%s: %w", dir, err)
	}
	if err := simulate.CheckCycle(of, schema.Separation()); err != nil {
		return method{}, fmt.Errorf("%s: its privacy is for %v: %w", dir, of, err)
	}
	if m.Graph != nil && !s.sameNetwork(m.Graph) && !s.flags.quiet {
		fmt.Fprintf(s.notes, "%s was made for another network (%s): it is as private, but not the optimum here\n", dir, m.Graph.Source)
	}
	layers := map[int]factorize.Strategy{} // one value a layer, whose work is then shared
	strategies := make([]factorize.Strategy, nodes)
	for u := range nodes {
		layer := 0
		if m.PerNode != nil {
			layer = m.PerNode.Layers[u]
		}
		if layers[layer] == nil {
			if layers[layer], err = nodeStrategy(e, u); err != nil {
				return method{}, err
			}
		}
		strategies[u] = layers[layer]
	}
	c, err := simulate.NewCorrelation(nodes, func(u int) factorize.Strategy { return strategies[u] }, of)
	if err != nil {
		return method{}, fmt.Errorf("%s: %w", dir, err)
	}
	hash, err := hashFile(filepath.Join(dir, export.ManifestName))
	return method{dir, dir + "#" + hash[:16], c}, err
}

func (s *simulation) sameNetwork(g *export.Graph) bool {
	o := s.network.origin
	return g.Source == o.Source && g.SHA256 == o.SHA256 && g.Gossip == o.Gossip && g.GossipSHA256 == o.GossipSHA256 && g.Nodes == o.Nodes
}

// prepareMethods makes the correlations that the cells need.
func (s *simulation) prepareMethods(ctx context.Context, cells []cell) error {
	for i := range s.methods {
		m := &s.methods[i]
		if m.correlation != nil || m.name == "none" || !slices.ContainsFunc(cells, func(c cell) bool { return c.Method == m.key }) {
			continue
		}
		s.progress.show(0, "strategy of "+m.name)
		c, err := s.strategy(ctx, m.name)
		if err != nil {
			return fmt.Errorf("strategy of %s: %w", m.name, err)
		}
		if m.correlation, err = simulate.NewCorrelation(s.network.graph.Nodes(), simulate.Shared(c), s.config.Schema); err != nil {
			return fmt.Errorf("strategy of %s: %w", m.name, err)
		}
	}
	s.progress.clear()
	return nil
}

// strategy makes the strategy of one of methodNames.
func (s *simulation) strategy(ctx context.Context, name string) (factorize.Strategy, error) {
	schema := s.config.Schema
	switch name {
	case "dp-d-sgd":
		return factorize.Identity(schema.Steps()), nil
	case "antipgd":
		return factorize.AntiPGD(schema.Steps()), nil
	case "d-mf":
		return benchmarks.DMF(ctx, schema)
	}
	h, err := s.gram(ctx)
	if err != nil {
		return nil, err
	}
	r, err := factorize.Optimize(ctx, h, schema, factorize.Options{})
	switch {
	case err != nil:
		return nil, err
	case r.Status == optim.Interrupted:
		return nil, context.Canceled
	case r.Status != optim.Converged:
		return nil, fmt.Errorf("%v with a gap of %s", r.Status, decimalUp(r.Gap, 2))
	}
	return r.Strategy, nil
}

// noiseOf returns the noise of a cell; nil for none.
func (s *simulation) noiseOf(c cell) *simulate.Noise {
	at := slices.IndexFunc(s.methods, func(m method) bool { return m.key == c.Method })
	if s.methods[at].correlation == nil {
		return nil
	}
	return &simulate.Noise{Correlation: s.methods[at].correlation, Adjacency: s.adjacency, Mu: c.Mu}
}

// dataHash is of everything that a task splits into training and test data.
func dataHash(task simulate.Task) string {
	if task.Split == nil {
		return ""
	}
	h := sha256.New()
	train, test := task.Split(0)
	for _, numbers := range [][]float32{train.Inputs, train.Targets, test.Inputs, test.Targets} {
		if binary.Write(h, binary.LittleEndian, numbers) != nil {
			panic("mafalda: a hash refused numbers")
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
