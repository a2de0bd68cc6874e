package noise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/export"
	"mafalda/strategy"
)

// ErrExport is wrapped by errors about an export that must not be used.
var ErrExport = errors.New("export cannot be used")

// load reads an export whose files have their hashes.
func load(dir string) (*export.Export, error) {
	e, err := export.Load(dir)
	if err != nil {
		return nil, err
	}
	return e, unusable(e.CheckHashes())
}

// unusable makes an error, if it is one, an ErrExport.
func unusable(err error) error {
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrExport, err)
	}
	return err
}

// strategyAt returns the strategy of the node of an index, after all checks.
func strategyAt(e *export.Export, index int) (strategy.Strategy, error) {
	m, of := e.Manifest, e.SharedStrategy
	if m.PerNode != nil {
		of = func() (strategy.Strategy, error) { return e.NodeStrategy(index) }
	}
	c, err := of()
	if err != nil {
		return nil, unusable(err)
	}
	schema, err := m.Schema()
	if err != nil {
		return nil, unusable(err)
	}
	sens, err := strategy.Sensitivity(c, schema)
	switch {
	case err != nil:
	case !(sens.Squared <= m.SensSquared*(1+1e-12)):
		err = fmt.Errorf("sens² is %v, the manifest says %v", sens.Squared, m.SensSquared)
	default:
		err = m.CheckPrivacy()
	}
	if err == nil && m.Binned() { // the guarantee is one of samples: whether they say what the manifest says takes C
		var lower mat.TriDense
		c.StrategyTo(&lower)
		err = m.ConfirmBins(context.Background(), &lower)
	}
	return c, unusable(err)
}

// level returns the standard deviation of Z of a node with a privacy level, nil for none, after checks of it and of the
// grid.
func level(p *export.Privacy, opts Options) (float64, error) {
	std := opts.NoiseStd
	switch {
	case std == 0 && p == nil:
		return 0, errors.New("it says no noise level, for it was made without a privacy target, and none is given")
	case std == 0:
		std = p.NoiseStd
	case p != nil && !(std >= p.NoiseStd):
		return 0, fmt.Errorf("noise of standard deviation %v is less than the %v that %s needs", std,
			p.NoiseStd, privacyName(p))
	}
	opts.NoiseStd = std
	return std, opts.check()
}

// check rejects a noise level or a grid that is out of range.
func (o Options) check() error {
	std := o.NoiseStd
	if !(std >= 1e-280 && std <= 1e280) {
		return fmt.Errorf("a noise level of %v: must be between 1e-280 and 1e280", std)
	}
	if g := o.Grid; g != 0 {
		if part, _ := math.Frexp(g); part != 0.5 { // negative, infinite and NaN too
			return fmt.Errorf("grid %v: must be a power of two, as 2^%d = %v", g, exponent(std), math.Ldexp(1,
				exponent(std)))
		}
		if g > std/8 || g < std*0x1p-40 {
			return fmt.Errorf("grid %v: must be between a 2⁴⁰th and an eighth of the standard deviation %v", g, std)
		}
	}
	return nil
}

// privacyName says in a word what the noise is for.
func privacyName(p *export.Privacy) string {
	if p.Mu == 0 {
		return fmt.Sprintf("its epsilon = %v", *p.Epsilon)
	}
	return fmt.Sprintf("its mu = %v", p.Mu)
}

// exponent returns the power of two of a good grid: far below the noise, with many digits to spare.
func exponent(std float64) int {
	_, e := math.Frexp(std)
	return e - 21
}

// labelsOf returns the labels of the nodes, by their indices; nil for exports without a network.
func labelsOf(e *export.Export) ([]string, error) {
	labels, err := e.NodeLabels()
	return labels, unusable(err)
}

// indexOf returns the index of a label; 0 for exports without a network.
func indexOf(e *export.Export, node string) (int, error) {
	labels, err := labelsOf(e)
	if err != nil || labels == nil {
		return 0, err
	}
	if i := slices.Index(labels, node); i >= 0 {
		return i, nil
	}
	return 0, noNode(node)
}

func noNode(label string) error { return fmt.Errorf("nodes.csv has no node %q", label) }
