package workload

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxRates is more rates than there are steps anywhere.
const maxRates = 1 << 24

// ReadRates reads a schedule of listed rates: one number a line. Empty lines and lines that start with # do not count,
// and line ends may be Windows'. Errors name the line; whether the rates are such is found by Rates.
func ReadRates(r io.Reader) (Schedule, error) {
	var rates []float64
	s := bufio.NewScanner(r)
	number := 0
	for s.Scan() {
		number++
		line := strings.TrimSpace(strings.TrimPrefix(s.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		v, err := strconv.ParseFloat(line, 64)
		if err != nil {
			return Schedule{}, fmt.Errorf("line %d: %.40q is not a number: one a line", number, line)
		}
		if rates = append(rates, v); len(rates) > maxRates {
			return Schedule{}, fmt.Errorf("line %d: more than %d rates", number, maxRates)
		}
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return Schedule{}, fmt.Errorf("line %d: too long: one number a line", number+1)
	case err != nil:
		return Schedule{}, err
	case len(rates) == 0:
		return Schedule{}, errors.New("there are no rates in it: one number a line")
	}
	return ListedRates(rates), nil
}
