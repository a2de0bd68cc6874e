package flags

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"mafalda/internal/files"
	"mafalda/workload"
)

// maxRates is more rates than there are steps anywhere.
const maxRates = 1 << 24

// parseRates reads a schedule of listed rates: one number a line. Empty lines and lines that start with # do not count.
// Errors name the source and the line; whether the rates are such is found by Rates.
func parseRates(r io.Reader, source string) (workload.Schedule, error) {
	var rates []float64
	_, err := files.Lines(r, source, func(line string, _ int) error {
		if line == "" || line[0] == '#' {
			return nil
		}
		v, err := strconv.ParseFloat(line, 64)
		if rates = append(rates, v); err != nil {
			return fmt.Errorf("%.40q is not a number: one a line", line)
		} else if len(rates) > maxRates {
			return fmt.Errorf("more than %d rates", maxRates)
		}
		return nil
	})
	if err == nil && len(rates) == 0 {
		err = errors.New(source + ": there are no rates in it: one number a line")
	}
	return workload.ListedRates(rates), err
}
