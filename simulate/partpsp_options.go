package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"mafalda/internal/fault"
	"mafalda/protocols/dpps"
	"mafalda/simulated"
)

// PartPSPOptions say which trainings with PartPSP a table has: of a perceptron of three layers, features-10-features-
// classes, as in Zhou et al.
type PartPSPOptions struct {
	Task         string   // synthetic or mnist
	Data         string   // the folder with the data of mnist
	Records      int      `in:"[1,)"` // records of the synthetic task
	Features     int      `in:"[1,)"` // features of the synthetic task
	Nodes        int      `in:"[1,)"`
	Networks     []string // directed ones: exp, and d-out:d
	Shared       []int    // how many of the layers are shared, from the first
	Bs           []float64
	Seeds        int       `in:"[1,)"` // number of runs of every cell
	Epochs       int       `in:"[1,)"`
	Batch        int       `in:"[1,)"` // number of records of a node in a round
	LearningRate float64   `in:"(0,)"`
	Clip         float64   `in:"(0,)"`
	Plan         dpps.Plan // noise and communication, but for B
}

const (
	partPSPHidden  = 10 // units
	partPSPClasses = 10 // of the synthetic task, and at least as many of another
	partPSPLayers  = 3
)

// PartPSPTasks are the tasks that NewPartPSP knows.
func PartPSPTasks() []string { return []string{"synthetic", "mnist"} }

// PartPSPResult is a table, as plain data.
type PartPSPResult struct {
	simulated.Mark
	Task     string        `json:"task"`
	Widths   []int         `json:"widths"`
	Nodes    int           `json:"nodes"`
	Seeds    int           `json:"seeds"`
	GammaN   float64       `json:"gamma_n"`
	Estimate string        `json:"estimate"`
	Sync     int           `json:"sync"`
	Cells    []PartPSPCell `json:"cells"`
}

// Result puts a head before the cells of a table.
func (p *PartPSP) Result(cells []PartPSPCell) *PartPSPResult {
	o := &p.Options
	return &PartPSPResult{Mark: simulated.Noise(), Task: o.Task, Widths: slices.Clone(p.Model.widths), Nodes: o.Nodes,
		Seeds: o.Seeds, GammaN: o.Plan.NoiseRate, Estimate: o.Plan.Source.String(), Sync: o.Plan.Sync, Cells: cells}
}

// Check finds numbers that make no sense: a *fault.Argument.
func (o *PartPSPOptions) Check() error {
	if err := cmp.Or(fault.Ranges(*o), fault.Positive("NoiseRate", o.Plan.NoiseRate),
		fault.CheckRange("Sync", o.Plan.Sync, "[0,)")); err != nil {
		return err
	}
	for _, b := range o.Bs {
		if err := fault.Positive("B", b); err != nil {
			return err
		}
	}
	for _, s := range o.Shared {
		if s < 1 || s > partPSPLayers {
			return fault.New("Shared", s, "the model has three layers, of which at least one is shared")
		}
	}
	switch {
	case len(o.Networks) == 0:
		return fault.New("Networks", nil, "nothing to train on")
	case len(o.Shared) == 0:
		return fault.New("Shared", nil, "nothing to train")
	}
	return nil
}

// NewPartPSP checks options, makes or reads the data, and prepares the networks. It fails as Check, MNIST and
// dpps.Sequence.Calibrate do, for unknown names, and for unsuitable networks (dpps.ErrNetwork).
func NewPartPSP(ctx context.Context, o PartPSPOptions) (*PartPSP, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	task, err := o.load()
	if err != nil {
		return nil, err
	}
	features, classes := task.Model.Features(), task.Model.outputs()
	p := &PartPSP{Options: o, Task: task, Model: NewPerceptron(features, partPSPHidden, features, max(classes, partPSPClasses))}
	for _, name := range o.Networks {
		n, err := o.network(ctx, name)
		if err != nil {
			return nil, err
		}
		p.Networks = append(p.Networks, n)
	}
	return p, nil
}

// load returns the task, of logistic regression.
func (o *PartPSPOptions) load() (Task, error) {
	switch o.Task {
	case "synthetic":
		if o.Records < 10 || o.Records*o.Features > 1<<28 {
			return Task{}, fault.New("Records", fmt.Sprintf("%d of %d features", o.Records, o.Features),
				"must be from 10 records to 2^28 numbers")
		}
		return LogisticTask(o.Records, o.Features, partPSPClasses), nil
	case "mnist":
		return MNIST(o.Data)
	}
	return Task{}, fmt.Errorf("unknown task %q: choose %s", o.Task, strings.Join(PartPSPTasks(), " or "))
}

// network makes a directed network, with what its estimate takes.
func (o *PartPSPOptions) network(ctx context.Context, name string) (n PartPSPNetwork, err error) {
	spec := fmt.Sprintf("exp:%d", o.Nodes)
	if d, ok := strings.CutPrefix(name, "d-out:"); ok {
		spec = fmt.Sprintf("d-out:%d,%s", o.Nodes, d)
	} else if name != "exp" {
		return n, fmt.Errorf("unknown network %q: choose exp, or d-out:d with the number d of nodes that each sends to, "+
			"itself among them", name)
	}
	n.Name = name
	if n.Sequence, _, err = dpps.ByName(spec); err != nil {
		return n, err
	}
	n.Calibration, err = o.Plan.Calibrate(ctx, n.Sequence, nil)
	return n, err
}
