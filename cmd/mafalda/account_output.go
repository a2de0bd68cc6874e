package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/cli"
	"mafalda/internal/figures"
)

// distanceRow sums up all pairs of one distance.
type distanceRow struct {
	distance             int // math.MaxInt32: no path
	pairs, infinite      int
	least, sum, most     float64
	cyffers              float64 // sum
	cyffersThere, finite int
	epsilon              float64 // most
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
			if p.Epsilon != nil {
				r.epsilon = math.Max(r.epsilon, *p.Epsilon)
			}
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
		return cli.NumberUp(v)
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
		if l.flags.delta > 0 {
			row = append(row, sens(r.epsilon, r.infinite == 0))
		}
		if r.cyffersThere > 0 {
			row = append(row, cli.NumberUp(r.cyffers/float64(r.cyffersThere)))
		} else {
			row = append(row, "-")
		}
		rows = append(rows, append(row, sens(l.local, !math.IsInf(l.local, 1))))
	}
	header := []string{"distance", "pairs", "least", "mean", "most", "mu (most)"}
	if l.flags.delta > 0 {
		header = append(header, "epsilon (most)")
	}
	return cli.Table(w, append(header, "Cyffers et al. (mean)", "local DP"), rows)
}

// written says which files are in the folder.
func (l *ledger) written(w io.Writer, names ...string) error {
	names = slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(l.flags.out, name))
		return err != nil // no figure without anything to draw
	})
	_, err := fmt.Fprintf(w, "\nwritten        %s: %s\n", l.flags.out, strings.Join(names, ", "))
	return err
}

// writePairs writes a line a pair.
func writePairs(w io.Writer, accounts []accountOf) error {
	c := csv.NewWriter(w)
	text := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', 17, 64)
	}
	rows := [][]string{{"attacker", "victim", "distance", "sens_squared", "mu", "rdp", "epsilon", "cyffers_sens_squared"}}
	for _, a := range accounts {
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
func (l *ledger) figure(accounts []accountOf) (*figures.Figure, error) {
	scale := l.flags.alpha / 2 / (l.flags.sigma * l.flags.sigma)
	curves := []figures.Curve{{Name: "mean"}, {Name: "most"}, {Name: "least"}, {Name: "Cyffers et al. 2022 (mean)", Dashed: true}, {Name: "local DP", Dashed: true}}
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
	curves = slices.DeleteFunc(curves, func(c figures.Curve) bool { return len(c.X) == 0 })
	if len(curves) == 0 {
		return nil, nil
	}
	return figures.Lines(figures.Axes{Title: fmt.Sprintf("%s, T = %d: privacy lost by distance", l.algorithm.Name(), l.schema.Steps()), X: "distance from the attacker",
		Y: fmt.Sprintf("Renyi divergence of order %g", l.flags.alpha), LogY: true, Marks: true}, curves)
}
