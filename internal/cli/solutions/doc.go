// Package solutions says in words and tables what optimize has found: strategies and baselines, what is proved of them, what
// they cost a node, and what was exported.
package solutions
