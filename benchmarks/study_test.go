package benchmarks

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"mafalda/graph"
	"mafalda/internal/limits"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/study"
)

// A study measures the cells of its networks, from JSON too, and writes rows of others behind its own.
func TestStudy(t *testing.T) {
	n, err := graph.LoadNetwork(t.Context(), graph.NetworkOptions{Source: "cycle:5"})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := participation.NewCyclic(6, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	of := func(o graph.NetworkOptions, levels plan.Privacies) *Study {
		s, err := NewStudy([]*graph.Network{n}, []participation.Cyclic{schema}, o, levels)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one := of(graph.NetworkOptions{}, SuitePrivacies())
	for name, other := range map[string]*Study{
		"directed": of(graph.NetworkOptions{Directed: true}, SuitePrivacies()),
		"epsilon":  of(graph.NetworkOptions{}, plan.Privacies{Epsilons: []float64{0.5, 2}, Delta: 1e-6}),
		"delta":    of(graph.NetworkOptions{}, plan.Privacies{Epsilons: []float64{0.5, 2, 8}, Delta: 1e-5}),
	} {
		if slices.Equal(one.Spec().Inputs, other.Spec().Inputs) {
			t.Errorf("%s is no input", name)
		}
	}
	another := Cell{Graph: "another", K: 1, B: 6, Strategy: Dense}
	entries := []study.Entry[Cell, Row]{{Cell: another, Result: Row{Graph: "another", Strategy: Dense, AtPrivacy: make([]plan.AtPrivacy, 3)}}}
	for _, c := range slices.Backward(one.Cells()) {
		text, _ := json.Marshal(c)
		var sent Cell
		if err := json.Unmarshal(text, &sent); err != nil {
			t.Fatal(err)
		}
		row, err := one.Do(t.Context(), sent)
		if err != nil || row.Graph != "cycle:5" || row.KB() != (KB{2, 3}) {
			t.Fatalf("%+v, %v", row, err)
		}
		entries = append(entries, study.Entry[Cell, Row]{Cell: c, Result: row})
	}
	rows := one.Rows(entries)
	if len(rows) != len(Strategies())+1 || rows[len(rows)-1].Graph != "another" {
		t.Fatalf("%+v", rows)
	}
	for i, name := range Strategies() {
		if rows[i].Strategy != name {
			t.Errorf("row %d is of %s, want %s", i, rows[i].Strategy, name)
		}
	}
	files, err := one.Files(entries)
	if err != nil || len(files) != 2 || files[0].Name != "benchmark.json" || files[1].Name != "benchmark.csv" {
		t.Fatalf("%v, %v", files, err)
	}
	var asJSON, asCSV bytes.Buffer
	if err := errors.Join(files[0].Write(&asJSON), files[1].Write(&asCSV)); err != nil {
		t.Fatal(err)
	}
	var table Table
	lines, err := csv.NewReader(&asCSV).ReadAll()
	if err := json.Unmarshal(asJSON.Bytes(), &table); err != nil || !reflect.DeepEqual(table.Rows, rows) ||
		table.Gossip != "uniform" {
		t.Errorf("%+v, %v", table, err)
	}
	if err != nil || len(lines) != len(rows)+1 || lines[1][3] != Dense || lines[0][9] != "error_at_privacy_epsilon_0.5" {
		t.Errorf("%v, %v", lines, err)
	}
	long, err := participation.NewCyclic(1e8, 1, 1e8)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewStudy([]*graph.Network{n}, []participation.Cyclic{long}, graph.NetworkOptions{}, plan.Privacies{Delta: 1e-6}); !errors.Is(err, limits.ErrMemory) {
		t.Errorf("T = 1e8: %v", err)
	}
}

func TestSuite(t *testing.T) {
	graphs, schemas := Suite()
	for _, source := range graphs {
		if _, known, err := graph.ByName(source, graph.BuiltinOptions{}); !known || err != nil {
			t.Errorf("%s: %v", source, err)
		}
	}
	if len(schemas) != 2 || schemas[0].Steps() != 64 || schemas[1].Steps() != 380 {
		t.Errorf("%v", schemas)
	}
}

// Graphs of one name are told apart by their hashes, and only these.
func TestGraphNames(t *testing.T) {
	rows := []Row{{Graph: "a", SHA256: "0123456789", K: 2, B: 3}, {Graph: "a", SHA256: "89", K: 2, B: 3},
		{Graph: "b", SHA256: "7", K: 1, B: 6}}
	names := NamesOf(rows)
	for i, want := range []string{"a#01234567", "a#89", "b"} {
		if got := names.Of(&rows[i]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := Participations(rows); !slices.Equal(got, []KB{{2, 3}, {1, 6}}) || got[0].Steps() != 6 {
		t.Errorf("%v", got)
	}
}

// A row that was read has what applies to it, though the file is of somebody who left it out: nothing is missing where it
// is printed.
func TestRowsThatAreRead(t *testing.T) {
	var rows []Row
	if err := json.Unmarshal([]byte(`[{"graph":"a","strategy":"dense"},{"graph":"a","workload":"plain"},{}]`), &rows); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := errors.Join(WriteRows(&text, rows[:1], plan.Privacies{}), WriteWorkloads(&text, rows[1:2])); err != nil {
		t.Error(err)
	}
}
