package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"mafalda/export"
	"mafalda/factorize/spacetime"
	"mafalda/graph"
	"mafalda/internal/fault"
	"mafalda/internal/files"
	"mafalda/internal/lists"
	"mafalda/participation"
	"mafalda/secrets"
	"mafalda/study"
	"mafalda/workload"
)

// Sharing says which pairs of nodes share a secret, and which nodes may put together what they know: noise is then
// correlated between nodes as well as over time (SecLDP, package secrets). The zero value means the edges of the network,
// and single curious nodes. The eavesdropper, who knows no secret, is always among the attackers.
//
// It is about a network only after On.
type Sharing struct {
	Secrets    string // export.SecretsGossip, which empty means, SecretsAll, or the path of a file (secrets.LoadGraph)
	Coalitions string // "1", which empty means, "2", pairs as well, or the path of a file (secrets.LoadAttackers)

	// LargestPair is the most variance of a pair, relative to max [M_A⁻¹]_vv = 1; 0 means spacetime.DefaultLargestPair.
	LargestPair float64

	setting    spacetime.Setting // empty before On
	secrets    export.Secrets    // for the manifest
	coalitions export.Coalitions
}

// On returns the sharing with the nodes of the network. It fails with a fault.Argument, and if one of the two files
// cannot be read.
func (s *Sharing) On(n *graph.Network) (*Sharing, error) {
	on := *s
	if err := spacetime.CheckLargestPair(s.LargestPair); err != nil {
		return nil, err
	}
	on.setting.LargestPair = cmp.Or(s.LargestPair, spacetime.DefaultLargestPair)
	if err := on.loadSecrets(n.Graph); err != nil {
		return nil, err
	}
	if err := on.loadCoalitions(n.Graph); err != nil {
		return nil, err
	}
	return &on, nil
}

// Setting returns who shares secrets and who colludes; empty before On.
func (s *Sharing) Setting() spacetime.Setting { return s.setting }

func (s *Sharing) loadSecrets(g *graph.Graph) (err error) {
	s.secrets = export.Secrets{Source: s.Secrets}
	switch s.Secrets {
	case "", export.SecretsGossip:
		s.secrets.Source = export.SecretsGossip
		s.setting.Secrets = secrets.OfEdges(g)
	case export.SecretsAll:
		s.setting.Secrets, err = secrets.Complete(g.Nodes())
	default:
		if s.secrets.SHA256, err = hashOf("Secrets", s.Secrets, "gossip, all, or a file of edges"); err != nil {
			return err
		}
		s.secrets.Source = filepath.Base(s.Secrets)
		if s.secrets.Source == export.SecretsGossip || s.secrets.Source == export.SecretsAll {
			return fault.New("Secrets", s.Secrets, "has a name that means something else: rename it")
		}
		if s.setting.Secrets, err = secrets.LoadGraph(s.Secrets, g); err != nil {
			return fault.Because("Secrets", err)
		}
	}
	if err != nil {
		return err
	}
	s.secrets.Pairs = len(s.setting.Secrets.Pairs())
	return nil
}

func (s *Sharing) loadCoalitions(g *graph.Graph) (err error) {
	switch s.Coalitions {
	case "", "1":
		s.coalitions.Size = 1
	case "2":
		s.coalitions.Size = 2
	default:
		if _, err := hashOf("Coalitions", s.Coalitions, "1, 2, or a file of coalitions"); err != nil {
			return err
		}
		if s.setting.Attackers, err = secrets.LoadAttackers(s.Coalitions, g); err != nil {
			return fault.Because("Coalitions", err)
		}
		s.coalitions.Source = filepath.Base(s.Coalitions)
		for _, c := range s.setting.Attackers.Coalitions()[1:] {
			s.coalitions.Sets = append(s.coalitions.Sets, labelsOf(g.Labels(), c))
		}
		return nil
	}
	s.setting.Attackers, err = secrets.Colluding(g.Nodes(), s.coalitions.Size)
	return err
}

// hashOf returns the SHA-256 of a file. A path that does not exist is a bad argument, and so is what is no regular file.
func hashOf(field, path, wanted string) (string, error) {
	sum, err := files.SHA256(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fault.New(field, path, "must be %s", wanted)
	}
	if err != nil {
		return "", fault.Because(field, err)
	}
	return sum, nil
}

func labelsOf(labels []string, nodes []int) []string {
	return lists.Map(nodes, func(v int) string { return labels[v] })
}

// addTo adds everything that the best noise depends on.
func (s *Sharing) addTo(in *study.Inputs) {
	if s == nil {
		return
	}
	d := study.NewDigest()
	for _, p := range s.setting.Secrets.Pairs() {
		d.Int(p.U)
		d.Int(p.V)
	}
	in.Add("pairs that share a secret", d.Sum())
	in.Add("largest variance of a pair", s.setting.LargestPair)
	d = study.NewDigest()
	for _, c := range s.setting.Attackers.Coalitions() {
		d.Int(len(c))
		for _, v := range c {
			d.Int(v)
		}
	}
	in.Add("coalitions", d.Sum())
}

// spaceTime returns the workload over nodes and steps.
func (p Problem) spaceTime() (*workload.SpaceTime, error) {
	return workload.NewSpaceTime(p.Network.Gossip.Matrix(), p.Schema.Steps(), workload.Options{Spec: p.Workload})
}

// spaceSchema returns the schema that the sensitivity is for: a single participation under Poisson sampling.
func (p Problem) spaceSchema(o Options) (participation.Schema, error) {
	if o.Sampling == participation.Poisson {
		return participation.NewCyclic(p.Schema.Steps(), 1, p.Schema.Steps())
	}
	return p.Schema, nil
}

// spaceProblem returns what the best noise is searched for.
func (p Problem) spaceProblem(o Options) (spacetime.Problem, error) {
	w, err := p.spaceTime()
	if err != nil {
		return spacetime.Problem{}, fmt.Errorf("the workload over nodes and steps: %w", err)
	}
	schema, err := p.spaceSchema(o)
	setting := p.Sharing.setting
	if err == nil && p.Levels != nil {
		setting.Attackers, err = setting.Attackers.Weighing(export.SharedWeights(p.Levels.levels))
	}
	return spacetime.Problem{Workload: w, Schema: schema, Class: o.Class, Setting: setting}, err
}
