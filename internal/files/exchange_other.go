//go:build !linux

package files

// Exchange swaps two folders by renames.
func Exchange(a, b string) error { return exchangeByRenames(a, b) }
