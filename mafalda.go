package mafalda

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/noise"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/threat"
	"mafalda/verify"
	"mafalda/workload"
)

// The results and inputs of the pipeline. Each is the type of the package that makes it, with all its methods.
type (
	Network      = graph.Network // a connected graph with its gossip matrix
	Training     = workload.Spec // momentum, rates, decay, missed steps, …; the zero value is plain gradient descent
	Solution     = plan.Solution // a strategy with its loss, lower bound, baselines and noise level
	WriteOptions = export.WriteOptions
	Export       = export.Export   // an export that was read: C, C⁻¹, W, manifest
	Report       = verify.Report   // what Verify has checked and what failed
	Event        = plan.Event      // progress of Solve
	Reaction     = threat.Reaction // how gradients answer to models, for Account
	Stream       = noise.Stream    // rows of C⁻¹Z for one node, one a step
)

// Participation says in which steps one record can take part: Cyclic or MinSep.
type Participation interface {
	Schema() (participation.Schema, error)
}

// Cyclic is (k,b)-participation: a record takes part at most Times times, in steps exactly Separation apart, as when a
// node visits its batches in the same order in every epoch. A Separation of 0 means Steps/Times.
type Cyclic struct{ Steps, Times, Separation int }

// MinSep is participation in at most Times steps that are at least Separation apart. A Separation of 0 means
// Steps/Times.
type MinSep struct{ Steps, Times, Separation int }

// Schema returns the schema of package participation. It fails if Times participations do not fit into Steps.
func (c Cyclic) Schema() (participation.Schema, error) {
	return participation.Complete(c.Steps, c.Times, c.Separation)
}

// Schema returns the schema of package participation. It fails if Times participations do not fit into Steps.
func (m MinSep) Schema() (participation.Schema, error) {
	c, err := participation.Complete(m.Steps, m.Times, m.Separation)
	if err != nil {
		return nil, err
	}
	return participation.NewMinSep(c.Steps(), c.Participations(), c.Separation())
}

// Problem is what the best strategy depends on.
type Problem struct {
	Network       *Network
	Others        []*Network // networks that it may be in the place of Network; nil: it is Network
	Participation Participation
	Training      Training
}

// Options says what Solve searches for. The zero value asks for the optimum of all strategies, without a noise level.
type Options struct {
	Class string // "dense" (the default), "banded", "toeplitz", "blt", "banded-inverse" or "comb"

	// The privacy of one record against everybody who sees all messages (local DP): Epsilon with Delta, or Mu for
	// μ-GDP. All 0: no noise level is computed.
	Epsilon, Delta, Mu float64
	Clip               float64 // norm to which the gradient of each record is clipped; 0 means 1
	ReplaceOne         bool    // neighbouring data sets differ by replacing a record, not by zeroing it out

	Progress func(Event) // if not nil, sees how far Solve is
}

// LoadNetwork loads the graph in an edge list, or makes a built-in one ("florentine", "cycle:12", …), with its uniform
// gossip matrix. Of a disconnected graph it keeps the largest component and says so in Network.Notes.
func LoadNetwork(ctx context.Context, source string) (*Network, error) {
	return graph.LoadNetwork(ctx, graph.NetworkOptions{Source: source})
}

// Solve returns the strategy of least loss, with a proof of how close to the optimum it is. It fails for arguments out
// of range and if memory does not suffice. When ctx ends first it returns the best strategy so far, whose bounds hold;
// Solution.Ending says so.
func Solve(ctx context.Context, p Problem, o Options) (*Solution, error) {
	if p.Participation == nil {
		return nil, errors.New("mafalda: Problem.Participation is missing")
	}
	schema, err := p.Participation.Schema()
	if err != nil {
		return nil, err
	}
	options := plan.Options{Progress: o.Progress}
	if o.Class != "" {
		if options.Class, err = factorize.ClassOf(o.Class); err != nil {
			return nil, err
		}
	}
	if o.Epsilon != 0 || o.Delta != 0 || o.Mu != 0 {
		target := accounting.Target{Mu: o.Mu, Epsilon: o.Epsilon, Delta: o.Delta}
		options.Privacy = &plan.Privacy{Target: target, Clip: o.Clip}
		if o.ReplaceOne {
			options.Privacy.Adjacency = accounting.ReplaceOne
		}
	}
	return plan.Solve(ctx, plan.Problem{Network: p.Network, Others: p.Others, Workload: p.Training, Schema: schema}, options)
}

// Open reads the export in the folder dir. It fails if a file is missing, damaged, or not what the manifest says.
func Open(dir string) (*Export, error) {
	e, err := export.Load(dir)
	if err != nil {
		return nil, err
	}
	return e, e.CheckHashes()
}

// Verify computes everything again that the manifest of an export claims. The network may be left out or nil for built-in
// graphs; an export for several has one for each. A false claim is a failed check of the report, not an error.
func Verify(ctx context.Context, e *Export, networks ...*Network) (Report, error) {
	return verify.Verify(ctx, e, networks...)
}

// AccountOptions says what Account is asked. The zero value is for any training, against a node that sees single messages.
type AccountOptions struct {
	// Reaction is what is known of how gradients answer to models: a class of steps, such as
	// Reaction{Kind: threat.Convex, X: 0.1}, for which more is proven than for the zero value.
	Reaction Reaction

	Delta           float64 // report the ε of this δ, too; 0: none
	SecureSummation bool    // nodes see only weighted sums of messages
	Sigma           float64 // noise over what a record can move a sum by; 0: the export's, which needs one then
	Seed            uint64  // seed of the networks and absences, if the export was made for drawn ones
}

// Account returns what an attacker at one node learns of every other one, for training with the strategy of an export: for
// every training of the class that the options name, and else local DP. Report.HoldsFor says which. It fails for an unknown
// node, a network that the export is not for, and an export of secret batches.
func Account(ctx context.Context, e *Export, network *Network, attacker string, o AccountOptions) (threat.Report, error) {
	if network == nil {
		return threat.Report{}, errors.New("mafalda: Account needs the network")
	}
	node := slices.Index(network.Graph.Labels(), attacker)
	if node < 0 {
		return threat.Report{}, fmt.Errorf("mafalda: the network has no node %q", attacker)
	}
	schema, err := e.Manifest.Schema()
	if err != nil {
		return threat.Report{}, err
	}
	algorithm, err := threat.MFDSGDOf(e, schema.Steps())
	if err != nil {
		return threat.Report{}, err
	}
	if err := algorithm.CheckNodes(network.Graph); err != nil {
		return threat.Report{}, err
	}
	if algorithm, err = algorithm.WithNetworks(network, o.Seed); err != nil {
		return threat.Report{}, err
	}
	if o.Sigma == 0 {
		level, err := threat.NoiseOf(e.Manifest)
		if err != nil {
			return threat.Report{}, err
		}
		if level == nil {
			return threat.Report{}, errors.New("mafalda: the export has no noise level: give AccountOptions Sigma")
		}
		o.Sigma = level.Sigma
	}
	s := threat.Scenario{Gossip: network.Gossip.Matrix(), Algorithm: algorithm, Schema: schema,
		Attacker: threat.Attacker{Trust: threat.PNDP, Nodes: []int{node}, SecureSummation: o.SecureSummation}}
	options := threat.AssessOptions{Graph: network.Graph, Sigma: o.Sigma, Alpha: 2, Delta: o.Delta, Reaction: o.Reaction}
	_, classed, err := o.Reaction.Class()
	if err != nil {
		return threat.Report{}, err
	}
	options.Refine = classed && s.RefinesFast()
	r, err := threat.Assess(ctx, s, options)
	for i := range r.Pairs {
		r.Pairs[i].WithoutReaction = nil // holds for no training
	}
	return r, err
}

// Noise returns the noise of one node of the export in the folder dir, for a model of dim parameters, under a new secret
// key. It fails if the export promises more privacy than its noise gives. A node that must survive crashes uses
// noise.OpenDurable, and nodes that share noise need it.
func Noise(dir, node string, dim int) (*Stream, error) {
	return noise.Open(dir, node, dim, noise.Options{})
}

// NoiseOf returns the noise of one node for a solution in memory, as Noise does for an export. It fails for a solution
// without a privacy target, for an unknown node, and where an export is needed: for noise that nodes share and for
// batches drawn in secret.
func NoiseOf(s *Solution, node string, dim int) (*Stream, error) {
	switch {
	case s.Privacy == nil:
		return nil, errors.New("mafalda: the solution has no noise level: give Options Mu, or Epsilon and Delta")
	case s.Space != nil || s.Manifest().Sampled():
		return nil, errors.New("mafalda: noise that is shared, or for secret batches, is drawn from an export: use Noise")
	case s.Split != nil:
		return nil, errors.New("mafalda: noise of strategies of single nodes is drawn from an export: use Noise")
	}
	if n := s.Problem.Network; n != nil && len(s.Problem.Others) == 0 {
		if !slices.Contains(n.Graph.Labels(), node) {
			return nil, fmt.Errorf("mafalda: the network has no node %q", node)
		}
	}
	return noise.New(s.Strategy(), s.Problem.Schema, node, dim, noise.Options{NoiseStd: s.Privacy.NoiseStd})
}
