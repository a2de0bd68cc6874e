package report

import "strconv"

// textNearest prints what guarantees nothing to the nearest.
func textNearest(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
