// Package rational does linear algebra by elimination in rational numbers, without any rounding: the definitions that
// what the protocols compute is tested against, on graphs of ten nodes or so.
package rational
