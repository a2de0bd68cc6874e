package simulate

import (
	"io"
	"slices"

	"gonum.org/v1/gonum/stat"

	"mafalda/accounting"
	"mafalda/factorize/baselines"
	"mafalda/internal/lists"
	"mafalda/internal/text"
	"mafalda/simulated"
)

// Row sums up the runs of a method at a level. Numbers that do not exist are absent.
type Row struct {
	Method     string   `json:"method"`
	Sampling   string   `json:"sampling,omitempty"`         // the scheme, if batches are drawn in secret
	Groups     int      `json:"groups,omitempty"`           // groups that batches are drawn from, as many as the strategy has bands
	Multiplier float64  `json:"noise_multiplier,omitempty"` // standard deviation of the noise for Epsilon, over the clip
	Rate       float64  `json:"learning_rate,omitempty"`    // the method's own best one, if several were tried
	Mu         *float64 `json:"mu,omitempty"`
	Epsilon    *float64 `json:"epsilon,omitempty"`
	Summary
	Excess      *Paired      `json:"above_none,omitempty"`  // what the noise costs
	Improvement *Improvement `json:"improvement,omitempty"` // how far its loss is below that of the best method of others
	NoiseError  *NoiseError  `json:"noise_error,omitempty"` // what the noise alone does to the models
	Prediction  *NoiseError  `json:"excess,omitempty"`      // what the noise costs at this rate, measured and predicted
	Seconds     float64      `json:"seconds_per_run"`
}

// Improvement is how far the loss is below another method's loss.
type Improvement struct {
	Over    string  `json:"over"`
	Percent float64 `json:"percent"` // difference in percent of the other method's mean loss
	Paired
}

// Rows sums up runs, level by level, with the ε of δ; runs without noise come first. It fails as accounting.Epsilon
// does.
func (g *Grid) Rows(delta float64) ([]Row, error) {
	var rows []Row
	none, there := g.none()
	if there {
		rows = append(rows, g.row(none, 0))
	}
	for _, level := range g.Levels {
		mu, epsilon, err := g.privacy(level, delta)
		if err != nil {
			return nil, err
		}
		best, compared := g.bestBaseline(level)
		for _, v := range g.Methods {
			runs := g.bySeed(v, level)
			if v == none || len(runs) == 0 {
				continue
			}
			r := g.row(v, level)
			r.Mu, r.Epsilon = mu, epsilon
			if there {
				r.Excess = Compare(pairRuns(g.bySeed(none, 0), runs))
				r.Prediction = predictionOf(pairRuns(g.atRate(none, 0, r.Rate), runs))
			}
			if compared && !slices.Contains(baselines.Names(), v.Method) {
				r.Improvement = g.improvement(v, best, level)
			}
			rows = append(rows, r)
		}
	}
	return rows, nil
}

// privacy returns μ and ε of a level; no μ where batches are drawn in secret.
func (g *Grid) privacy(level, delta float64) (mu, epsilon *float64, err error) {
	if g.Sampling != "" {
		return nil, &level, nil
	}
	of, err := accounting.Epsilon(level, delta)
	return &level, &of, err
}

func (g *Grid) row(v Variant, level float64) Row {
	runs := g.Runs(v, level)
	seconds := stat.Mean(lists.Map(runs, func(r *Result) float64 { return r.Seconds }), nil)
	row := Row{Method: g.Name(v), Sampling: g.Sampling, Rate: g.Rate(v, level), Summary: Summarize(runs),
		NoiseError: noiseError(runs), Seconds: seconds}
	if len(runs) > 0 { // the same for all
		row.Groups, row.Multiplier = runs[0].Groups, runs[0].Multiplier
	}
	return row
}

// improvement compares a method with another at a level; nil if no run can be compared.
func (g *Grid) improvement(v, other Variant, mu float64) *Improvement {
	mine, others := pairRuns(g.bySeed(v, mu), g.bySeed(other, mu))
	p := Compare(mine, others)
	if p == nil {
		return nil
	}
	return &Improvement{g.Name(other), 100 * p.Difference / *Summarize(others).Mean, *p}
}

// WriteRows writes a line of CSV a row, with a header and all digits.
func WriteRows(w io.Writer, rows []Row) error {
	names := "method,mu,epsilon,seeds,diverged,mean_last50,std_last50,median_last50,least_last50,final,final_full_test," +
		"clipped_fraction,above_none,above_none_standard_error,improvement_over,improvement_percent,seconds_per_run," +
		"noise_error,noise_error_standard_error,predicted_noise_error,accuracy,learning_rate,excess," +
		"excess_standard_error,predicted_excess"
	drawn := slices.ContainsFunc(rows, func(r Row) bool { return r.Sampling != "" })
	if drawn {
		names += ",sampling,groups,noise_multiplier"
	}
	lines := text.NewCSV(names + ",note")
	for _, r := range rows {
		line := []any{r.Method, r.Mu, r.Epsilon, r.Seeds, r.Diverged, r.Mean, r.Std, r.Median, r.Least, r.Final, r.Full,
			r.Clipped, nil, nil, nil, nil, r.Seconds, nil, nil, nil, r.Accuracy, nil, nil, nil, nil}
		if r.Excess != nil {
			line[12], line[13] = r.Excess.Difference, r.Excess.StdErr
		}
		if r.Improvement != nil {
			line[14], line[15] = r.Improvement.Over, r.Improvement.Percent
		}
		if e := r.NoiseError; e != nil {
			line[17], line[18], line[19] = e.Measured, e.StdErr, e.Predicted
		}
		if r.Rate > 0 {
			line[21] = r.Rate
		}
		if e := r.Prediction; e != nil {
			line[22], line[23], line[24] = e.Measured, e.StdErr, e.Predicted
		}
		if drawn {
			line = append(line, r.Sampling, r.Groups, r.Multiplier)
		}
		lines.Add(append(line, simulated.Note)...)
	}
	return lines.Write(w)
}
