package spent

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"mafalda/accounting"
	"mafalda/accounting/pld"
	"mafalda/internal/enum"
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

// Phase is a number of rounds that are alike. The tag of names the mechanisms that take a key, need those that do not go
// without.
type Phase struct {
	Rounds    int    `toml:"rounds" in:"[1,100000000]"`
	Mechanism string `toml:"mechanism"` // gaussian (default), matrix, laplace or svt
	// Probability is of a unit to take part in a round, drawn in secret, independently; 0: every round.
	Probability float64 `toml:"probability" in:"[0,1]" of:"gaussian"`
	Recipients  int     `toml:"recipients" in:"[0,)"` // that get noise of their own for the same data; 0 means 1

	// Clip is the norm to which a contribution is clipped, the 2-norm. The noise of a number has the standard deviation
	// Sigma, of laplace the scale; NoiseMultiplier is the same over Clip; and Epsilon is what is announced for a round: of
	// gaussian by the classical formula, Sigma = Sensitivity (default: Clip) · √(2 ln(1.25/δ))/Epsilon, where δ is
	// AnnouncedDelta or the delta of the run; of laplace by Sigma = Clip/Epsilon.
	Clip            float64 `toml:"clip" in:"[0,)" of:"gaussian matrix laplace"`
	Sigma           float64 `toml:"sigma" in:"[0,)"`
	NoiseMultiplier float64 `toml:"noise_multiplier" in:"[0,)"`
	Epsilon         float64 `toml:"epsilon" in:"[0,)" of:"gaussian laplace svt" need:"svt"`
	Sensitivity     float64 `toml:"sensitivity" in:"[0,)" of:"gaussian laplace"`
	AnnouncedDelta  float64 `toml:"announced_delta" in:"[0,1)" of:"gaussian"`
	// Weight is the largest weight of a unit in a mean over its equal share; 0 means 1.
	Weight float64 `toml:"weight" in:"[0,)" of:"gaussian matrix laplace"`
	// CountStd is of adaptive clipping: the standard deviation of the noise of the count of clipped units.
	CountStd float64 `toml:"count_std" in:"[0,)" of:"gaussian"`

	// Matrix names the .npy file of C, or the folder of an export, for the mechanism matrix, whose noise is rows of C⁻¹Z.
	// Participations is how often a unit takes part at most, Separation rounds apart; 0: as often as fits, and evenly over
	// Rounds. With both 0 a unit is in every round.
	Matrix         string `toml:"matrix" of:"matrix" need:"matrix"`
	Participations int    `toml:"participations" in:"[0,)" of:"matrix"`
	Separation     int    `toml:"separation" in:"[0,)" of:"matrix"`
	growth         *strategy.Growth
	strategy       strategy.Strategy // C

	// Parameters is the number of the model's parameters, which laplace noise of 2-norms and svt need. Fraction is the
	// share of the parameters that is uploaded. The ε of the values that are sent is EpsilonRelease, or else ⌈Fraction·Parameters⌉·NoiseVar.
	Parameters     int     `toml:"parameters" in:"[0,)" need:"laplace svt"`
	Fraction       float64 `toml:"fraction" in:"[0,1]" of:"svt" need:"svt"`
	NoiseVar       float64 `toml:"noise_var" in:"[0,)" of:"svt" need:"svt"`
	EpsilonRelease float64 `toml:"epsilon_release" in:"[0,)" of:"svt"`
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

// mechanisms are the names of all.
var mechanisms = []string{"gaussian", "matrix", "laplace", "svt"}

func (p Phase) check() error {
	mechanism := cmp.Or(p.Mechanism, "gaussian")
	if !slices.Contains(mechanisms, mechanism) {
		return fault.New("Mechanism", p.Mechanism, "must be %s", enum.List(mechanisms))
	}
	if err := fault.Ranges(p); err != nil {
		return err
	}
	if p.Probability == 1 { // as if it were left out
		p.Probability = 0
	}
	v := reflect.ValueOf(p)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		of := strings.Fields(f.Tag.Get("of"))
		switch {
		case v.Field(i).IsZero() && slices.Contains(strings.Fields(f.Tag.Get("need")), mechanism):
			return fault.New(f.Name, nil, "which? [Mechanism] %s needs it", mechanism)
		case !v.Field(i).IsZero() && len(of) > 0 && !slices.Contains(of, mechanism):
			return fault.New(f.Name, v.Field(i).Interface(), "is of [Mechanism] %s: leave it out", enum.List(of))
		}
	}
	says := 0
	for _, v := range []float64{p.Sigma, p.NoiseMultiplier, p.Epsilon} {
		if v > 0 {
			says++
		}
	}
	switch {
	case says != 1:
		return fault.New("Sigma", nil, "how large is the noise? One of [Sigma], [NoiseMultiplier] and [Epsilon] (announced for a round) says it")
	case p.Clip == 0 && p.NoiseMultiplier == 0 && mechanism != "svt":
		return fault.New("Clip", nil, "to which norm are contributions clipped?")
	case p.Sensitivity > 0 && p.Epsilon == 0:
		return fault.New("Sensitivity", p.Sensitivity, "is of [Epsilon]")
	case p.AnnouncedDelta > 0 && p.Epsilon == 0:
		return fault.New("AnnouncedDelta", p.AnnouncedDelta, "is of [Epsilon]")
	case p.Weight > 0 && p.Weight < 1:
		return fault.New("Weight", p.Weight, "must be at least 1: the largest weight of a unit in a mean, over its equal share")
	}
	return nil
}
