package plan

import (
	"io"

	"mafalda/export"
	"mafalda/graph"
)

// Export writes the solution to the folder dir: matrices C and C⁻¹, or one array of each if nodes have strategies of
// their own; the nodes; the gossip matrix, unless it is very large (export.Gossip); and the manifest. Structured
// strategies of more than 4096 steps are written as parameters alone. It fails as export.WriteDir does, and for a strategy that
// cannot be inverted, and leaves nothing behind then.
func (s *Solution) Export(dir string, o export.WriteOptions) error {
	if err := s.Problem.CheckExport(s.Options, "", o); err != nil {
		return err
	}
	files, err := s.matrices(o)
	if err != nil {
		return err
	}
	switch n := s.Problem.Network; {
	case s.Space != nil:
		shared, err := s.Space.shared.Files(n.Graph)
		if err != nil {
			return err
		}
		files = append(files, shared...)
	case n != nil:
		files = append(files,
			export.File{Name: "nodes.csv", Write: func(w io.Writer) error { return graph.WriteNodes(w, n.Graph) }})
	}
	if n := s.Problem.Network; n != nil && s.Problem.Workload.RandomNeighbours == 0 { // else no step has a matrix
		if w, written := export.Gossip(n.Matrices()); written {
			files = append(files, w)
		}
	}
	m := s.Manifest()
	m.Command = o.Command
	if err := export.WriteDir(dir, m, files, o); err != nil {
		return err
	}
	s.Files = m.Files
	return nil
}

func (s *Solution) matrices(o export.WriteOptions) ([]export.File, error) {
	switch {
	case s.Split != nil:
		return export.Layers(s.Strategies()), nil
	case s.Options.dense() || !o.ParametersOnly && s.Problem.Schema.Steps() <= denseSteps:
		return export.Matrices(s.Strategy(), o.Format)
	}
	return nil, nil
}
