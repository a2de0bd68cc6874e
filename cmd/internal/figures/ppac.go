package figures

import (
	"fmt"
	"slices"
	"strconv"

	"mafalda/internal/lists"
	"mafalda/protocols/ppac"
)

// shownNodes is how many nodes' values are drawn.
const shownNodes = 6 // colours beside black, which is the average's

// PPAC are the counterparts of Figures 3, 4 and 5 of Fereydounian et al. for a run and what other noise makes of it.
func PPAC(a *ppac.Averaging, s *ppac.Sweep) (p Pictures) {
	p.Add("values")(PPACValues(a))
	p.Add("error")(PPACErrors(a, s))
	p.Add("time")(PPACRounds(a, s))
	p.Add("leakage")(PPACLeakages(a, s))
	return p
}

// PPACValues is Figure 3: the values of the first nodes over the rounds.
func PPACValues(a *ppac.Averaging) (*Figure, error) {
	r, values, labels := &a.Result, a.Run.Values, a.Problem.Network.Graph.Labels()
	n := 1
	for n < min(len(values), len(r.Errors)) && r.Errors[n-1] > 0.01*r.Errors[0] {
		n++
	}
	n = min(n, len(values))
	title := fmt.Sprintf("PPAC on %s, σ = %g: values of the nodes", r.Graph, r.NoiseStd)
	if len(labels) > shownNodes {
		title = fmt.Sprintf("PPAC on %s, σ = %g: values of %d of %d nodes", r.Graph, r.NoiseStd, shownNodes,
			len(labels))
	}
	var curves []Curve
	for i, label := range labels[:min(len(labels), shownNodes)] {
		curves = append(curves, Curve{Name: label, X: rounds(n),
			Y: lists.Map(values[:n], func(v []float64) float64 { return v[i] })})
	}
	mean := Curve{Name: "average", Method: "none", Dashed: true, X: rounds(n), Y: slices.Repeat([]float64{r.Mean}, n)}
	return Lines(Axes{Title: title, X: "round t", Y: "value v(t)"}, append(curves, mean))
}

// PPACErrors is Figure 4: the mean error over the rounds, for every noise.
func PPACErrors(a *ppac.Averaging, s *ppac.Sweep) (*Figure, error) {
	var curves []Curve
	for i, errors := range s.Errors {
		curves = append(curves, positive(Curve{Name: "σ = " + strconv.FormatFloat(s.Noises[i], 'f', -1, 64)}, errors))
	}
	title := fmt.Sprintf("PPAC on %s: error by the standard deviation σ of the noise, mean of %d runs", a.Result.Graph, ppac.Realizations)
	return Lines(Axes{Title: title, X: "round t", Y: "‖v(t) − average‖₂", LogY: true}, curves)
}

// rounds returns 0, 1, …, n-1.
func rounds(n int) []float64 { return lists.Make(n, func(t int) float64 { return float64(t) }) }

// positive adds what a logarithmic axis can show of the values of rounds.
func positive(c Curve, values []float64) Curve {
	for t, v := range values {
		c.add(float64(t), v)
	}
	return c
}

// PPACRounds shows the rounds until the error is small, for every noise.
func PPACRounds(a *ppac.Averaging, s *ppac.Sweep) (*Figure, error) {
	curves := []Curve{{Name: fmt.Sprintf("mean of %d runs", ppac.TimedRuns), X: s.Noises, Y: s.Rounds}}
	if s.Bounds != nil {
		curves = append(curves, Curve{Name: "bound of Lemma B.5", Bound: true, X: s.Noises, Y: s.Bounds, Dashed: true})
	}
	title := fmt.Sprintf("PPAC on %s: rounds until ‖v(t) − average‖₂ is %g", a.Result.Graph, ppac.Timed)
	return Lines(Axes{Title: title, X: "standard deviation σ of the noise", Y: "rounds", LogX: true, Marks: true}, curves)
}

// PPACLeakages is Figure 5: leakage over noise, of the worst finite pair and of the mean over those asked for. It is
// nil if all leakages are infinite.
func PPACLeakages(a *ppac.Averaging, s *ppac.Sweep) (*Figure, error) {
	if len(s.Worst) == 0 {
		return nil, nil
	}
	r := &a.Result
	worst, floor := Curve{Name: "worst finite pair", X: s.Noises, Y: s.Worst}, Curve{Name: "the average alone",
		Bound: true, Lower: true, X: s.Noises, Y: slices.Repeat([]float64{r.Floor}, len(s.Noises)), Dashed: true}
	curves := []Curve{worst, {Name: "mean of finite pairs", X: s.Noises, Y: s.Mean}, floor}
	if len(r.Pairs) == 1 {
		worst.Name = fmt.Sprintf("what %s learns of %s", r.Pairs[0].Observer, r.Pairs[0].Victim)
		curves = []Curve{worst, floor}
	}
	title := fmt.Sprintf("PPAC on %s: leakage for values of standard deviation %g", r.Graph, r.ValueStd)
	return Lines(Axes{Title: title, X: "standard deviation σ of the noise", Y: "leakage (nats)", LogX: true,
		LogY: slices.Max(s.Worst) > 20*r.Floor, Marks: true}, curves)
}

// PPACCycles is Figure 7: what node 1 learns of node 2 on cycles, by noise, with what the average alone says.
func PPACCycles(cycles []ppac.CycleLeakage) (*Figure, error) {
	var curves []Curve
	for _, c := range cycles {
		curves = append(curves, Curve{Name: fmt.Sprintf("cycle of %d", c.Nodes), X: c.Noises, Y: c.Leakages},
			Curve{Name: fmt.Sprintf("the average of %d", c.Nodes), Like: fmt.Sprintf("cycle of %d", c.Nodes), X: c.Noises,
				Y: slices.Repeat([]float64{c.Floor}, len(c.Noises)), Dashed: true})
	}
	title := fmt.Sprintf("PPAC on cycles: leakage of a neighbour, values of standard deviation %d", ppac.CycleValueStd)
	return Lines(Axes{Title: title, X: "standard deviation σ of the noise", Y: "leakage (nats)", LogX: true, Marks: true},
		curves)
}
