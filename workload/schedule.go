package workload

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/fault"
)

// Schedule is how the learning rate changes: η_t for t = 0 … T-1, multiples of the base rate. The zero value is
// constant, 1. Schedules are made by ParseSchedule and ListedRates, and do not change.
type Schedule struct {
	form     scheduleForm
	fraction float64   // share of the steps that warm up
	factor   float64   // factor of every stage
	from     []int     // the first steps of stages after the first
	list     []float64 // the rates themselves
}

type scheduleForm int

const (
	constantRates scheduleForm = iota
	cosineRates
	warmupCosine
	stepRates
	listedRates
)

const defaultWarmup = 0.1

// ScheduleForms lists what ParseSchedule accepts.
func ScheduleForms() []string {
	return []string{"constant", "cosine", "warmup-cosine[:fraction]", "step:factor,from[,from…]"}
}

// ParseSchedule makes a schedule of its name:
//
//	constant                  η_t = 1
//	cosine                    η_t = ½(1 + cos(πt/T))
//	warmup-cosine[:fraction]  that times min(1, (t+1)/w), w = ⌊fraction·T⌋; without a fraction 0.1, and w = 0 is none
//	step:factor,from[,from…]  1, and times factor at every step from, counted from 0: step:0.1,100,200
//
// The error is a fault.Argument of LearningRates.
func ParseSchedule(text string) (Schedule, error) {
	name, parameters, given := strings.Cut(text, ":")
	switch {
	case name == "constant" && !given:
		return Schedule{}, nil
	case name == "cosine" && !given:
		return Schedule{form: cosineRates}, nil
	case name == "warmup-cosine" && !given:
		return Schedule{form: warmupCosine, fraction: defaultWarmup}, nil
	case name == "warmup-cosine":
		fraction, err := strconv.ParseFloat(parameters, 64)
		if err != nil || !(fraction >= 0 && fraction <= 1) {
			return Schedule{}, fault.New("LearningRates", text, "the fraction must be a number from 0 to 1")
		}
		return Schedule{form: warmupCosine, fraction: fraction}, nil
	case name == "step" && given:
		return parseStages(text, strings.Split(parameters, ","))
	}
	return Schedule{}, fault.New("LearningRates", text, "is none of %s", strings.Join(ScheduleForms(), ", "))
}

func parseStages(text string, fields []string) (Schedule, error) {
	s := Schedule{form: stepRates}
	var err error
	if s.factor, err = strconv.ParseFloat(fields[0], 64); err != nil || !(s.factor >= 0) || math.IsInf(s.factor, 1) {
		return Schedule{}, fault.New("LearningRates", text, "the factor must be a number of at least 0")
	}
	for i, f := range fields[1:] {
		from, err := strconv.Atoi(f)
		if err != nil || from < 1 || i > 0 && from <= s.from[i-1] {
			return Schedule{}, fault.New("LearningRates", text, "steps must be ascending integers, from 1 on")
		}
		s.from = append(s.from, from)
	}
	if s.from == nil {
		return Schedule{}, fault.New("LearningRates", text, "from which step on? For example step:0.1,100,200")
	}
	return s, nil
}

// ListedRates is the schedule of given rates, one a step.
func ListedRates(rates []float64) Schedule {
	return Schedule{form: listedRates, list: slices.Clone(rates)}
}

// String is the inverse of ParseSchedule, except for listed rates, of which it says the number.
func (s Schedule) String() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	switch s.form {
	case cosineRates:
		return "cosine"
	case warmupCosine:
		return "warmup-cosine:" + number(s.fraction)
	case stepRates:
		text := "step:" + number(s.factor)
		for _, from := range s.from {
			text += "," + strconv.Itoa(from)
		}
		return text
	case listedRates:
		return fmt.Sprintf("%d listed rates", len(s.list))
	}
	return "constant"
}

// constant reports whether the rate is 1 in every step.
func (s Schedule) constant() bool {
	return s.form == constantRates ||
		s.form == listedRates && len(s.list) > 0 && !slices.ContainsFunc(s.list, func(r float64) bool { return r != 1 })
}

// Rates returns η_0 … η_(T-1). The errors are fault.Arguments of LearningRates: rates that are negative or no finite
// numbers, all zero, or not T.
func (s Schedule) Rates(steps int) ([]float64, error) {
	if s.form == listedRates {
		return s.list, s.checkList(steps)
	}
	rates := make([]float64, steps)
	warm := 0
	if s.form == warmupCosine {
		warm = int(s.fraction*float64(steps) + 1e-9) // 0.29·100 is 29
	}
	rate, stage := 1.0, 0
	for t := range rates {
		switch s.form {
		case constantRates:
			rates[t] = 1
		case stepRates:
			if stage < len(s.from) && s.from[stage] == t {
				rate *= s.factor
				stage++
			}
			rates[t] = rate
		default:
			rates[t] = (1 + math.Cos(math.Pi*float64(t)/float64(steps))) / 2
			if t < warm {
				rates[t] *= float64(t+1) / float64(warm)
			}
		}
	}
	return rates, nil
}

func (s Schedule) checkList(steps int) error {
	if err := checkListed("LearningRates", "rates", s.list, steps); err != nil {
		return err
	}
	if !slices.ContainsFunc(s.list, func(r float64) bool { return r > 0 }) {
		return fault.New("LearningRates", nil, "are all 0: nothing would be learned")
	}
	return nil
}

// checkListed refuses lists that are not one finite number of at least 0 a step, for a field that has these things.
func checkListed(field, things string, list []float64, steps int) error {
	if len(list) != steps {
		return fault.New(field, nil, "there are %d of them for %d steps", len(list), steps)
	}
	for t, v := range list {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fault.New(field, nil, "that of step %d is %v: %s are finite and at least 0", t+1, v, things)
		}
	}
	return nil
}
