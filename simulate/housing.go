package simulate

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"mafalda/internal/files"
)

const (
	housingHidden   = 64
	housingTest     = 0.2
	housingUnit     = 100000 // dollars; what targets are counted in
	housingColumns  = 9
	housingFeatures = 8
	housingMost     = 1 << 22 // records, far beyond the 20,640 there are
)

// Housing is the regression of Bellet et al., Section 7.2: prices of houses in California by a perceptron with 64 hidden
// units, under the mean squared error. path is cal_housing.data: 20,640 lines of longitude, latitude, median age, rooms,
// bedrooms, population, households, median income and median value, separated by commas.
//
// The features are median income, age, rooms and bedrooms per household, population, population per household, latitude and
// longitude, each with mean 0 and variance 1 over all records; targets are in units of 100,000 dollars. A fifth of the
// records, chosen by the seed, is for tests. A missing file is an os.ErrNotExist that says where to get it; the other errors
// wrap ErrData, with the line.
func Housing(path string) (Task, error) {
	f, _, err := files.Open(path)
	if err != nil {
		return Task{}, missing(err, path, "the file cal_housing.data, which is in "+
			"https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.tgz (docs/simulation.md makes it of scikit-learn's copy)")
	}
	defer f.Close()
	all, err := parseHousing(f)
	if err != nil {
		return Task{}, fmt.Errorf("%s: %w", path, err)
	}
	return Task{Name: "housing", Model: NewMLP(housingFeatures, housingHidden), LearningRate: 0.1, Split: func(
		seed uint64,
	) (train, test Dataset) {
		order := random(seed, forSplit, 0).Perm(all.Len())
		at := int(math.Ceil(housingTest * float64(all.Len())))
		return all.Pick(order[at:]), all.Pick(order[:at])
	}}, nil
}

// missing says where to get a file that is not there.
func missing(err error, path, what string) error {
	if path == "" {
		return fmt.Errorf("%w: no data: name %s", os.ErrNotExist, what)
	}
	return fmt.Errorf("%w: it must be %s", err, what)
}

func parseHousing(r io.Reader) (Dataset, error) {
	var columns [housingFeatures][]float64
	all := Dataset{Features: housingFeatures}
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		v, err := housingRecord(line)
		if err != nil {
			return Dataset{}, fmt.Errorf("%w: line %d: %w", ErrData, number, err)
		}
		longitude, latitude, age, rooms, bedrooms, population, households, income := v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
		for j, x := range []float64{income, age, rooms / households, bedrooms / households, population,
			population / households, latitude, longitude} {
			columns[j] = append(columns[j], x)
		}
		all.Targets = append(all.Targets, float32(v[8]/housingUnit))
		if all.Len() > housingMost {
			return Dataset{}, fmt.Errorf("%w: more than %d lines", ErrData, housingMost)
		}
	}
	if err := lines.Err(); err != nil {
		return Dataset{}, fmt.Errorf("%w: %w", ErrData, err)
	}
	if all.Len() < 10 {
		return Dataset{}, fmt.Errorf("%w: %d lines of numbers are too few", ErrData, all.Len())
	}
	all.Inputs = make([]float32, all.Len()*housingFeatures)
	for j, column := range columns {
		if err := standardize(column); err != nil {
			return Dataset{}, fmt.Errorf("%w: feature %d: %w", ErrData, j, err)
		}
		for i, x := range column {
			all.Inputs[i*housingFeatures+j] = float32(x)
		}
	}
	return all, nil
}

// housingRecord parses a line.
func housingRecord(line string) ([]float64, error) {
	fields := strings.Split(line, ",")
	if len(fields) != housingColumns {
		return nil, fmt.Errorf("%d fields, must be %d numbers separated by commas", len(fields), housingColumns)
	}
	v := make([]float64, housingColumns)
	for i, field := range fields {
		var err error
		if v[i], err = strconv.ParseFloat(strings.TrimSpace(field), 64); err != nil || v[i]-v[i] != 0 {
			return nil, fmt.Errorf("field %d is %q: must be a finite number", i+1, field)
		}
	}
	if v[6] <= 0 {
		return nil, fmt.Errorf("%v households: must be positive", v[6])
	}
	return v, nil
}

// standardize gives a column mean 0 and variance 1.
func standardize(column []float64) error {
	var mean, variance float64
	for _, v := range column {
		mean += v
	}
	mean /= float64(len(column))
	for _, v := range column {
		variance += (v - mean) * (v - mean)
	}
	variance /= float64(len(column))
	if !(variance > 0) || math.IsInf(variance, 1) {
		return fmt.Errorf("its variance is %v", variance)
	}
	for i := range column {
		column[i] = (column[i] - mean) / math.Sqrt(variance)
	}
	return nil
}
