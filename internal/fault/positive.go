package fault

// Positive refuses a number that is not positive and finite.
func Positive(field string, value float64) error {
	if value > 0 && value-value == 0 {
		return nil
	}
	return New(field, value, "must be positive and finite")
}
