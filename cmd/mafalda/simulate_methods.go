package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"mafalda/benchmarks"
	"mafalda/factorize"
	"mafalda/internal/cli"
	"mafalda/optim"
	"mafalda/participation"
	"mafalda/simulate"
	"mafalda/strategy"
)

// methodNames are those that are no folders.
var methodNames = []string{"none", "dp-d-sgd", "antipgd", "d-mf", "mafalda"}

// baselineNames are the methods of others.
var baselineNames = []string{"dp-d-sgd", "antipgd", "d-mf"}

// method is a row of the comparison.
type method struct {
	name        string // as on the command line
	export      string // digest of its files, if it is a folder
	correlation *simulate.Correlation
}

// chooseMethods reads exports, and knows the others by their names.
func (s *simulation) chooseMethods(schema participation.Schema) ([]method, error) {
	var methods []method
	for _, name := range s.flags.methods {
		if slices.ContainsFunc(methods, func(m method) bool { return m.name == name }) {
			continue
		}
		m := method{name: name}
		if !slices.Contains(methodNames, name) {
			var err error
			if m, err = s.readMethod(name, schema); err != nil {
				return nil, cli.Usage(err)
			}
		}
		methods = append(methods, m)
	}
	if len(methods) == 0 {
		return nil, cli.Usagef("--methods is empty: name some of %s, or folders of exports", strings.Join(methodNames, ", "))
	}
	return methods, nil
}

// strategy makes the strategy of one of methodNames.
func (s *simulation) strategy(ctx context.Context, name string) (strategy.Strategy, error) {
	schema := s.config.Schema
	switch name {
	case "dp-d-sgd":
		return strategy.Identity(schema.Steps()), nil
	case "antipgd":
		return strategy.AntiPGD(schema.Steps()), nil
	case "d-mf":
		return benchmarks.DMF(ctx, schema)
	}
	h, err := s.gram(ctx)
	if err != nil {
		return nil, err
	}
	r, err := factorize.Dense{}.Optimize(ctx, factorize.Mean(h), schema, factorize.Options{})
	switch {
	case err != nil:
		return nil, err
	case r.Status == optim.Interrupted:
		return nil, context.Canceled
	case r.Status != optim.Converged:
		return nil, fmt.Errorf("%v with a gap of %s", r.Status, cli.DecimalUp(r.Gap, 2))
	}
	return r.Strategy, nil
}

// methodOf returns the index of the method of a cell, -1 if it was not asked for.
func (s *simulation) methodOf(c cell) int {
	return slices.IndexFunc(s.methods, func(m method) bool { return m.name == c.Method && m.export == c.Export })
}

// noiseOf returns the noise of a cell; nil for none. The strategy of a method is made when it is needed first.
func (s *simulation) noiseOf(ctx context.Context, c cell) (*simulate.Noise, error) {
	if c.Method == "none" {
		return nil, nil
	}
	m := &s.methods[s.methodOf(c)]
	if m.correlation == nil {
		strategy, err := s.strategy(ctx, m.name)
		if err == nil {
			m.correlation, err = simulate.NewCorrelation(s.network.Graph.Nodes(), simulate.Shared(strategy), s.config.Schema)
		}
		if err != nil {
			return nil, fmt.Errorf("strategy of %s: %w", m.name, err)
		}
	}
	return &simulate.Noise{Correlation: m.correlation, Adjacency: s.adjacency, Mu: c.Mu}, nil
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
