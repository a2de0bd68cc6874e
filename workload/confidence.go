package workload

// Confidence is the probability with which the errors that a sketch of random vectors states are not exceeded.
const Confidence = 0.99

// LeastProbes is how many random vectors it takes: on symmetric networks (the star) two or three contribute the same
// number too often, and then know of no error.
const LeastProbes = 4

// How many standard errors the mean over random vectors is from the truth, at most, with the probability
// Confidence.
//
// What a vector z contributes is a quadratic form zᵀAz, whose shape is between a normal variable, where many
// directions of A count, and a squared one, ±Z², where only one does: the star, networks that mix slowly. Student's
// factor is for the former and falls short for the latter, whose samples may all lie close together and far from the
// mean (the star was beyond it in 10 % of the runs with 4 vectors). These are for the latter, where they are larger
// than for any other mixture of squares that was tried: the 99 % quantiles of |mean|/standard error for Z²-1, from
// 400,000 to 6,000,000 samples each, rounded up by more than twice their standard error. That they are the largest of
// all is not proven.
//
// They hold for the excess bound, too, with their square for a and b of factorize.Perturbation together, because
// |a| ≤ √b (Cauchy-Schwarz: a is the inner product of R⁻ᵀEC⁻¹ and RC⁻¹ over f, and b the square of the former's norm
// over f). In 1800 runs of the dense optimum (T = 12; 4, 8 and 16 probes) no strategy was further above the true
// optimum than the excess bound; what Perturbation says with the true E was above the bound once.
//
// Runs on networks of 150 to 210 nodes (erdos, barabasi, grid, watts, star, path, cycle, two and three hubs shared by
// all, and florentine, with uniform and with Metropolis gossip, 300 seeds each), in which the true loss was further
// away than stated, of 12000 runs each:
//
//	probes  two standard errors  Student's factor, 99 %  these factors
//	4       2124                 595                     13, at most 2 of 300 for one network
//	8       1324                 391                     4
//	16      1043                 299                     4
var errorFactors = []struct {
	probes int
	factor float64
}{
	{4, 28}, {5, 18.7}, {6, 14.3}, {7, 11.8}, {8, 10.2}, {9, 9.12}, {10, 8.28}, {12, 7.19}, {14, 6.45}, {16, 5.93},
	{20, 5.25},
	{24, 4.81}, {28, 4.51}, {32, 4.28}, {40, 3.96}, {50, 3.71}, {64, 3.48}, {80, 3.32}, {100, 3.19}, {150, 2.99},
	{200, 2.88},
	{400, 2.74}, {1000, 2.65},
}

// errorFactor returns the factor for the next smaller number of vectors that is listed. There must be at least
// LeastProbes.
func errorFactor(probes int) float64 {
	f := errorFactors[0].factor
	for _, e := range errorFactors {
		if e.probes > probes {
			break
		}
		f = e.factor
	}
	return f
}

// draws are what an estimate was made from: random vectors or runs, or all unit vectors.
type draws struct {
	nodes, count int
	unit         bool
}

// Nodes returns the number of nodes, n.
func (s *draws) Nodes() int { return s.nodes }

// Probes returns how many vectors or runs there are.
func (s *draws) Probes() int { return s.count }

// Factor returns how many standard errors (Deviations, LossError) the estimate is from the truth, at most, with the
// probability Confidence(); what few Lanczos steps may cost comes in addition. It is 0 for unit vectors.
func (s *draws) Factor() float64 {
	if s.unit {
		return 0
	}
	return errorFactor(s.count)
}

// Confidence returns the probability of Factor: 1 for unit vectors, which leave nothing to chance.
func (s *draws) Confidence() float64 {
	if s.unit {
		return 1
	}
	return Confidence
}
