package factorize

// NodeCost is what a node that runs a strategy needs for each parameter of its model.
type NodeCost struct {
	Floats int // numbers kept from step to step
	Flops  int // multiplications and additions a step, at most
}

// A Streamer is a strategy that can be run row by row in known memory.
type Streamer interface{ NodeCost() NodeCost }

var (
	_ Streamer = (*Dense)(nil)
	_ Streamer = Identity(0)
	_ Streamer = AntiPGD(0)
	_ Streamer = (*Banded)(nil)
	_ Streamer = (*Toeplitz)(nil)
	_ Streamer = (*BLT)(nil)
	_ Streamer = (*BandedInverse)(nil)
)

// NodeCost returns T: all rows of independent noise.
func (d *Dense) NodeCost() NodeCost { return NodeCost{d.Steps(), 2 * d.Steps()} }

// NodeCost returns nothing but the scaling of fresh noise.
func (i Identity) NodeCost() NodeCost { return NodeCost{0, 1} }

// NodeCost returns one row: the noise of the step before.
func (a AntiPGD) NodeCost() NodeCost { return NodeCost{1, 2} }

// NodeCost returns w-1 rows of correlated noise.
func (b *Banded) NodeCost() NodeCost { return NodeCost{b.bands - 1, 2 * b.bands} }

// NodeCost returns w-1 rows of correlated noise.
func (p *Toeplitz) NodeCost() NodeCost { return NodeCost{len(p.c) - 1, 2 * len(p.c)} }

// NodeCost returns one buffer a pole.
func (b *BLT) NodeCost() NodeCost {
	poles := 0
	for _, s := range b.sections {
		if poles += 2; s.B == 0 && s.Q == 0 {
			poles--
		}
	}
	return NodeCost{poles, 4*poles + 1}
}

// NodeCost returns w-1 rows of independent noise.
func (b *BandedInverse) NodeCost() NodeCost { return NodeCost{len(b.r) - 1, 2 * len(b.r)} }
