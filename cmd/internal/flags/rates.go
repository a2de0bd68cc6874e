package flags

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mafalda/workload"
)

// maxRates is more rates than there are steps anywhere.
const maxRates = 1 << 24

// parseRates reads a schedule of listed rates: one number a line. Empty lines and lines that start with # do not count,
// and line ends may be Windows'. Errors name the line; whether the rates are such is found by Rates.
func parseRates(r io.Reader) (workload.Schedule, error) {
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
			return workload.Schedule{}, fmt.Errorf("line %d: %.40q is not a number: one a line", number, line)
		}
		if rates = append(rates, v); len(rates) > maxRates {
			return workload.Schedule{}, fmt.Errorf("line %d: more than %d rates", number, maxRates)
		}
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return workload.Schedule{}, fmt.Errorf("line %d: too long: one number a line", number+1)
	case err != nil:
		return workload.Schedule{}, err
	case len(rates) == 0:
		return workload.Schedule{}, errors.New("there are no rates in it: one number a line")
	}
	return workload.ListedRates(rates), nil
}
