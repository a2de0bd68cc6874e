package threat

import (
	"bytes"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/graph"
	"mafalda/strategy"
	"mafalda/study"
)

// origin is where the strategies of MF-D-SGD come from.
type origin struct {
	strategies []strategy.Strategy // the nodes' strategies, or the one they share
	dir        string              // the export's folder; what follows is empty without one
	digest     string
	inverse    mat.Matrix // C⁻¹ that all nodes share, nil if the export has parameters only
	trained    bool       // it says what is trained: more than the plain workload
	nodes      []byte     // nodes.csv, if nodes have their own strategies or levels, or share noise
	network    *graph.Origin

	// What stands for the strategy of all nodes, by the number of hidden nodes and by how often and how far apart records
	// take part: func() ([]reaction.Stand, error).
	stands sync.Map
}

// MFDSGDOf is MF-D-SGD with the strategies of an export, which must be for this number of steps, and for batches that
// attackers may know (ErrStrategy), and have the files of its manifest. Nodes have the privacy levels of the export, if
// these are their own: Levels. It has the Training that the export was made for; networks that take turns are known by
// their digest alone, so that attackers under PNDP need On first.
func MFDSGDOf(e *export.Export, steps int) (Algorithm, error) {
	if err := e.CheckHashes(); err != nil {
		return Algorithm{}, err
	}
	m := e.Manifest
	if m.Sampled() {
		return Algorithm{}, &misfit{fmt.Sprintf("%s: %v, which is not accounted for here", e.Dir, export.ErrSampled)}
	}
	if m.Steps != steps {
		return Algorithm{}, &misfit{fmt.Sprintf("%s is for T = %d, not %d", e.Dir, m.Steps, steps)}
	}
	digest, err := e.Digest()
	if err != nil {
		return Algorithm{}, err
	}
	var a Algorithm
	var inverse mat.Matrix
	if m.PerNode == nil {
		var c strategy.Strategy
		if c, err = e.SharedStrategy(); err == nil {
			a = MFDSGD(c)
		}
		if e.Inverse != nil {
			inverse = e.Inverse
		}
	} else {
		var each []strategy.Strategy
		if each, err = e.NodeStrategies(); err == nil {
			a = MFDSGDPerNode(each)
		}
	}
	if err != nil {
		return Algorithm{}, err
	}
	a.origin.dir, a.origin.digest, a.origin.inverse, a.origin.network = e.Dir, digest, inverse, m.Graph
	if a, err = a.withLevels(e); err != nil {
		return Algorithm{}, err
	}
	if m.Space != nil {
		if a, err = a.withShared(e); err != nil {
			return Algorithm{}, err
		}
	}
	if m.PerNode != nil || m.Budgets != nil || m.Space != nil {
		if a.origin.nodes, err = e.Read("nodes.csv"); err != nil {
			return Algorithm{}, err
		}
	}
	if m.IsPlain() {
		return a, nil
	}
	a.origin.trained = true
	return a.Under(Training{Spec: *m.WorkloadSpec})
}

// checkGossip refuses a network with other gossip than the one that the export was made for (ErrStrategy).
func (o *origin) checkGossip(n *graph.Network) error {
	if o == nil || o.network == nil || o.network.Gossip == n.Origin.Gossip && o.network.GossipSHA256 == n.Origin.GossipSHA256 {
		return nil
	}
	return &misfit{fmt.Sprintf("%s was made for the gossip matrix %q, and this network has %q", o.dir,
		o.network.GossipLine(), n.Origin.GossipLine())}
}

// CheckNodes refuses an export whose nodes have their own strategies or levels, or share noise, if they are not the
// graph's nodes (ErrStrategy).
func (a Algorithm) CheckNodes(g *graph.Graph) error {
	if a.origin == nil || a.origin.nodes == nil {
		return nil
	}
	var want bytes.Buffer
	var err error
	switch {
	case a.space == nil:
		err = graph.WriteNodes(&want, g)
	case len(a.space.noise.Own) == g.Nodes():
		err = a.space.noise.Nodes(g).Write(&want)
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(a.origin.nodes, want.Bytes()) {
		return &misfit{a.origin.dir + " has strategies, levels or noise for the nodes of another graph"}
	}
	return nil
}

// misfit is about an export of another run.
type misfit struct{ text string }

func (e *misfit) Error() string { return e.text }

func (e *misfit) Unwrap() error { return ErrStrategy }

// digest stands for every number of the strategies; it is empty without any.
func (a Algorithm) digest() string {
	switch {
	case a.origin == nil:
		return ""
	case a.origin.digest != "":
		return a.origin.digest
	}
	d := study.NewDigest()
	seen := map[strategy.Strategy]int{}
	for _, c := range a.origin.strategies {
		at, there := seen[c]
		if !there {
			at = len(seen)
			seen[c] = at
		}
		d.Int(at)
		if there {
			continue
		}
		lower := strategy.LowerOf(c)
		for i := range c.Steps() {
			for j := range i + 1 {
				d.Float(lower.At(i, j))
			}
		}
	}
	return d.Sum()
}
