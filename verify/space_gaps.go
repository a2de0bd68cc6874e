package verify

import (
	"context"
	"fmt"
	"math"

	"mafalda/factorize"
	"mafalda/factorize/baselines"
	"mafalda/factorize/spacetime"
	"mafalda/internal/rounding"
	"mafalda/optim"
	"mafalda/strategy"
)

// loss checks squared error and loss, and how the strategy compares with others, for this noise between nodes.
func (s *spaceCheck) loss(ctx context.Context) error {
	var err error
	if s.h, err = s.p.Workload.TimeGram(ctx, s.export.Shared.Covariance()); err != nil {
		return err
	}
	q, err := factorize.Evaluate(s.c, factorize.Mean(s.h), s.schema)
	if err != nil {
		return err
	}
	s.lossIs(q)
	options := factorize.Options{Gap: s.fineGap()}
	if isDense(s.export.Manifest.Strategy) {
		options.Start = strategy.GramOf(s.c)
	}
	if s.time, err = (factorize.Dense{}).Optimize(ctx, factorize.Mean(s.h), s.schema, options); err != nil {
		return err
	}
	m := s.export.Manifest
	switch {
	case isDense(m.Strategy):
		s.refuseRatio()
		return nil
	case m.Strategy.Ratio == 0 || m.Status != optim.Converged.String():
		s.skip("strategy.ratio")
	default:
		s.ratioIs(q.Loss / s.time.Loss)
	}
	s.skip("strategy.ratio") // its last digits
	return s.classBound(ctx, s.h)
}

// timeGap checks how far the strategy is said to be above the best of all for this noise between nodes.
func (s *spaceCheck) timeGap(context.Context) error {
	m := s.export.Manifest
	proven, _ := factorize.LowerBound(s.h, strategy.GramOf(s.c), s.schema) // an error: none
	s.gapIs("time gap", gapClaim{"space.gap_time", m.Space.GapTime, m.Tolerance},
		[2]float64{math.Max(proven, s.time.LowerBound), s.time.Loss})
	return nil
}

// spaceGap checks how far the noise is said to be above the best between nodes for this strategy.
func (s *spaceCheck) spaceGap(ctx context.Context) error {
	m := s.export.Manifest
	const usual = 1e-5 // what a search ends at that is not asked for less
	aim := math.Max(spacetime.MinGap, math.Min(usual, m.Space.GapSpace))
	best, err := s.p.Against(ctx, s.c, s.export.Shared.Noise, spacetime.SpaceOptions{Gap: aim})
	if err != nil {
		return err
	}
	s.gapIs("space gap", gapClaim{"space.gap_space", m.Space.GapSpace, spacetime.GapBeside(m.Tolerance)},
		[2]float64{best.LowerBound * m.SensSquared, best.Loss * m.SensSquared})
	return nil
}

// gapClaim is a gap of the manifest, and the one that the search stopped at.
type gapClaim struct {
	key             string
	says, tolerance float64
}

// gapIs checks a gap. The bound that follows from it must not be above a loss that is reached; where it is above what
// is proven here, what is proven is said. A gap that is larger than what can be proven is one as well, up to the
// tolerance where the search says that it converged.
func (v *verification) gapIs(name string, c gapClaim, provenReached [2]float64) {
	m, proven, reached := v.export.Manifest, provenReached[0], provenReached[1]
	bound, gap := m.Loss/(1+c.says), math.Max(0, (m.Loss-proven)/proven)
	converged := m.Status == optim.Converged.String()
	switch {
	case c.says == 0:
		v.add(name, false, "%s is 0, which no search can prove", c.key)
	case !(bound <= math.Max(proven, math.Min(reached, m.Loss))*(1+1e-12)):
		v.add(name, false, "%s is at least %v, since a loss of %v is reached; the manifest says %v", c.key,
			(m.Loss-reached)/reached, reached, c.says)
	case converged && c.says > 1.01*math.Max(c.tolerance, gap)+1e-9:
		v.add(name, false, "%s is %v at most; the manifest says %v, and that the search converged", c.key, gap, c.says)
	case bound <= proven*(1+1e-12):
		v.add(name, true, "within %s of the best", rounding.UpText(c.says, 3))
	default:
		v.add(name, true, "within %s of the best, as far as is proven again; %s, says the manifest, and nothing contradicts it",
			rounding.UpText(gap, 3), rounding.UpText(c.says, 3))
	}
	v.skip(c.key) // its digits
}

// withoutSecrets computes again what the class costs without secrets.
func (s *spaceCheck) withoutSecrets(ctx context.Context) error {
	m := s.export.Manifest
	h, err := s.p.Workload.TimeGram(ctx, s.p.Alone())
	if err != nil {
		return err
	}
	if s.ldp, err = s.p.Class.Optimize(ctx, factorize.Mean(h), s.schema, factorize.Options{}); err != nil {
		return err
	}
	s.again.LDPLoss = s.ldp.Loss
	s.compare("local DP", fmt.Sprintf("without secrets the class costs %s, %s times as much", textUp(s.ldp.Loss),
		rounding.UpText(s.ldp.Loss/m.Loss, 4)))
	s.skip("ldp_loss") // its last digits
	return nil
}

// joint computes the joint bound again.
func (s *spaceCheck) joint(ctx context.Context) error {
	m, best := s.export.Manifest, s.time
	if isDense(m.Strategy) {
		best = &factorize.Result{Strategy: s.c}
	}
	joint, err := spacetime.JointLowerBound(ctx, s.p, &spacetime.Result{Noise: s.export.Shared.Noise, Time: best, LDP: s.ldp})
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.again.JointLowerBound, s.reached["joint_lower_bound"] = joint, spacetime.JointGap(s.p.Secrets)
	if m.Status == optim.Interrupted.String() && m.JointLowerBound < joint {
		s.again.JointLowerBound = m.JointLowerBound // there was no time for a better one
	}
	s.compare("joint bound", fmt.Sprintf("no %s costs less than %s, %s of the loss; the manifest says %s",
		spacetime.Separable, textDown(joint), rounding.DownText(joint/m.Loss, 4), textDown(m.JointLowerBound)))
	s.skip("joint_lower_bound") // its last digits
	return nil
}

// baselines measures what the noise is compared with.
func (s *spaceCheck) baselines(ctx context.Context) error {
	says := s.export.Manifest.Baselines
	var measured []baselines.Measured
	if len(says) > 1 {
		var err error
		if measured, err = baselines.Shared(ctx, s.p, s.c); err != nil {
			return err
		}
	}
	measured = append(measured, baselines.Measured{Name: baselines.LDPOptimal, Quality: s.ldp.Quality})
	s.baselinesAre([]string{baselines.LDPOptimal, baselines.DECOR, baselines.DECORInTime}, measured)
	return nil
}
