package spacetime

import (
	"context"

	"mafalda/secrets"
	"mafalda/strategy"
)

// BestNoise returns the best noise over the nodes for a strategy, which is to have sens ≤ 1: what certifies, or refutes,
// the space gap of other noise, whose pairs may have the variances that they have. It fails as Space does.
func (p Problem) BestNoise(ctx context.Context, c strategy.Strategy, noise *secrets.Noise,
	o SpaceOptions) (*SpaceResult, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	k, err := p.spaceGram(ctx, c)
	if err != nil {
		return nil, err
	}
	p.LargestPair = p.largestPair()
	for _, s := range noise.Pairs {
		p.LargestPair = max(p.LargestPair, s.Deviation*s.Deviation)
	}
	return Space(ctx, k, p.Setting, o)
}
