package sampling

import (
	"math"
	"sort"
	"strconv"

	"mafalda/accounting/internal/gaussian"
	"mafalda/accounting/pld"
	"mafalda/internal/fault"
)

// Batches are batches of at most Most of a node's records, of which there are at most Records. The zero value drops
// nothing.
type Batches struct {
	Records int // n
	Most    int // B
}

// MaxRecords is the most records that are accounted for.
const MaxRecords = 1_000_000_000

// None reports whether batches are of any size.
func (b Batches) None() bool { return b == Batches{} }

// Check rejects numbers of records below 1 or above MaxRecords, and empty batches. The errors are a fault.Argument of
// Records or MaxBatch.
func (b Batches) Check() error {
	switch {
	case b.None():
		return nil
	case b.Records < 1 || b.Records > MaxRecords:
		return fault.New("Records", b.Records, "must be from 1 to %d", MaxRecords)
	case b.Most < 1:
		return fault.New("MaxBatch", b.Most, "must be at least 1")
	}
	return nil
}

// Overflow bounds from above how likely a record is to be drawn, in any of the rounds, for a step for which Most others
// are drawn, too: rounds·q·P(Bin(n-1, q/w) ≥ Most), w being the groups.
func (b Batches) Overflow(rounds pld.Rounds, groups int) float64 {
	if b.None() {
		return 0
	}
	tail := binomialTail(b.Records-1, b.Most, rounds.Probability/float64(groups))
	return math.Min(float64(rounds.Rounds)*rounds.Probability*tail*(1+1e-12), 1)
}

// Left returns what is left of δ for the rounds, rounded down. The error is a fault.Argument of MaxBatch if overflows
// leave nothing; it names the least size that leaves nearly all.
func (b Batches) Left(delta float64, rounds pld.Rounds, groups int) (float64, error) {
	overflow := b.Overflow(rounds, groups)
	if overflow == 0 {
		return delta, nil
	}
	if left := math.Nextafter(delta-overflow, 0); left > 0 {
		return left, nil
	}
	enough := Enough(b.Records, rounds, groups, delta)
	return 0, fault.New("MaxBatch", b.Most, "is exceeded with a record in it with a probability of up to %s, which is added to "+
		"[Delta]; %d or more cost nearly nothing", strconv.FormatFloat(overflow, 'g', 3, 64), enough.Most)
}

// spared is the share of δ that Enough gives to overflows.
const spared = 1e-3

// Enough returns the least batches whose overflows take no more than a thousandth of δ.
func Enough(records int, rounds pld.Rounds, groups int, delta float64) Batches {
	below := sort.Search(records-1, func(i int) bool { // a batch of all records drops nothing
		return Batches{records, i + 1}.Overflow(rounds, groups) <= spared*delta
	})
	return Batches{records, below + 1}
}

// EnoughForBands is Enough for these steps, in which records are drawn with probability 1/b on average, whatever the number
// of bands: with w of them a group has at most (T+w)/w rounds, with probability w/b each.
func EnoughForBands(records, steps, b int, delta float64) Batches {
	all := pld.Rounds{Rounds: steps + b, Mechanism: pld.Mechanism{Probability: 1 / float64(b)}}
	return Enough(records, all, 1, delta)
}

// binomialTail bounds P(Bin(n, p) ≥ k) from above, closely for k above the mean; below that it is 1.
//
// Terms after the k-th are products of ratios that fall, so that what is left of them is less than a geometric series.
func binomialTail(n, k int, p float64) float64 {
	m, at := float64(n), float64(k)
	switch {
	case k <= 0:
		return 1
	case k > n:
		return 0
	case p >= 1 || at <= m*p:
		return 1
	}
	sum, term := 1.0, 1.0 // over the k-th
	for i := at; i < m; i++ {
		ratio := (m - i) / (i + 1) * (p / (1 - p))
		if rest := term * ratio / (1 - ratio); rest < 1e-12*sum {
			sum += rest
			break
		}
		term *= ratio
		sum += term
	}
	log, off := gaussian.LogBinomial(m, at, p)
	return math.Min(math.Exp(log+off)*sum*(1+1e-9), 1)
}
