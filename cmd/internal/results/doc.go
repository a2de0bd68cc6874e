// Package results says in words and tables what commands have found: strategies and certificates, what attackers learn,
// trained models, averages. It also checks folders for results before anything is computed, and writes them.
package results
