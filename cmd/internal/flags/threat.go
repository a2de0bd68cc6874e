package flags

import (
	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/threat"
)

// ThreatFlags say which algorithm runs, and what those who attack it see and know.
type ThreatFlags struct {
	Exported string           // the folder of --export; empty without one
	Manifest *export.Manifest // manifest of that export, once Algorithm has loaded it
	shares   *export.SharedNoise

	algorithm      string
	trust          threat.Trust
	coalitions     string
	own, shared    float64
	secure, forget bool
	training       WorkloadFlags
}

var algorithmNames = [...]string{"dp-d-sgd", "antipgd", "muffliato", "decor", "zip-dl", "mf-d-sgd"}

// Algorithm returns the algorithm over these steps. WithNetworks says on which networks.
func (f *ThreatFlags) Algorithm(cmd *cobra.Command, steps int) (threat.Algorithm, error) {
	if f.Exported == "" && f.algorithm == "mf-d-sgd" {
		return threat.Algorithm{}, terminal.Usagef("which strategy does mf-d-sgd run? Use --export DIR")
	}
	var a threat.Algorithm
	var err error
	switch f.algorithm {
	case "dp-d-sgd":
		a = threat.DPDSGD()
	case "antipgd":
		a = threat.AntiPGD()
	case "muffliato":
		a, err = threat.Muffliato(f.training.spec.GossipRounds)
	case "decor":
		a, err = threat.DECOR(f.own, f.shared)
	case "zip-dl":
		a = threat.ZipDL()
	case "mf-d-sgd":
		var e *export.Export
		if e, err = export.LoadUntil(cmd.Context(), f.Exported); err == nil {
			f.Manifest, f.shares = e.Manifest, e.Shared
			a, err = threat.MFDSGDOf(e, steps)
		}
	}
	if err == nil {
		a, err = f.trained(cmd, a, steps)
	}
	return a, terminal.Usage(err)
}

// Attackers returns the attackers that --attacker names: all nodes, one after the other, or one node or coalition.
// There is at least one. Under SecLDP, where nodes share noise and no attacker is named, it is any of the coalitions
// that the export withstands, or of --trust coalitions.
func (f *ThreatFlags) Attackers(names string, a threat.Algorithm, g *graph.Graph) ([]threat.Attacker, error) {
	trust := f.trust
	base := threat.Attacker{Trust: trust, SecureSummation: f.secure, ForgetOwnNoise: f.forget}
	if (f.secure || f.forget) && trust.Public() {
		return nil, terminal.Usagef("--trust %v: secure-summation and forget-own-noise are of pndp", trust)
	}
	if err := f.checkCoalitions(names, trust, a); err != nil {
		return nil, err
	}
	var err error
	switch {
	case !trust.HasNodes() && names != "":
		return nil, terminal.Usagef("under --trust %v everybody sees all messages: leave out --attacker", trust)
	case names == "" && !trust.Public():
		return nil, terminal.Usagef("who attacks? Use --attacker LABEL, LABEL,LABEL for a coalition, or all")
	case names == "":
		if trust.Colludes() {
			if base.Any, err = f.coalitionsOf(a, g); err == nil && base.Any == nil && a.SharesNoise() {
				err = terminal.Usagef("who attacks? Where nodes share noise use --attacker LABEL or all, or --trust ldp or eavesdropper")
			}
		}
		return []threat.Attacker{base}, err
	case names == "all":
		return lists.Make(g.Nodes(), func(v int) threat.Attacker {
			a := base
			a.Nodes = []int{v}
			return a
		}), nil
	}
	base.Nodes, err = NodesNamed("attacker", names, g)
	return []threat.Attacker{base}, err
}
