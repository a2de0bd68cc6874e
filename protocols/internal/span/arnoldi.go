package span

import (
	"context"
	"fmt"
	"math"

	"mafalda/protocols/internal/consensus"
)

// Powers of W lose all digits after a few rounds, because their rows become parallel: whatever the tolerance, the sixth digit or
// the first on a graph as small as florentine's. But a chain may go on from any
// vector that differs from its row by earlier ones: q ← the new part of qᵀW, scaled to length 1. Rounding is
// amplified all the same, on trees of eighty nodes until nothing is right, without any small number on the way. It
// shows where the chains end: there the new part must be zero. So a basis counts only if all chains end with nothing
// but rounding and no new part was small; otherwise it is made again in more precision.
const (
	doubleEnd   = 1e-12 // the largest new part where a chain ends, and the smallest elsewhere, in double precision
	doubleLeast = 1e-4
	fineEnd     = 1e-16 // the same with 106 bits
	fineLeast   = 1e-10
	fineWork    = 2e9   // rank²·nodes: some ten seconds
	cheapWork   = 2.5e5 // the same, for what is so cheap in 106 bits that less is not tried
)

// orthonormal is an orthonormal basis, row by row, and how far its entries may be from the true span's.
type orthonormal struct {
	rows           []float64
	fine           [][]number // the same in 106 bits, or nil
	blur, fineBlur float64
}

// spread is how many times further from the truth than what is left where chains end a basis is taken to be.
const spread = 64

// newOrthonormal says how far a basis of this rank may be off, that was made with this unit roundoff.
func newOrthonormal(rows []float64, fine [][]number, rank int, end, unit float64) *orthonormal {
	blur := spread * math.Max(end, float64(rank)*unit)
	return &orthonormal{rows: rows, fine: fine, blur: blur + 0x1p-53, fineBlur: blur}
}

// pursuit is what a basis is made of: of the messages' rows on the hidden nodes.
type pursuit struct {
	weights *consensus.Weights
	span    *Span
	senders []int            // whose messages are seen
	isNew   map[Message]bool // the informative sequence up to the horizon
	horizon int              // Forever if that is within reach
}

func newPursuit(w *consensus.Weights, s *Span, senders []int, all []Message, horizon int) *pursuit {
	p := &pursuit{weights: w, span: s, senders: senders, isNew: make(map[Message]bool, len(all)), horizon: horizon}
	for _, m := range all {
		p.isNew[m] = true
	}
	return p
}

// basis returns one in as much precision as it takes: nil if that would be too much.
func (p *pursuit) basis(ctx context.Context) (*orthonormal, error) {
	if p.horizon != Forever {
		return p.comparedBasis(ctx)
	}
	rank := len(p.isNew)
	work := float64(rank) * float64(rank) * float64(len(p.span.Hidden))
	if work > cheapWork {
		quick := newDoubles(p.weights, p.span)
		end, least, err := p.chains(ctx, quick)
		if err != nil {
			return nil, err
		}
		if end <= doubleEnd && least >= doubleLeast {
			return newOrthonormal(quick.basis, nil, rank, end, 0x1p-53), nil
		}
	}
	if work <= fineWork {
		twice := newPrecise(p.weights, p.span)
		end, least, err := p.chains(ctx, twice)
		if err != nil {
			return nil, err
		}
		if end <= fineEnd && least >= fineLeast {
			return newOrthonormal(twice.doubles(), twice.basis, rank, end, 0x1p-100), nil
		}
	}
	return nil, nil
}

// comparedBasis makes a basis where chains do not end within reach: how far it is off is what double precision loses against
// 106 bits.
func (p *pursuit) comparedBasis(ctx context.Context) (*orthonormal, error) {
	quick, twice := newDoubles(p.weights, p.span), newPrecise(p.weights, p.span)
	for _, a := range []arithmetic{quick, twice} {
		if _, _, err := p.chains(ctx, a); err != nil {
			return nil, err
		}
	}
	rows, lost := twice.doubles(), 0.0
	for i := range min(len(rows), len(quick.basis)) {
		lost = math.Max(lost, math.Abs(rows[i]-quick.basis[i]))
	}
	if lost > 1e-3 || len(rows) != len(quick.basis) {
		return nil, fmt.Errorf("%w: following what is seen takes more than 106 bits", consensus.ErrTooLarge)
	}
	return newOrthonormal(rows, nil, len(p.isNew), lost*0x1p-47, 0x1p-100), nil
}

// arithmetic makes a basis.
type arithmetic interface {
	start(node int) // of the chain of a node: e_node
	step(from int)  // the vector of the chain times W
	// newPart takes the basis out of the vector of the last start or step and returns the length of what is left, of 1.
	newPart() float64
	// keep scales what is left to length 1, and puts it into the basis and at the end of its chain.
	keep()
}

// chains builds a basis up to a round. It returns the largest new part where a chain ends, and the smallest where one
// goes on.
func (p *pursuit) chains(ctx context.Context, a arithmetic) (end, least float64, err error) {
	least = 1
	senders := p.senders
	for t := 0; t <= p.horizon && len(senders) > 0; t++ {
		var left []int
		for _, from := range senders {
			if ctx.Err() != nil {
				return 0, 0, context.Cause(ctx)
			}
			if t == 0 {
				a.start(from)
			} else {
				a.step(from)
			}
			size := a.newPart()
			if !p.isNew[Message{from, t}] {
				end = math.Max(end, size)
				continue
			}
			least = math.Min(least, size)
			if size == 0 {
				return 1, 0, nil
			}
			a.keep()
			left = append(left, from)
		}
		senders = left
	}
	return end, least, nil
}
