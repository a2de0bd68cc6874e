//go:build !linux

package export

// exchange swaps two folders by renames.
func exchange(a, b string) error { return exchangeByRenames(a, b) }
