package flags

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"

	"mafalda/cmd/internal/terminal"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/secrets"
	"mafalda/threat"
)

// coalitionsOf returns the coalitions that --trust coalitions names; nil stands for the coalitions of the algorithm's export.
func (f *ThreatFlags) coalitionsOf(a threat.Algorithm, g *graph.Graph) (*secrets.Attackers, error) {
	if f.coalitions == "" {
		return a.Claim(), nil
	}
	if size, err := strconv.Atoi(f.coalitions); err == nil {
		all, err := secrets.Colluding(g.Nodes(), size)
		return all, terminal.Usage(err)
	}
	all, err := secrets.LoadAttackers(f.coalitions, g)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, terminal.Usagef("--trust secldp:coalitions=%s: must be a number of nodes, or a file of coalitions", f.coalitions)
	}
	return all, terminal.Usage(err)
}

// checkCoalitions refuses --trust coalitions where there are none.
func (f *ThreatFlags) checkCoalitions(names string, trust threat.Trust, a threat.Algorithm) error {
	switch {
	case f.coalitions == "":
		return nil
	case !trust.Colludes() || a.Claim() == nil:
		return terminal.Usagef("--trust: coalitions are of secldp, and of an --export whose nodes share noise")
	case names != "":
		return terminal.Usagef("coalitions of --trust and --attacker both say who attacks: only one of them")
	}
	return nil
}

// Attack is who attacks in an audit, and against which claim.
type Attack struct {
	Attacker  threat.Attacker // attacker of the claim
	Colluding []int           // who really attacks; nil: the attacker of the claim
	Victim    int             // the one of whom these learn most; -1: not known
}

// Attack returns who attacks: those that --attacker names, or of the noise of an export whose nodes share it the worst
// of those of --trust coalitions, or of the claim. The claim is the export's, where these are not within it.
func (f *ThreatFlags) Attack(ctx context.Context, names string, a threat.Algorithm, g *graph.Graph,
	victims ...int) (Attack, error) {
	attackers, err := f.Attackers(names, a, g)
	if err != nil {
		return Attack{}, err
	}
	if len(attackers) > 1 {
		return Attack{}, terminal.Usagef("--attacker all: audit one attacker at a time")
	}
	attack := Attack{Attacker: attackers[0], Victim: -1}
	by := attack.Attacker
	switch claim := a.Claim(); {
	case !by.Trust.Colludes() || claim == nil:
		return attack, nil
	case by.Any == nil:
		one, err := secrets.NewAttackers(g.Nodes(), [][]int{by.Nodes})
		if err != nil {
			return Attack{}, terminal.Usage(err)
		}
		worst, err := a.Worst(ctx, one, victims...)
		if err != nil {
			return Attack{}, err
		}
		attack.Victim = worst.Victim
		if claim.Allow(by.Nodes) {
			return attack, nil
		}
		attack.Colluding = by.Nodes
	default:
		worst, err := a.Worst(ctx, by.Any, victims...)
		if err != nil {
			return Attack{}, err
		}
		attack.Colluding, attack.Victim = append([]int{}, worst.Attacker...), worst.Victim
	}
	attack.Attacker = threat.Attacker{Trust: by.Trust, Any: a.Claim()}
	return attack, nil
}

// Labels returns the labels of the nodes that really attack, where they are not the attacker of the claim.
func (a Attack) Labels(g *graph.Graph) []string { return lists.Map(a.Colluding, g.Label) }

// Nodes returns who really attacks.
func (a Attack) Nodes() []int {
	if a.Colluding != nil {
		return a.Colluding
	}
	return slices.Clone(a.Attacker.Nodes)
}
