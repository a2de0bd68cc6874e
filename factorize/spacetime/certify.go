package spacetime

import (
	"context"


	"mafalda/secrets"
	"mafalda/strategy"
)

// Against returns the best noise over the nodes for a strategy, which is to have sens ≤ 1: what certifies, or refutes,
// the space gap of other noise. It begins at the noise given, nil: at a guess. The errors are those of Space.
func (p Problem) Against(ctx context.Context, c strategy.Strategy, noise *secrets.Noise,
	o SpaceOptions) (*SpaceResult, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	k, err := p.spaceGram(ctx, c)
	if err != nil {
		return nil, err
	}
	if noise != nil {
		o.Start = p.pointOf(noise)
		for _, s := range noise.Pairs { // it was allowed
			o.LargestPair = max(o.LargestPair, s.Deviation*s.Deviation)
		}
		if o.LargestPair > 0 {
			o.LargestPair = max(o.LargestPair, DefaultLargestPair)
		}
	}
	return Space(ctx, k, p.Setting, o)
}

// pointOf returns the variances of noise. Pairs that share no secret have no place.
func (p Problem) pointOf(noise *secrets.Noise) *Point {
	at := &Point{Own: make([]float64, len(noise.Own)), Pairs: make([]float64, len(p.Secrets.Pairs()))}
	for i, d := range noise.Own {
		at.Own[i] = d * d
	}
	index := map[secrets.Pair]int{}
	for i, pair := range p.Secrets.Pairs() {
		index[pair] = i
	}
	for _, s := range noise.Pairs {
		if i, ok := index[s.Pair]; ok {
			at.Pairs[i] = s.Deviation * s.Deviation
		}
	}
	return at
}

