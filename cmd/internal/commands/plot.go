package commands

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/figures"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/results"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/plan"
	"mafalda/strategy"
	"mafalda/verify"
)

// plotFlags say what to draw, and where to.
type plotFlags struct {
	network flags.ExportNetworkFlags
	node    string
	style   figures.Style
	terminal.Output
}

func (f *plotFlags) run(cmd *cobra.Command) error {
	dir := cmd.Flags().Arg(0)
	ctx := cmd.Context()
	bar := f.Progress(cmd)
	defer bar.Clear()
	bar.Busy("computing what is drawn")
	e, err := export.LoadUntil(ctx, dir)
	if err != nil {
		return terminal.Usage(err)
	}
	if steps := e.Manifest.Steps; steps > strategy.LongSteps {
		return terminal.Usagef("%s has T = %d steps: pictures are of at most %d", dir, steps, strategy.LongSteps)
	}
	index, label, err := flags.ExportedNode("node", f.node, e)
	if err != nil {
		return err
	}
	c, err := e.NodeStrategy(index)
	if err != nil {
		return terminal.Usage(err)
	}
	n, note, err := f.network.NetworkOf(ctx, e)
	if err != nil {
		return err
	}
	if err := results.RefuseExport(f.Dir); err != nil {
		return err
	}
	d := drawing{NotDrawn: map[string]string{}, pictures: figures.Export(e.Manifest, c, label)}
	if note != "" {
		d.NotDrawn["errors"], d.NotDrawn["spectrum"] = note, note
	}
	if n != nil && d.pictures.Err == nil {
		d.pictures.Err = cmp.Or(d.ofNetwork(ctx, e, n), d.pictures.Err)
	}
	bar.Busy("drawing")
	if d.Written, err = results.WritePictures(f.Dir, d.pictures, f.Force, f.style); err != nil {
		return err
	}
	bar.Clear()
	return f.Show(cmd, &d, func(w io.Writer) error {
		for _, name := range slices.Sorted(maps.Keys(d.NotDrawn)) {
			f.Note(cmd)("not drawn: " + name + ": " + terminal.PlainLine(d.NotDrawn[name]))
		}
		return sayWritten(w, d.Written)
	})
}

// drawing is what is drawn of an export, and what is not.
type drawing struct {
	Written  []string          `json:"written"`             // paths
	NotDrawn map[string]string `json:"not_drawn,omitempty"` // why, by the picture's name
	pictures figures.Pictures
}

// ofNetwork draws what needs the network.
func (d *drawing) ofNetwork(ctx context.Context, e *export.Export, n *graph.Network) error {
	add := d.pictures.Add
	methods, err := verify.StepErrors(ctx, e, n)
	switch {
	case errors.Is(err, verify.ErrNoSteps):
		d.NotDrawn["errors"] = err.Error()
	case err != nil:
		return err
	default:
		add("errors")(figures.StepErrors(e.Manifest, n.Graph.Nodes(), methods))
	}
	if e.Shared != nil {
		add("sharing")(figures.Sharing(n.Graph, e.Shared.Noise))
	} else if e.Manifest.Sampled() && figures.Comparable(e.Manifest) {
		add("sampling")(samplingFigure(ctx, e, n))
	}
	values, err := n.Gossip.Eigenvalues()
	if errors.Is(err, graph.ErrSpectrum) {
		d.NotDrawn["spectrum"] = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	add("spectrum")(figures.Spectrum(e.Manifest, values))
	return nil
}

// samplingFigure draws errors at the delta of an export, over the epsilon.
func samplingFigure(ctx context.Context, e *export.Export, n *graph.Network) (*figures.Figure, error) {
	p, err := plan.ProblemOf(e, n)
	if err != nil {
		return nil, err
	}
	epsilons := lists.Make(13, func(i int) float64 { return 0.25 * math.Pow(2, float64(i)/2) })
	levels := plan.Privacies{Epsilons: epsilons, Delta: e.Manifest.Sampling.Delta}
	curves, err := plan.SamplingCurve(ctx, p, levels, plan.CurveOptions{Picture: true})
	if err != nil {
		return nil, err
	}
	return figures.Sampling(curves)
}
