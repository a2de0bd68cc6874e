package spent

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/internal/fault"
	"mafalda/strategy"
)

// Run describes a training: what is alike in all of its phases, and the phases.
type Run struct {
	Preset    string   `toml:"preset"`    // what to begin with: one of Presets
	Unit      string   `toml:"unit"`      // who is protected: record, person or silo
	Adjacency string   `toml:"adjacency"` // zero-out (default) or replace-one
	Delta     float64  `toml:"delta"`     // of (ε, δ)-DP
	Against   string   `toml:"against"`   // who sees what
	Source    string   `toml:"source"`    // of what a preset says: an address
	Open      []string `toml:"open"`      // what a description of this kind leaves open
	Whole     Phase    `toml:"-"`         // what stands above all phases
	Phases    []Phase  `toml:"-"`         // at least one
}

// Phase is a number of rounds that are alike.
type Phase struct {
	Rounds      int     `toml:"rounds"`
	Mechanism   string  `toml:"mechanism"`   // gaussian (default), matrix, laplace or svt
	Probability float64 `toml:"probability"` // of a unit to take part in a round, drawn in secret, independently; 0: every round
	Recipients  int     `toml:"recipients"`  // that get noise of their own for the same data; 0 means 1

	Clip        float64 `toml:"clip"`             // norm to which a contribution is clipped, the 2-norm
	Sigma       float64 `toml:"sigma"`            // standard deviation of the noise of a number, of laplace its scale; or
	Multiplier  float64 `toml:"noise_multiplier"` // the same over Clip; or
	Epsilon     float64 `toml:"epsilon"`          // what is announced for a round: of gaussian by the classical formula, Sigma =
	Sensitivity float64 `toml:"sensitivity"`      // Sensitivity (default: Clip) · √(2 ln(1.25/δ))/Epsilon, of laplace Clip/Epsilon
	// AnnouncedDelta is the δ of that formula; 0 means the run's.
	AnnouncedDelta float64 `toml:"announced_delta"`
	Weight         float64 `toml:"weight"`    // largest weight of a unit in a mean over its equal share; 0 means 1
	CountStd       float64 `toml:"count_std"` // of adaptive clipping: standard deviation of the noise of the count of clipped units

	Matrix         string `toml:"matrix"`         // names the .npy file of C, or the folder of an export, for the mechanism matrix, whose noise is rows of C⁻¹Z
	Participations int    `toml:"participations"` // is how often a unit takes part at most, Separation rounds apart; 0: as often as fits
	Separation     int    `toml:"separation"`     // is how far apart; 0: evenly over Rounds. With both 0 a unit is in every round
	growth         *strategy.Growth
	strategy       strategy.Strategy // C

	Parameters int     `toml:"parameters"`      // of the model: laplace noise of 2-norms, and svt
	Fraction   float64 `toml:"fraction"`        // of svt: of the parameters, uploaded
	NoiseVar   float64 `toml:"noise_var"`       // of svt; or
	Release    float64 `toml:"epsilon_release"` // the ε of the values that are sent, in the place of ⌈Fraction·Parameters⌉·NoiseVar
}

//go:embed presets
var presets embed.FS

// Presets lists the names of descriptions to begin with.
func Presets() (names []string) {
	files, _ := presets.ReadDir("presets") // which is there
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".toml"))
	}
	return names
}

// without says of names that people look for why there is no preset.
var without = map[string]string{
	"nvflare-gaussian": "no release of NVFlare (2.0.0 to 2.9.0) has Gaussian noise in a filter, and GaussianPrivacy in its research folder clips " +
		"nothing and takes its noise from the size of the update: no epsilon holds. Say unit, clip and sigma of your own filter without a " +
		"preset, or take nvflare-svt",
}

// ErrSyntax says that a description is not TOML, or has an unknown key.
var ErrSyntax = errors.New("no description of a training")

// Read reads a description: keys of Run and Phase. Keys of a phase are in its [[phase]] table or, if all phases have the
// same value, above the tables. What it leaves out is of its preset. The errors are ErrSyntax, and fault.Arguments as of Check.
func Read(r io.Reader) (*Run, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var named struct {
		Preset string `toml:"preset"`
	}
	if _, err := toml.Decode(string(text), &named); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	run := &Run{}
	if named.Preset != "" {
		preset, err := presets.ReadFile("presets/" + named.Preset + ".toml")
		if err != nil {
			if why, known := without[named.Preset]; known {
				return nil, fault.New("Preset", named.Preset, "%s", why)
			}
			return nil, fault.New("Preset", named.Preset, "must be one of %s", strings.Join(Presets(), ", "))
		}
		if err := run.decode(preset); err != nil {
			return nil, err
		}
	}
	unit := run.Unit
	if err := run.decode(text); err != nil {
		return nil, err
	}
	if unit != "" && run.Unit != unit {
		return nil, fault.New("Unit", run.Unit, "is %s in %s: it clips what a %s contributes", unit, named.Preset, unit)
	}
	return run, run.Check()
}

// decode puts what a text says over what is there.
func (r *Run) decode(text []byte) error {
	all := struct {
		*Run
		*Phase
		Phases []toml.Primitive `toml:"phase"`
	}{Run: r, Phase: &r.Whole}
	meta, err := toml.NewDecoder(bytes.NewReader(text)).Decode(&all)
	r.Phases = nil
	for _, primitive := range all.Phases {
		phase := r.Whole
		err = errors.Join(err, meta.PrimitiveDecode(primitive, &phase))
		r.Phases = append(r.Phases, phase)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return fmt.Errorf("%w: unknown key %q", ErrSyntax, unknown[0])
	}
	for _, key := range meta.Keys() {
		if name := key.String(); name != strings.ToLower(name) { // which would be taken for the key in lower case
			return fmt.Errorf("%w: unknown key %q", ErrSyntax, key)
		}
	}
	if len(r.Phases) == 0 {
		r.Phases = []Phase{r.Whole}
	}
	return nil
}

// units are who may be protected.
var units = []string{"record", "person", "silo"}

// Check rejects descriptions that say too little, or too much: a fault.Argument of the field, which reads as its key.
func (r *Run) Check() error {
	switch {
	case !slices.Contains(units, r.Unit):
		return fault.New("Unit", strconv.Quote(r.Unit), "must be one of %s: who is protected?", strings.Join(units, ", "))
	case !(r.Delta > 0 && r.Delta < 1):
		return fault.New("Delta", r.Delta, "must be between 0 and 1")
	}
	if _, err := r.adjacency(); err != nil {
		return fault.New("Adjacency", r.Adjacency, "must be one of %s", strings.Join(accounting.Adjacencies(), ", "))
	}
	for i := range r.Phases {
		if err := r.Phases[i].check(); err != nil {
			return err
		}
		if err := r.Phases[i].loadMatrix(); err != nil {
			return err
		}
		p := r.Phases[i]
		z := r.multiplier(p)
		if p.isPure() {
			z = p.Std(r.Delta)
		}
		if p.Mechanism != "svt" && !(z >= pld.MinNoiseMultiplier && z <= pld.MaxNoiseMultiplier) {
			return fault.New("NoiseMultiplier", z, "must be from %v to %v, over all that a round gives away of a unit", pld.MinNoiseMultiplier,
				float64(pld.MaxNoiseMultiplier))
		}
	}
	return nil
}

func (r *Run) adjacency() (accounting.Adjacency, error) {
	if r.Adjacency == "" {
		return accounting.ZeroOut, nil
	}
	return accounting.ParseAdjacency(r.Adjacency)
}

// isPure reports whether a round has a δ of 0.
func (p Phase) isPure() bool { return p.Mechanism == "laplace" || p.Mechanism == "svt" }

func (p Phase) check() error {
	for field, value := range map[string]float64{"Probability": p.Probability, "Clip": p.Clip, "Sigma": p.Sigma, "NoiseMultiplier": p.Multiplier,
		"Epsilon": p.Epsilon, "Sensitivity": p.Sensitivity, "Weight": p.Weight, "AnnouncedDelta": p.AnnouncedDelta, "EpsilonRelease": p.Release, "CountStd": p.CountStd, "NoiseVar": p.NoiseVar,
		"Fraction": p.Fraction, "Recipients": float64(p.Recipients), "Parameters": float64(p.Parameters)} {
		if !(value >= 0) || math.IsInf(value, 1) {
			return fault.New(field, value, "must be finite and not negative")
		}
	}
	says := 0
	for _, v := range []float64{p.Sigma, p.Multiplier, p.Epsilon} {
		if v > 0 {
			says++
		}
	}
	pure, matrix := p.isPure(), p.Mechanism == "matrix"
	switch {
	case p.Rounds < 1 || p.Rounds > pld.MaxRounds:
		return fault.New("Rounds", p.Rounds, "must be 1 to %d", pld.MaxRounds)
	case p.Mechanism != "" && p.Mechanism != "gaussian" && !matrix && !pure:
		return fault.New("Mechanism", p.Mechanism, "must be gaussian, matrix, laplace or svt")
	case matrix && p.Matrix == "":
		return fault.New("Matrix", nil, "which? A .npy file of C, or the folder of an export")
	case !matrix && (p.Matrix != "" || p.Participations != 0 || p.Separation != 0):
		return fault.New("Matrix", nil, "is of [Mechanism] matrix, as are [Participations] and [Separation]")
	case matrix && (p.Epsilon > 0 || p.CountStd > 0 || p.Probability > 0 && p.Probability < 1):
		return fault.New("Mechanism", p.Mechanism, "has no [Epsilon] of a round, [CountStd] or [Probability]: leave them out")
	case p.Probability > 1:
		return fault.New("Probability", p.Probability, "must be at most 1")
	case p.Fraction > 1:
		return fault.New("Fraction", p.Fraction, "must be at most 1")
	case says != 1:
		return fault.New("Sigma", nil, "how large is the noise? One of [Sigma], [NoiseMultiplier] and [Epsilon] (announced for a round) says it")
	case p.Clip == 0 && p.Multiplier == 0 && p.Mechanism != "svt":
		return fault.New("Clip", nil, "to which norm are contributions clipped?")
	case p.Sensitivity > 0 && p.Epsilon == 0:
		return fault.New("Sensitivity", p.Sensitivity, "is of [Epsilon]")
	case p.AnnouncedDelta > 0 && (p.Epsilon == 0 || pure || p.AnnouncedDelta >= 1):
		return fault.New("AnnouncedDelta", p.AnnouncedDelta, "is of [Epsilon] and gaussian noise, and below 1")
	case p.Weight > 0 && p.Weight < 1:
		return fault.New("Weight", p.Weight, "must be at least 1: the largest weight of a unit in a mean, over its equal share")
	case pure && p.Probability > 0 && p.Probability < 1:
		return fault.New("Probability", p.Probability, "is of gaussian noise: leave it out for %s, as if every round took part", p.Mechanism)
	case pure && p.CountStd > 0:
		return fault.New("CountStd", p.CountStd, "is of gaussian noise")
	case pure && p.Parameters == 0:
		return fault.New("Parameters", nil, "how many has the model? %s noise depends on it, as clipping bounds 2-norms", p.Mechanism)
	case p.Mechanism == "svt" && (p.Epsilon == 0 || p.Fraction == 0 || p.NoiseVar == 0):
		return fault.New("Epsilon", p.Epsilon, "must be positive for svt, as must [Fraction] and [NoiseVar]")
	case p.Mechanism == "svt" && (p.Weight > 0 || p.Sensitivity > 0 || p.Clip > 0):
		return fault.New("Mechanism", p.Mechanism, "has no [Weight], [Sensitivity] or [Clip]")
	case p.Mechanism != "svt" && (p.Fraction > 0 || p.NoiseVar > 0 || p.Release > 0):
		return fault.New("Fraction", nil, "is of svt, as are [NoiseVar] and [EpsilonRelease]")
	}
	return nil
}
