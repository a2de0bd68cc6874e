// Package grids holds the commands whose work is a grid of cells that do not depend on each other: account, simulate
// and benchmark. A program that has the cells computed elsewhere has the same commands, with the same flags.
package grids
