package figures

import (
	"fmt"
	"slices"

	"mafalda/benchmarks"
	"mafalda/internal/study"
)

func workloadsName(kb benchmarks.KB) string { return fmt.Sprintf("workloads-k%d-b%d", kb.K, kb.B) }

// WorkloadsSpec is the study's, with its figures among the summaries.
func WorkloadsSpec(s *benchmarks.WorkloadStudy) study.Spec {
	spec := s.Spec()
	for _, c := range s.Cells() {
		if name := workloadsName(benchmarks.KB{K: c.K, B: c.B}); !slices.Contains(spec.Summaries, name+".png") {
			spec.Summaries = WithFiles(spec.Summaries, name)
		}
	}
	return spec
}

// WorkloadsFiles returns what makes the summaries of all rows in a folder, with a figure for every schema.
func WorkloadsFiles(s *benchmarks.WorkloadStudy) func(
	[]study.Entry[benchmarks.WorkloadCell, benchmarks.WorkloadRow]) ([]study.File, error) {
	return func(entries []study.Entry[benchmarks.WorkloadCell, benchmarks.WorkloadRow]) ([]study.File, error) {
		files, err := s.Files(entries)
		if err != nil {
			return nil, err
		}
		rows := s.Rows(entries)
		var done []benchmarks.KB
		for _, r := range rows {
			kb := benchmarks.KB{K: r.K, B: r.B}
			if slices.Contains(done, kb) {
				continue
			}
			done = append(done, kb)
			f, err := Workloads(rows, kb)
			files = append(files, Files(workloadsName(kb), f, err)...)
		}
		return files, nil
	}
}

// Workloads shows by how much the losses of strategies that do not know the optimizer, or not the network, exceed the
// optimum's, a line a workload and two markers a graph; nil if there is nothing to compare yet.
func Workloads(rows []benchmarks.WorkloadRow, kb benchmarks.KB) (*Figure, error) {
	const least = 0.01 // percent: what is below is not drawn
	names := benchmarks.WorkloadNamesOf(rows)
	var lines []string
	var series []Series
	at := map[string]int{}
	add := func(name, line string, excess float64) {
		if 100*excess < least {
			return
		}
		if _, ok := at[name]; !ok {
			at[name] = len(series)
			series = append(series, Series{Name: name, Values: map[string]float64{}})
		}
		series[at[name]].Values[line] = 100 * excess
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for _, r := range rows {
		if r.K == kb.K && r.B == kb.B {
			add(names.OfWorkload(&r)+": for plain training", r.Workload, r.PlainExcess)
			add(names.OfWorkload(&r)+": centralized", r.Workload, r.CentralizedExcess)
		}
	}
	if len(series) == 0 {
		return nil, nil
	}
	title := fmt.Sprintf("Loss of strategies that know less, T = %d, k = %d, b = %d", kb.Steps(), kb.K, kb.B)
	return Dots(title, "loss above the certified optimum, in percent", lines, series)
}
