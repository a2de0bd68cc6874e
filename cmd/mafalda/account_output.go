package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"mafalda/export"
	"mafalda/internal/figure"
	"mafalda/threat"
)

// is tells the attacker of a name.
func (l *ledger) is(name string) func(threat.Attacker) bool {
	return func(a threat.Attacker) bool { return l.name(a) == name }
}

// distanceRow sums up all pairs of one distance.
type distanceRow struct {
	distance             int // math.MaxInt32: no path
	pairs, infinite      int
	least, sum, most     float64
	cyffers              float64 // sum
	cyffersThere, finite int
}

// byDistance sums up pairs, without those of attackers with themselves.
func byDistance(accounts []accountOf) []distanceRow {
	rows := map[int]*distanceRow{}
	for _, a := range accounts {
		for _, p := range a.Pairs {
			d := distanceOf(p)
			if d == 0 {
				continue
			}
			r := rows[d]
			if r == nil {
				r = &distanceRow{distance: d, least: math.Inf(1)}
				rows[d] = r
			}
			r.pairs++
			if p.Cyffers != nil {
				r.cyffers += *p.Cyffers
				r.cyffersThere++
			}
			if p.SensSquared == nil {
				r.infinite++
				continue
			}
			r.finite++
			r.least, r.most = math.Min(r.least, *p.SensSquared), math.Max(r.most, *p.SensSquared)
			r.sum += *p.SensSquared
		}
	}
	var sorted []distanceRow
	for _, r := range rows {
		sorted = append(sorted, *r)
	}
	slices.SortFunc(sorted, func(a, b distanceRow) int { return a.distance - b.distance })
	return sorted
}

func (l *ledger) table(w io.Writer, accounts []accountOf) error {
	var rows [][]string
	sens := func(v float64, there bool) string {
		if !there {
			return "infinite"
		}
		return numberUp(v)
	}
	for _, r := range byDistance(accounts) {
		distance := strconv.Itoa(r.distance)
		if r.distance == math.MaxInt32 {
			distance = "any"
			if len(l.attackers[0].Nodes) > 0 {
				distance = "no path"
			}
		}
		mu, err := l.muOf(r.most)
		if err != nil {
			return err
		}
		row := []string{distance, strconv.Itoa(r.pairs), sens(r.least, r.finite > 0), sens(r.sum/float64(max(r.finite, 1)), r.infinite == 0),
			sens(r.most, r.infinite == 0), sens(mu, r.infinite == 0)}
		if r.cyffersThere > 0 {
			row = append(row, numberUp(r.cyffers/float64(r.cyffersThere)))
		} else {
			row = append(row, "-")
		}
		rows = append(rows, append(row, sens(l.local, !math.IsInf(l.local, 1))))
	}
	return table(w, []string{"distance", "pairs", "least", "mean", "most", "mu (most)", "Cyffers et al. (mean)", "local DP"}, rows)
}

// store keeps accounts in memory and, with a folder, on disk after every attacker.
type store struct {
	path     string // account.json, or empty
	settings string
	accounts []accountOf
}

type storedAccounts struct {
	Version   string      `json:"version"`
	Settings  string      `json:"settings"` // all that values depend on
	Attackers []accountOf `json:"attackers"`
}

// open reads what an earlier run with the same settings has left.
func (l *ledger) open() (*store, error) {
	s := &store{settings: l.settings()}
	if l.flags.out == "" {
		return s, nil
	}
	if err := os.MkdirAll(l.flags.out, 0o777); err != nil {
		return nil, fmt.Errorf("making the folder of the account: %w", err)
	}
	s.path = filepath.Join(l.flags.out, "account.json")
	text, err := os.ReadFile(s.path)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	var stored storedAccounts
	if err := json.Unmarshal(text, &stored); err != nil || stored.Settings == "" {
		return nil, usagef("%s is no account of an earlier run: choose another folder", s.path)
	}
	switch {
	case stored.Version == version() && stored.Settings == s.settings:
		for _, a := range stored.Attackers {
			if slices.ContainsFunc(l.attackers, l.is(a.Attacker)) {
				s.accounts = append(s.accounts, a)
			}
		}
	case !l.flags.force:
		return nil, usagef("%s is of a run with other settings: choose another folder, or --force to replace it", s.path)
	}
	return s, nil
}

// settings describes everything that the values of a pair depend on.
func (l *ledger) settings() string {
	f, o := l.flags, l.network.origin
	seed := ""
	if o.Seed != nil {
		seed = strconv.FormatUint(*o.Seed, 10)
	}
	schema, _ := json.Marshal(f.schema.describe(l.schema))
	return fmt.Sprint(o.Source, o.SHA256, seed, o.Gossip, o.GossipSHA256, o.Directed, string(schema), l.schema.Steps(), f.threat.key(), f.bound, f.sigma,
		f.delta, f.alpha, l.local)
}

// key describes algorithm and trust model, without the export's list of nodes.
func (f threatFlags) key() string {
	f.nodes = nil
	return fmt.Sprint(f)
}

// missing returns the attackers that are still to be computed.
func (s *store) missing(l *ledger) []threat.Attacker {
	return slices.DeleteFunc(slices.Clone(l.attackers), func(a threat.Attacker) bool {
		return slices.ContainsFunc(s.accounts, func(done accountOf) bool { return done.Attacker == l.name(a) })
	})
}

// sort puts the accounts in the order of the attackers.
func (s *store) sort(l *ledger) {
	at := map[string]int{}
	for i, a := range l.attackers {
		at[l.name(a)] = i
	}
	slices.SortFunc(s.accounts, func(a, b accountOf) int { return at[a.Attacker] - at[b.Attacker] })
}

func (s *store) add(a accountOf) error {
	s.accounts = append(s.accounts, a)
	if s.path == "" {
		return nil
	}
	return export.WriteFile(s.path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		return e.Encode(storedAccounts{version(), s.settings, s.accounts})
	}, true)
}

// finish writes table and figure.
func (s *store) finish(l *ledger, w io.Writer) error {
	if s.path == "" {
		return nil
	}
	dir := l.flags.out
	if err := export.WriteFile(filepath.Join(dir, "pairs.csv"), s.writePairs, true); err != nil {
		return err
	}
	f, err := l.figure(s.accounts)
	if err != nil {
		return err
	}
	if l.flags.json {
		w = io.Discard
	}
	fmt.Fprintf(w, "written  %s\nwritten  %s\n", s.path, filepath.Join(dir, "pairs.csv"))
	if f == nil {
		return nil
	}
	return writeFigure(w, dir, "exposure", f, true)
}

func (s *store) writePairs(w io.Writer) error {
	c := csv.NewWriter(w)
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', 17, 64)
	}
	rows := [][]string{{"attacker", "victim", "distance", "sens_squared", "mu", "rdp", "epsilon", "cyffers_sens_squared"}}
	for _, a := range s.accounts {
		for _, p := range a.Pairs {
			distance, squared := "", text(p.SensSquared)
			if p.Distance != nil {
				distance = strconv.Itoa(*p.Distance)
			}
			if p.Infinite {
				squared = "inf"
			}
			rows = append(rows, []string{a.Attacker, p.Victim, distance, squared, text(p.Mu), text(p.RDP), text(p.Epsilon), text(p.Cyffers)})
		}
	}
	return c.WriteAll(rows)
}

// figure is Figure 2 of Bellet et al.: the Renyi divergence by distance.
func (l *ledger) figure(accounts []accountOf) (*figure.Figure, error) {
	scale := l.flags.alpha / 2 / (l.flags.sigma * l.flags.sigma)
	curves := []figure.Curve{{Name: "mean"}, {Name: "most"}, {Name: "least"}, {Name: "Cyffers et al. 2022 (mean)", Dashed: true}, {Name: "local DP", Dashed: true}}
	put := func(i, distance int, v float64) {
		if v *= scale; v > 0 && !math.IsInf(v, 0) {
			curves[i].X, curves[i].Y = append(curves[i].X, float64(distance)), append(curves[i].Y, v)
		}
	}
	for _, r := range byDistance(accounts) {
		if r.distance == math.MaxInt32 || r.infinite > 0 {
			continue
		}
		put(0, r.distance, r.sum/float64(r.finite))
		put(1, r.distance, r.most)
		put(2, r.distance, r.least)
		if r.cyffersThere > 0 {
			put(3, r.distance, r.cyffers/float64(r.cyffersThere))
		}
		put(4, r.distance, l.local)
	}
	curves = slices.DeleteFunc(curves, func(c figure.Curve) bool { return len(c.X) == 0 })
	if len(curves) == 0 {
		return nil, nil
	}
	return figure.Lines(figure.Axes{Title: fmt.Sprintf("%s, T = %d: privacy lost by distance", l.algorithm.Name(), l.schema.Steps()), X: "distance from the attacker",
		Y: fmt.Sprintf("Renyi divergence of order %g", l.flags.alpha), LogY: true, Marks: true}, curves)
}
