package simulate

// Cell is a place in the grid of a Study: one run.
type Cell struct {
	Method string  `json:"method"`           // name, as in StudyOptions.Methods
	Export string  `json:"export,omitempty"` // digest of the export, if the method is one
	Mu     float64 `json:"mu,omitempty"`     // 0: without noise, or batches drawn in secret
	Seed   uint64  `json:"seed"`
	Rate   float64 `json:"learning_rate,omitempty"` // one of the rates that are tried; 0: the study's only one

	Sampling string  `json:"sampling,omitempty"` // the scheme, if batches are drawn in secret
	Epsilon  float64 `json:"epsilon,omitempty"`  // level in the place of Mu, where batches are drawn in secret
}

// level is μ, or ε where batches are drawn in secret; 0 without noise.
func (c Cell) level() float64 { return max(c.Mu, c.Epsilon) }
