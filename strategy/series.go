package strategy

// Stationary is a strategy that may be Toeplitz, C[t,s] = c_(t-s): then so is C⁻¹, of the coefficients of 1/c as a
// power series, and nothing of size T×T is needed to work with it.
type Stationary interface {
	Strategy
	Series() []float64        // c, at most T of them, zero from there on; nil if C is not Toeplitz
	InverseSeries() []float64 // the T coefficients of C⁻¹; nil if C is not Toeplitz
}

var (
	_ Stationary = (*Toeplitz)(nil)
	_ Stationary = (*BLT)(nil)
	_ Stationary = (*BandedInverse)(nil)
	_ Stationary = (*Comb)(nil)
	_ Stationary = Identity(0)
)

// SeriesOf returns the coefficients of a Toeplitz strategy without scaled columns, at most T of them, and whether it
// is one.
func SeriesOf(s Strategy) ([]float64, bool) {
	if s, ok := s.(Stationary); ok {
		c := s.Series()
		return c, c != nil
	}
	return nil, false
}

// InverseSeriesOf returns the T coefficients of C⁻¹ of a Toeplitz strategy, and whether it is one.
func InverseSeriesOf(s Strategy) ([]float64, bool) {
	if s, ok := s.(Stationary); ok {
		r := s.InverseSeries()
		return r, r != nil
	}
	return nil, false
}
