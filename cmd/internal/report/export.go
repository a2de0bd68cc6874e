package report

import (
	"errors"
	"fmt"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/results"
	"mafalda/export"
	"mafalda/noise"
	"mafalda/strategy"
)

// describeExport makes the document of an export, with the map of who relies on whom.
func (s *Source) describeExport() error {
	d := results.ExportDocument(s.Export.Manifest, nil, "")
	s.Document = d
	if err := s.Export.CheckHashes(); err != nil {
		d.Warn("These are not the files that were written: %v. Do not use them.", err)
	}
	if s.Export.Shared == nil {
		return nil
	}
	if n := len(s.Export.Shared.Labels); n > document.MostNodes {
		d.Warn("no map of more than %d nodes; there are %d", document.MostNodes, n)
		return nil
	}
	var err error
	d.Map, err = sharedMap(s.Export.Shared)
	return err
}

// drawSpent draws what a run gives away from step to step, and returns what half of it does, if the export has a privacy level and
// is as it was written.
func (s *Section) drawSpent(from *Source) (half *noise.Spent, err error) {
	if from.Export.Manifest.Privacy == nil {
		return nil, nil
	}
	const points = 24
	var spent []noise.Spent
	all, err := noise.OpenOdometer(from.Dir, "", 0)
	if err == nil {
		spent, err = all.Curve(results.SpentSteps(all.Steps(), points), nil)
	}
	if errors.Is(err, noise.ErrExport) && from.Export.CheckHashes() == nil {
		return nil, fmt.Errorf("no report of what contradicts itself: %w", err)
	}
	if err != nil {
		s.Warn("What is spent from step to step is not shown: %v", err)
		return nil, nil
	}
	f, err := figures.Spent(spent)
	if err != nil {
		return nil, err
	}
	return &spent[(len(spent)-1)/2], s.draw(figures.Named{Name: "spent", Figure: f})
}

// sharedMap shows who relies on whom.
func sharedMap(n *export.SharedNoise) (*document.Map, error) {
	m := document.NewMap("shared", n.Labels)
	m.Own = make([]float64, len(m.Labels))
	place := func(i int) int {
		at, _ := m.Index(n.Labels[i])
		return at
	}
	for i, v := range n.Own {
		m.Own[place(i)] = document.MapNumber(&v)
	}
	for _, p := range n.Pairs {
		if p.Deviation > 0 {
			m.Edges = append(m.Edges, [2]int{place(p.U), place(p.V)})
			m.Shared = append(m.Shared, [3]float64{float64(place(p.U)), float64(place(p.V)), document.MapNumber(&p.Deviation)})
		}
	}
	m.Note = "Lines join nodes whose noise cancels. A node relies on those it shares with: what they give away of their " +
		"secrets no longer protects it. Numbers are standard deviations, in units of the noise's. Nodes have the names of the graph's file; those of a " +
		"made network, as complete:8, are numbered."
	return m, m.Place()
}

// drawStrategy adds the matrices of an export, to look into, and its figures.
func (s *Section) drawStrategy(e *export.Export) error {
	m := e.Manifest
	if m.Steps > strategy.LongSteps {
		s.Warn("matrices of more than %d steps are not drawn; these are of %d", strategy.LongSteps, m.Steps)
		return nil
	}
	c, err := e.NodeStrategy(0)
	if err != nil {
		return err
	}
	if s.Matrices, err = newMatrices(s.ID, c, m.PerNode != nil); err != nil {
		return err
	}
	labels, err := e.NodeLabels()
	if err != nil {
		return err
	}
	drawn := figures.Export(m, c, append(labels, "")[0])
	if drawn.Err != nil {
		return drawn.Err
	}
	for _, d := range drawn.All {
		if err := s.draw(d); err != nil {
			return err
		}
	}
	return nil
}
