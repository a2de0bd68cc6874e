package fault

// If returns the [Argument] that New does where it is refused, and nil otherwise.
func If(refused bool, field string, value any, format string, args ...any) error {
	if !refused {
		return nil
	}
	return New(field, value, format, args...)
}

// First calls functions in their order, and returns the first error.
func First(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
