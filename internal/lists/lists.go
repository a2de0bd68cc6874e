// Package lists makes slices in an expression.
package lists

// Map returns f of every element.
func Map[E, T any](list []E, f func(E) T) []T {
	mapped := make([]T, len(list))
	for i, e := range list {
		mapped[i] = f(e)
	}
	return mapped
}

// Make returns f(0), …, f(n-1).
func Make[T any](n int, f func(i int) T) []T {
	made := make([]T, n)
	for i := range made {
		made[i] = f(i)
	}
	return made
}

// UpTo returns 0, …, n-1.
func UpTo(n int) []int { return Make(n, func(i int) int { return i }) }

// Places returns where every element stands; of equal ones the last.
func Places[E comparable](list []E) map[E]int {
	places := make(map[E]int, len(list))
	for i, e := range list {
		places[e] = i
	}
	return places
}
