package participation

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrSchema is wrapped by every error about steps, participations and separation that do not fit together.
var ErrSchema = errors.New("participation does not fit")

// Cyclic is (k,b)-participation over T = k·b steps. The zero value is not a schema; use NewCyclic.
type Cyclic struct{ participations, separation int }

// NewCyclic returns the schema of T = steps, with k participations b = separation steps apart. It demands k, b ≥ 1 and
// k·b = T.
func NewCyclic(steps, participations, separation int) (Cyclic, error) {
	switch {
	case steps < 1 || participations < 1 || separation < 1:
		return Cyclic{}, fmt.Errorf("%w: T = %d, k = %d, b = %d must all be at least 1", ErrSchema, steps, participations, separation)
	case participations > steps || separation > steps || participations*separation != steps:
		return Cyclic{}, fmt.Errorf("%w: k·b must be T, but k = %d and b = %d do not give T = %d; k may be %s",
			ErrSchema, participations, separation, steps, listDivisors(steps))
	}
	return Cyclic{participations, separation}, nil
}

// Choose completes a schema of which only some numbers are given; zero means not given. With T alone it takes k = 20, the
// setting of Bellet et al. (Section 7.2), if 20 divides T, and k = 1 if T = 1, where there is no other choice.
func Choose(steps, participations, separation int) (Cyclic, error) {
	k, b := participations, separation
	switch {
	case steps < 1:
		return Cyclic{}, fmt.Errorf("%w: T = %d must be at least 1", ErrSchema, steps)
	case k < 0 || b < 0:
		return Cyclic{}, fmt.Errorf("%w: k = %d and b = %d must be at least 1 where given", ErrSchema, k, b)
	case k == 0 && b == 0 && steps == 1:
		k, b = 1, 1
	case k == 0 && b == 0 && steps%20 == 0:
		k, b = 20, steps/20
	case k == 0 && b == 0:
		return Cyclic{}, fmt.Errorf("%w: T = %d is not a multiple of 20, so say how often a record takes part: k may be %s",
			ErrSchema, steps, listDivisors(steps))
	case k > steps || b > steps:
		return Cyclic{}, fmt.Errorf("%w: k and b cannot be above T = %d", ErrSchema, steps)
	case k == 0:
		k = steps / b
	case b == 0:
		b = steps / k
	}
	return NewCyclic(steps, k, b)
}

// Steps returns T.
func (c Cyclic) Steps() int { return c.participations * c.separation }

// Participations returns k.
func (c Cyclic) Participations() int { return c.participations }

// Separation returns b.
func (c Cyclic) Separation() int { return c.separation }

// Name returns "single" for k = 1 and "cyclic" otherwise.
func (c Cyclic) Name() string {
	if c.participations == 1 {
		return "single"
	}
	return "cyclic"
}

// String describes the schema in a line.
func (c Cyclic) String() string {
	switch {
	case c.participations == 1:
		return fmt.Sprintf("single: a record takes part in at most one of %d steps", c.Steps())
	case c.separation == 1:
		return fmt.Sprintf("cyclic: a record may take part in every one of %d steps (k = %d, b = 1)", c.Steps(), c.participations)
	}
	return fmt.Sprintf("cyclic: a record takes part at most k = %d times, every b = %d steps", c.participations, c.separation)
}

// Patterns returns the b maximal patterns, ascending; together they are a partition of the steps.
func (c Cyclic) Patterns() [][]int {
	patterns := make([][]int, c.separation)
	for i := range patterns {
		for j := range c.participations {
			patterns[i] = append(patterns[i], i+j*c.separation)
		}
	}
	return patterns
}

// Divisors returns the divisors of T in ascending order: the valid numbers of participations.
func Divisors(steps int) []int {
	var low, high []int
	for d := 1; d*d <= steps; d++ {
		if steps%d == 0 {
			low = append(low, d)
			if d*d != steps {
				high = append(high, steps/d)
			}
		}
	}
	for i := len(high) - 1; i >= 0; i-- {
		low = append(low, high[i])
	}
	return low
}

func listDivisors(steps int) string {
	divisors := Divisors(steps)
	words := make([]string, len(divisors))
	for i, d := range divisors {
		words[i] = strconv.Itoa(d)
	}
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
