package plan

import (
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/strategy"
)

// isLongExport reports whether nothing of size T×T belongs to the export.
func isLongExport(e *export.Export) bool {
	m := e.Manifest
	if m.Steps <= strategy.LongSteps || e.C != nil || m.PerNode != nil {
		return false
	}
	c, err := factorize.ClassOf(m.Strategy.Class)
	return err == nil && c.Traits().Has(factorize.ManySteps) && m.Strategy.Columns == nil
}

// isDense reports whether the strategy is of the class of all.
func isDense(s export.Strategy) bool { return s.Class == factorize.Dense{}.Name() }
