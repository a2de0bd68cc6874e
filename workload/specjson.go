package workload

import (
	"encoding/json"

	"mafalda/internal/strictjson"
)

// specJSON is a Spec as it stands in manifests: only what differs from the plain workload, and no matrices. Its keys are in
// the order of its fields.
type specJSON struct {
	Kind          string          `json:"kind"`
	Weights       json.RawMessage `json:"weights,omitempty"`        // "last:5", or one number a step
	LearningRates json.RawMessage `json:"learning_rates,omitempty"` // "cosine", or one number a step
	Optimizer
	GraphSequence *Sequence `json:"graph_sequence,omitempty"`
	Changes
	Absence
}

// MarshalJSON writes the spec without what is as in the plain workload.
func (s Spec) MarshalJSON() ([]byte, error) {
	out := specJSON{Kind: s.Kind.String(), Optimizer: s.Optimizer, GraphSequence: s.GraphSequence, Changes: s.Changes,
		Absence: s.Absence}
	for _, count := range []*int{&out.LocalSteps, &out.GossipRounds} {
		if *count == 1 {
			*count = 0
		}
	}
	var err error
	if !s.Weights.allOne() {
		if out.Weights, err = nameOrList(s.Weights.String(), s.Weights.list); err != nil {
			return nil, err
		}
	}
	if !s.LearningRates.constant() {
		if out.LearningRates, err = nameOrList(s.LearningRates.String(), s.LearningRates.list); err != nil {
			return nil, err
		}
	}
	return json.Marshal(out)
}

// JSONShape is for package strictjson: what MarshalJSON writes, and what makes a spec of it. A sequence comes without
// its matrices.
func (s *Spec) JSONShape() (any, func() error) {
	in := new(specJSON)
	return in, func() error { return s.take(in) }
}

// UnmarshalJSON reads what MarshalJSON writes, and refuses unknown names.
func (s *Spec) UnmarshalJSON(data []byte) error { return strictjson.Decode(data, s) }

func nameOrList(name string, list []float64) (json.RawMessage, error) {
	if list != nil {
		return json.Marshal(list)
	}
	return json.Marshal(name)
}

func (s *Spec) take(in *specJSON) (err error) {
	out := Spec{Optimizer: in.Optimizer, Changes: in.Changes, Absence: in.Absence}
	if out.Kind, err = ParseKind(in.Kind); err != nil {
		return err
	}
	if out.Weights, err = decode(in.Weights, ParseWeights, ListedWeights); err != nil {
		return err
	}
	if out.LearningRates, err = decode(in.LearningRates, ParseSchedule, ListedRates); err != nil {
		return err
	}
	out.GraphSequence = in.GraphSequence
	*s = out
	return nil
}

// decode reads a name or a list of numbers; the zero value if there is nothing.
func decode[T any](data json.RawMessage, parse func(string) (T, error), list func([]float64) T) (T, error) {
	var none T
	if data == nil {
		return none, nil
	}
	var name string
	if json.Unmarshal(data, &name) == nil {
		return parse(name)
	}
	var numbers []float64
	if err := json.Unmarshal(data, &numbers); err != nil {
		return none, err
	}
	return list(numbers), nil
}

// String returns the kind of a plain workload, and otherwise the JSON text: equal texts are equal workloads, on the
// same network. It is what keys of studies hold.
func (s Spec) String() string {
	if s.IsPlain() {
		return s.Kind.String()
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error() // a number that JSON does not have, and Check refuses
	}
	return string(text)
}
