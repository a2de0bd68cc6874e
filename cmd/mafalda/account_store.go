package main

import (
	"fmt"
	"io"
	"slices"

	"mafalda/internal/figures"
	"mafalda/internal/study"
	"mafalda/internal/version"
	"mafalda/threat"
)

// accountCell is an attacker: the labels of its nodes in the order of the graph, none for everybody.
type accountCell struct {
	Attacker []string `json:"attacker"`
}

// storedAccounts is the content of account.json.
type storedAccounts struct {
	Version   string       `json:"version"`
	Settings  study.Inputs `json:"settings"` // all that values depend on
	Attackers []accountOf  `json:"attackers"`
}

// inputs are what the values of a pair depend on, but for the attacker and what the commands add.
func (l *ledger) inputs(in *study.Inputs) {
	f, t := l.flags, &l.flags.threat
	l.network.AddTo(in)
	in.Add("algorithm", t.algorithm)
	in.Add("strategy", t.export)
	in.Add("rounds", t.rounds)
	in.Add("own noise", t.own)
	in.Add("shared noise", t.shared)
	in.Add("trust", t.trust)
	in.Add("secure summation", t.secure)
	in.Add("forget own noise", t.forget)
	in.Add("bound", f.bound)
}

// spec says whose the folder of an account is.
func (l *ledger) spec() study.Spec {
	s := study.Of("account")
	l.inputs(&s.Inputs)
	addSchema(&s.Inputs, &l.flags.schema, l.schema)
	s.Inputs.Add("sigma", l.flags.sigma)
	s.Inputs.Add("delta", l.flags.delta)
	s.Inputs.Add("alpha", l.flags.alpha)
	s.Summaries = figures.WithFiles([]string{"account.json", "pairs.csv"}, "exposure")
	s.Former = study.Formerly("account.json", []string{"version", "settings", "attackers"}, func(name string) bool {
		return slices.Contains(figures.WithFiles(slices.Clone(s.Summaries), "growth"), name)
	})
	s.Replace = l.flags.force
	return s
}

// cells are the attackers that were asked for.
func (l *ledger) cells() []accountCell {
	var cells []accountCell
	l.byName = map[string]threat.Attacker{}
	for _, a := range l.attackers {
		c := l.cellOf(a)
		cells = append(cells, c)
		l.byName[c.name()] = a
	}
	return cells
}

// name is another for every cell.
func (c accountCell) name() string { return fmt.Sprintf("%q", c.Attacker) }

func (l *ledger) cellOf(a threat.Attacker) accountCell {
	nodes := slices.Sorted(slices.Values(a.Nodes)) // a coalition is the same in any order
	c := accountCell{Attacker: []string{}}
	for _, v := range nodes {
		c.Attacker = append(c.Attacker, l.network.Graph.Label(v))
	}
	return c
}

// accounts returns what was asked for.
func (l *ledger) accounts(s *study.Store[accountCell, accountOf]) ([]accountOf, error) {
	var all []accountOf
	for _, a := range l.attackers {
		account, _, err := s.Get(l.cellOf(a))
		if err != nil {
			return nil, err
		}
		account.Attacker = l.name(a) // a coalition may have been named in another order
		all = append(all, account)
	}
	return all, nil
}

// files are the summaries of all accounts in the folder, in the order of the graph's nodes.
func (l *ledger) files(entries []study.Entry[accountCell, accountOf]) ([]study.File, error) {
	at := map[string]int{}
	for i, label := range l.network.Graph.Labels() {
		at[label] = i
	}
	slices.SortStableFunc(entries, func(a, b study.Entry[accountCell, accountOf]) int {
		return slices.CompareFunc(a.Cell.Attacker, b.Cell.Attacker, func(x, y string) int { return at[x] - at[y] })
	})
	stored := storedAccounts{Version: version.String(), Settings: l.spec().Inputs}
	for _, e := range entries {
		stored.Attackers = append(stored.Attackers, e.Result)
	}
	f, err := l.figure(stored.Attackers)
	if err != nil {
		return nil, err
	}
	pairs := func(w io.Writer) error { return writePairs(w, stored.Attackers) }
	return append(figures.Files("exposure", f), study.JSONFile("account.json", stored), study.File{Name: "pairs.csv", Write: pairs}), nil
}
