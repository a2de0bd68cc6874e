package flags

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/threat"
)

// ThreatFlags say which algorithm runs, and what those who attack it see and know.
type ThreatFlags struct {
	Exported string           // the folder of --export; empty if there is none
	Manifest *export.Manifest // of it, once Algorithm has loaded it

	algorithm, trust string
	coalitions       string
	own, shared      float64
	secure, forget   bool
	training         WorkloadFlags
}

var algorithmNames = [...]string{"dp-d-sgd", "antipgd", "muffliato", "decor", "zip-dl", "mf-d-sgd"}

// Bind adds the flags to a command; the flag of networks that take turns fills network.
func (f *ThreatFlags) Bind(cmd *cobra.Command, network *NetworkFlags) {
	f.training.BindTraining(cmd, network)
	fl := cmd.Flags()
	terminal.ChoiceVar(cmd, &f.algorithm, "algorithm", "dp-d-sgd", algorithmNames[:],
		"algorithm: "+strings.Join(algorithmNames[:], ", "))
	fl.StringVar(&f.Exported, "export", "", "the export `folder` whose strategy mf-d-sgd runs, with the noise it was calibrated with")
	trusts, usage := threat.Trusts()
	terminal.ChoiceVar(cmd, &f.trust, "trust", "pndp", trusts, "what the attacker sees:"+usage)
	fl.Float64Var(&f.own, "algorithm own", 1, "standard deviation of a node's own noise in decor")
	fl.Float64Var(&f.shared, "algorithm shared", 1, "standard deviation of the noise that neighbours share in decor")
	fl.StringVar(&f.coalitions, "trust coalitions", "", "who colludes under secldp, where nodes share noise: every `SET` of at most "+
		"so many nodes, or those of a file (default: as the export says)")
	fl.BoolVar(&f.secure, "trust secure-summation", false, "under pndp nodes see only weighted sums of messages")
	fl.BoolVar(&f.forget, "trust forget-own-noise", false, "under pndp the attacker's own noise counts as protection")
	terminal.Family(cmd, "algorithm", "")
	terminal.Family(cmd, "trust", "")
}

// Algorithm returns the algorithm, over so many steps. On says on which networks.
func (f *ThreatFlags) Algorithm(cmd *cobra.Command, steps int) (threat.Algorithm, error) {
	given := cmd.Flags().Changed
	switch {
	case (given("algorithm own") || given("algorithm shared")) && f.algorithm != "decor":
		return threat.Algorithm{}, terminal.Usagef("--algorithm %s: own and shared are of decor", f.algorithm)
	case f.Exported != "" && f.algorithm != "mf-d-sgd":
		return threat.Algorithm{}, terminal.Usagef("--export is for --algorithm mf-d-sgd")
	case f.Exported == "" && f.algorithm == "mf-d-sgd":
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
			f.Manifest = e.Manifest
			a, err = threat.MFDSGDOf(e, steps)
		}
	default:
		err = fmt.Errorf("unknown algorithm %q: choose %s", f.algorithm, strings.Join(algorithmNames[:], ", "))
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
	trust, err := threat.ParseTrust(f.trust)
	if err != nil {
		return nil, terminal.Usage(err)
	}
	base := threat.Attacker{Trust: trust, SecureSummation: f.secure, ForgetOwnNoise: f.forget}
	if (f.secure || f.forget) && trust.Public() {
		return nil, terminal.Usagef("--trust %v: secure-summation and forget-own-noise are of pndp", trust)
	}
	if err := f.checkCoalitions(names, trust, a); err != nil {
		return nil, err
	}
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
