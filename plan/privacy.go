package plan

import (
	"math"

	"mafalda/accounting"
	"mafalda/export"
	"mafalda/internal/fault"
)

// Privacy is how much privacy every node is to have against everybody who sees all messages (local DP).
type Privacy struct {
	accounting.Target         // μ, or (ε, δ)
	Clip              float64 // norm to which the gradient of each record is clipped; 0 means 1
	Adjacency         accounting.Adjacency
}

// clip returns the clip, or its default.
func (p *Privacy) clip() float64 {
	if p.Clip == 0 {
		return 1
	}
	return p.Clip
}

// calibrate returns the noise for a strategy of sensitivity sens; nil for no privacy. The errors are a fault.Argument.
func (p *Privacy) calibrate(sens float64) (*export.Privacy, error) {
	if p == nil {
		return nil, nil
	}
	clip := p.clip()
	if !(clip > 0) || math.IsInf(clip, 1) {
		return nil, fault.New("Clip", clip, "must be positive and finite")
	}
	c, err := accounting.Calibrate(p.Target, sens, clip, p.Adjacency)
	if err != nil {
		return nil, fault.Because("Privacy", err)
	}
	out := &export.Privacy{Mu: c.Mu, Sigma: c.Sigma, Clip: clip, Adjacency: p.Adjacency.String(), NoiseStd: c.NoiseStd}
	if c.Delta != 0 {
		out.Epsilon, out.Delta = &c.Epsilon, &c.Delta
	}
	return out, nil
}
