package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"mafalda/accounting"
	"mafalda/internal/cli"
	"mafalda/internal/simulated"
	"mafalda/protocols/dpps"
)

type pushRound struct {
	Round        int     `json:"round"`
	Estimated    float64 `json:"estimated"`
	Real         float64 `json:"real"`
	Synchronized bool    `json:"synchronized,omitempty"`
}

// dppsResult is the JSON of --protocol dpps.
type dppsResult struct {
	simulated.Mark
	Protocol   string      `json:"protocol"`
	Graph      string      `json:"graph"`
	Nodes      int         `json:"nodes"`
	Period     int         `json:"period"`
	Seed       uint64      `json:"seed"`
	B          float64     `json:"b"`
	NoiseRate  float64     `json:"gamma_n"`
	Sync       int         `json:"sync"`
	Estimate   string      `json:"estimate"`
	C          float64     `json:"c_prime,omitempty"`
	Lambda     float64     `json:"lambda,omitempty"`
	Sound      *bool       `json:"constants_sound,omitempty"` // absent: not known, or not used
	Needed     float64     `json:"c_prime_needed,omitempty"`  // for soundness with this lambda
	Ergodicity []float64   `json:"ergodicity,omitempty"`
	Broadcast  int         `json:"broadcast_rounds"` // of max-consensus, in every round
	Mean       float64     `json:"mean"`
	Rounds     []pushRound `json:"rounds"`
	Errors     []float64   `json:"errors"` // ‖y(t) - mean‖₂ at the start and after every round
	MeanRatio  float64     `json:"mean_real_over_estimated"`
	MostRatio  float64     `json:"largest_real_over_estimated"`
	Epsilon    float64     `json:"epsilon_per_round"`
	Basic      float64     `json:"epsilon_basic"` // as if rounds had noise of their own: no guarantee
	Advanced   float64     `json:"epsilon_advanced"`
	Delta      float64     `json:"delta"`
	Composed   bool        `json:"composition_proved"`
}

// dppsAveraging is a run of DPPS.
type dppsAveraging struct {
	calibration dpps.Calibration
	source      string // of the constants
	result      dppsResult
}

const pushRounds = 10

func (f *averageFlags) runDPPS(ctx context.Context, note func(string, ...any), bar *cli.Progress) (averaging, error) {
	s, name, err := f.directedGraphs(note)
	if err != nil {
		return nil, err
	}
	u, err := f.startValues(s.Labels())
	if err != nil {
		return nil, err
	}
	return f.pushSum(ctx, s, name, u, note, bar)
}

// pushSum runs DPPS from the values u.
func (f *averageFlags) pushSum(ctx context.Context, s *dpps.Sequence, name string, u []float64, note func(string, ...any), bar *cli.Progress) (*dppsAveraging, error) {
	var err error
	a := &dppsAveraging{}
	if a.calibration, a.source, err = f.push.calibrate(ctx, s, bar); err != nil {
		return nil, err
	}
	broadcast, err := s.BroadcastRounds(ctx)
	if err != nil {
		return nil, err
	}
	rounds := pushRounds
	if f.fixed {
		if rounds, _, err = f.limit(s.Nodes()); err != nil {
			return nil, err
		}
	}
	r := &a.result
	*r = dppsResult{Mark: simulated.Revealing(), Protocol: "dpps", Graph: name, Nodes: s.Nodes(), Period: s.Period(),
		Seed: f.network.Seed, B: f.push.b, NoiseRate: f.push.gammaN,
		Sync: f.push.sync, Estimate: f.push.estimate, C: a.calibration.C, Lambda: a.calibration.Lambda,
		Ergodicity: a.calibration.Ergodicity, Broadcast: broadcast,
		Delta: f.delta}
	switch {
	case f.push.estimate == "sound" && !f.push.own():
		sound := true
		r.Sound, r.Needed = &sound, a.calibration.C
	case f.push.estimate != "real":
		if err := r.judge(ctx, s, a.calibration.Constants, &f.push, bar); err != nil {
			return nil, err
		}
		if r.Sound == nil || !*r.Sound {
			note("warning: C' = %g and lambda = %g are not known to be sound here: a round whose estimate turns out too small ends the run", r.C, r.Lambda)
		}
	}
	options := f.push.options(a.calibration)
	p, err := dpps.NewPushSum(s, dpps.Scalars(u), options, f.random(forNoise))
	if err != nil {
		return nil, cli.Usage(err)
	}
	run, err := p.Average(ctx, rounds)
	if err != nil {
		return nil, err
	}
	r.Mean, r.Errors = run.Mean, run.Errors
	r.addRounds(run.Rounds)
	return a, cli.Usage(r.account(options.Epsilon(), rounds))
}

// judge says whether constants are sound.
func (r *dppsResult) judge(ctx context.Context, s *dpps.Sequence, c dpps.Constants, push *pushFlags, bar *cli.Progress) error {
	necessary, enough, err := s.SoundConstant(ctx, c.Lambda, push.horizon(bar))
	switch {
	case errors.Is(err, dpps.ErrTooLarge):
		return nil // nobody can say
	case ctx.Err() != nil:
		return err
	case err != nil:
		return cli.Usage(err)
	}
	sound := c.C >= enough
	if r.Needed = necessary; sound || c.C < necessary*(1-1e-9) {
		r.Sound = &sound
	}
	return nil
}

// still is the share of the first sensitivity below which a round does nothing but rounding.
const still = 1e-9

func (r *dppsResult) addRounds(reports []dpps.Report) {
	counted := 0
	for _, report := range reports {
		r.Rounds = append(r.Rounds, pushRound{report.Round, report.Estimated, report.Real, report.Synchronized})
		if report.Estimated > still*reports[0].Estimated {
			ratio := report.Real / report.Estimated
			r.MeanRatio += ratio
			r.MostRatio = max(r.MostRatio, ratio)
			counted++
		}
	}
	if counted > 0 {
		r.MeanRatio /= float64(counted)
	}
}

// account composes the rounds.
func (r *dppsResult) account(epsilon float64, rounds int) (err error) {
	r.Epsilon = epsilon
	if r.Basic, err = accounting.ComposeBasic(epsilon, rounds); err != nil {
		return err
	}
	r.Advanced, err = accounting.ComposeAdvanced(epsilon, rounds, r.Delta)
	return err
}

// atMost says that the rounds of a broadcast are only bounded, as they are in large networks.
func (r *dppsResult) atMost() string {
	if r.Nodes > dpps.MostFlooded {
		return "at most "
	}
	return ""
}

// numbers is how many the nodes broadcast in a round: S_i; and for the other estimate what was added, without and with noise.
func (r *dppsResult) numbers() int {
	if len(r.Ergodicity) > 0 {
		return 3
	}
	return 1
}

func (a *dppsAveraging) data() any { return a.result }

func (a *dppsAveraging) print(w io.Writer) error {
	r := &a.result
	fmt.Fprintf(w, "graph          %s: %d nodes, the weights repeat after %s\n", r.Graph, r.Nodes, cli.Count(r.Period, "round"))
	fmt.Fprintf(w, "protocol       dpps: push-sum, Laplace noise of scale %g·S/%g in every message", r.NoiseRate, r.B)
	if r.Sync > 0 {
		fmt.Fprintf(w, ", synchronized after every %d rounds", r.Sync)
	}
	fmt.Fprintln(w)
	a.printConstants(w)
	fmt.Fprintf(w, "broadcast      max-consensus takes %s%s of %s, before every round\n", r.atMost(),
		cli.Count(r.Broadcast, "round"), cli.Count(r.numbers(), "number"))
	fmt.Fprintf(w, "average        %.10g; after %s the nodes are %s from it (‖·‖₂), %s at the start\n\n", r.Mean, cli.Count(len(r.Rounds), "round"),
		cli.Number(r.Errors[len(r.Errors)-1]), cli.Number(r.Errors[0]))
	var rows [][]string
	for i, p := range r.Rounds {
		if i >= shownPairs && i < len(r.Rounds)-1 {
			continue
		}
		ratio := "–"
		if p.Estimated > still*r.Rounds[0].Estimated {
			ratio = fmt.Sprintf("%.3f", p.Real/p.Estimated)
		}
		mark := ""
		if p.Synchronized {
			mark = "yes"
		}
		rows = append(rows, []string{strconv.Itoa(p.Round), cli.NumberUp(p.Estimated), cli.NumberUp(p.Real), ratio, mark, cli.Number(r.Errors[i+1])})
	}
	if err := cli.Table(w, []string{"round", "estimated S", "real", "real/estimated", "synchronized", "error after it"}, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nsensitivity    real/estimated %.3f on average, %s at most\n", r.MeanRatio, cli.DecimalUp(r.MostRatio, 3))
	fmt.Fprintf(w, "privacy        a round: epsilon = b/gamma-n = %s. It hides, given S, whose message an answer is (the paper's Definition 4)\n", cli.DecimalUp(r.Epsilon, 6))
	if r.Epsilon > 10 {
		fmt.Fprintln(w, "               so large an epsilon hides next to nothing; under a small one noise drowns the average (--b)")
	}
	fmt.Fprintf(w, "               %s: the paper says nothing. %s by basic composition, %s for delta = %g by advanced, if rounds had noise of\n",
		cli.Count(len(r.Rounds), "round"), cli.DecimalUp(r.Basic, 6), cli.DecimalUp(r.Advanced, 6), r.Delta)
	fmt.Fprintf(w, "               their own; they do not, and who hears the next S learns the size of the noise before: this is no guarantee\n")
	fmt.Fprintf(w, "               not hidden: the numbers that are broadcast. In round 0 they say how large a value is (docs/protocols.md)\n")
	return nil
}

func (a *dppsAveraging) printConstants(w io.Writer) {
	r := &a.result
	if r.Estimate == "real" {
		fmt.Fprintf(w, "sensitivity    the real one, which no node knows: for comparison only\n")
		return
	}
	fmt.Fprintf(w, "sensitivity    recursion with C' = %s, lambda = %s (%s)\n", cli.DecimalUp(r.C, 6), cli.DecimalUp(r.Lambda, 6), a.source)
	if len(r.Ergodicity) > 0 {
		fmt.Fprintf(w, "               or 2·Σ tau_s·(the largest addition s rounds ago), if that is less: tau_1 = %s, tau_%d = %s\n",
			cli.DecimalUp(r.Ergodicity[1], 4), len(r.Ergodicity)-1, cli.DecimalUp(r.Ergodicity[len(r.Ergodicity)-1], 2))
	}
	if r.Sound != nil && !*r.Sound {
		fmt.Fprintf(w, "               NOT sound on this network: with this lambda C' must be %s or more\n", cli.DecimalUp(r.Needed, 6))
	}
}
