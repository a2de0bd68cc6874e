package plan

import (
	"cmp"
	"context"

	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/strategy"
	"mafalda/study"
	"mafalda/workload"
)

// Problem is what the best strategy depends on.
type Problem struct {
	Network *graph.Network // nil for the prefix workload, which has none
	// Others are more networks: whether it will be Network or one of them is unknown.
	Others   []*graph.Network
	Workload workload.Spec // what is trained, and what counts: plain gradient descent, and the averaged models, unless it says otherwise
	// Curvature is how gradients react to errors, and what is to be small; nil: they do not react, and errors of models are.
	Curvature  *workload.Spectrum
	Schema     participation.Schema
	SchemaFile string    // name of the file that a participation.PatternList comes from, for the manifest
	Objective  Objective // which errors count: the mean over all steps, unless it says otherwise
	Sharing    *Sharing  // nodes share noise in pairs (SecLDP); nil: every node has its own alone (LDP)
	Levels     *Levels   // privacy levels of the nodes, in the place of Options.Privacy.Target; nil: one for all
	Gram       Gram      // how the Gram matrix is computed: chosen by the network, unless it says otherwise
}

// Key is the SHA-256 of every byte that goes into the problem: the weights of the network, its names and the hashes of
// its files, the patterns of the schema, and all numbers. Problems that differ in nothing have the same key.
func (p Problem) Key() study.Key {
	var in study.Inputs
	in.Add("workload", p.Workload.String())
	if p.Curvature != nil {
		in.Add("curvature", p.Curvature.String())
	}
	if p.Network != nil {
		p.Network.AddTo(&in)
	}
	for _, n := range p.Others {
		n.AddTo(&in)
	}
	patterns := study.NewDigest()
	if list, ok := p.Schema.(*participation.PatternList); ok {
		patterns.Lists(list.Patterns())
	}
	if people, ok := p.Schema.(*participation.People); ok {
		in.Add("cycle of persons", people.Cycle().String())
		in.Add("batches of a person", people.Batches())
	}
	if s := p.Schema; s != nil {
		in.Add("schema", s.Name())
		in.Add("steps", s.Steps())
		in.Add("participations", s.Participations())
		in.Add("separation", s.Separation())
	}
	in.Add("patterns", patterns.Sum())
	in.Add("file of the patterns", p.SchemaFile)
	in.Add("objective", p.Objective)
	p.Sharing.addTo(&in)
	p.Levels.addTo(&in)
	in.Add("gram", p.Gram.Method)
	in.Add("probes", p.Gram.Probes)
	in.Add("lanczos steps", p.Gram.LanczosSteps)
	in.Add("seed of the probes", p.Gram.Seed)
	return in.Key("plan")
}

// nodes returns the number of nodes: one for the prefix workload, and where it is unknown.
func (p Problem) nodes() int {
	if n := p.known(); n != nil {
		return n.Graph.Nodes()
	}
	return 1
}

// check finds what is wrong with the problem itself; a network may be missing.
func (p Problem) check() error {
	err := cmp.Or(
		fault.If(p.Schema == nil, "Schema", nil, "who takes part when?"),
		fault.If(p.Workload.Kind == workload.Prefix && p.Network != nil, "Network", nil,
			"the prefix workload has no network: leave out [Network]"),
		fault.If(p.Objective < Mean || p.Objective > Last, "Objective", int(p.Objective), "is none that there is"),
		fault.If(len(p.Others) > 0 && (p.Curvature.Unknown() || p.Workload.GraphSequence != nil), "Others", nil,
			"several networks are for curvatures that are known, and networks that do not take turns"),
	)
	for _, one := range p.members() {
		if err == nil {
			err = one.checkWorkload()
		}
	}
	return cmp.Or(err, p.Gram.Check())
}

// method returns how the Gram matrix is computed; exactOnly says why an estimate would not do, if it would not. It is
// not known without the network, if there is one.
func (p Problem) method(o Options, exactOnly string) (*export.Gram, error) {
	if p.Network == nil {
		return &export.Gram{Method: GramExact.String()}, nil
	}
	switch {
	case p.Objective != Mean:
		exactOnly = "its error bound is for [Objective] mean"
	case exactOnly == "" && len(p.Others) > 0:
		exactOnly = "several networks need exact Gram matrices"
	case exactOnly == "" && p.Levels != nil:
		exactOnly = "privacy levels of single nodes need the exact Gram matrix"
	case exactOnly == "" && p.Workload.HasFreeNoise(p.Schema.Steps()) && !p.long(o):
		exactOnly = "the error of an estimate is not known where the noise of some steps costs nothing"
	}
	return p.Gram.Choose(p.Network,
		measure.Demand{Workload: p.Workload, Curvature: p.Curvature.Curvature(), Steps: p.Schema.Steps(), ExactOnly: exactOnly, Long: p.long(o)})
}

// long reports whether there are more steps than matrices of T×T have room for, and the class does without.
func (p Problem) long(o Options) bool {
	return p.Schema.Steps() > strategy.LongSteps && o.Class.Traits().Has(factorize.ManySteps)
}

// checkWorkload finds what is wrong with the workload, also on the network if there is one.
func (p Problem) checkWorkload() error {
	s, n := p.Workload, p.Network
	return fault.First(func() error { return s.Check(p.Schema.Steps()) }, p.checkCurvature, func() error {
		return cmp.Or(
			fault.If(p.Objective != Mean && !s.CountsAll(), "AverageLast", nil,
				"[Objective] %v says itself which steps count", p.Objective),
			fault.If(p.Objective != Mean && (!s.IsStatic() || !p.Curvature.Curvature().Sketchable(s)), "Objective", p.Objective,
				"the errors of single steps are not known of networks that change, and of curved losses under "+
					"momentum, tracking or missed steps with rates that change or local steps"),
			fault.If(n != nil && n.Sequence != nil && s.GraphSequence == nil, "GraphSequence", nil,
				"the network has networks that take turns, the workload has not"),
		)
	}, func() (err error) {
		if n != nil {
			_, err = s.Networks(n.Gossip.Matrix(), 0)
		}
		return err
	})
}

// checkCurvature rejects a curvature under which errors grow; without the network it looks at the numbers alone.
func (p Problem) checkCurvature() error {
	if p.Curvature == nil {
		return nil
	}
	if err := p.Curvature.Check(); err != nil || p.Network == nil && p.Workload.Kind != workload.Prefix {
		return err
	}
	var w *graph.CSR
	if p.Network != nil {
		w = p.Network.Gossip.Matrix()
	}
	return p.Curvature.Curvature().Check(p.Workload, w, p.Schema.Steps())
}

// source returns what errors depend on; g says how they are computed.
func (p Problem) source(g *export.Gram) measure.Source {
	return measure.Source{Gram: g, Network: p.Network, Others: p.Others, Workload: p.Workload, Curvature: p.Curvature.Curvature()}
}

// comparePlain fills in what the strategies cost that are optimal for the plain workload and for gradients that do not
// react, unless this is it. If the context ends before that is known, there are no baselines either: a manifest has both or neither.
func (s *job) comparePlain(ctx context.Context) error {
	plain, reacts := s.Problem.Workload.IsPlain(), s.Problem.Curvature != nil
	if plain && !reacts || s.Options.NoBaselines {
		return nil
	}
	if ctx.Err() != nil {
		s.Baselines = nil
		return nil
	}
	on := s.source("strategy of plain training")
	s.show("strategy of plain training", 0)
	if on.Sketch, _ = s.estimate.(*workload.Sketch); s.estimate == nil {
		on.Known = s.kernel
	}
	var err error
	if !plain {
		s.PlainLoss, err = measure.OtherLoss(ctx, s.Manifest(), on.Plain(), s.objective)
	}
	if err == nil && reacts {
		s.UncurvedLoss, err = measure.OtherLoss(ctx, s.Manifest(), on.Uncurved(), s.objective)
	}
	if isEnd(err) {
		s.Baselines, s.PlainLoss, s.UncurvedLoss = nil, 0, 0
		return nil
	}
	return err
}
