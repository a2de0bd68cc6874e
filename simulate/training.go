package simulate

import (
	"errors"
	"fmt"
	"math"

	"mafalda/export"
	"mafalda/internal/fault"
	"mafalda/workload"
)

// TrainingError is about an export whose strategy is for other training than the run's.
type TrainingError struct {
	Dir       string
	Made, Run workload.Spec
}

func (e *TrainingError) Error() string {
	return fmt.Sprintf("%s: its strategy is for other training, %v, than the run: %v", e.Dir, e.Made, e.Run)
}

// training returns the part of a spec that the recursion needs: without the weights of errors, and with centralized
// training replaced by a network that trains the same way.
func training(s workload.Spec) workload.Spec {
	return workload.Spec{Optimizer: s.Optimizer, Changes: s.Changes, Absence: s.Absence}
}

// scaleDecay returns the spec of an export, whose decay is for a learning rate of 1, for another one.
func scaleDecay(s workload.Spec, rate float64) workload.Spec {
	s.WeightDecay /= rate
	return s
}

// adopt trains as the first export that is for more than plain training, if the configuration says nothing else.
func (s *Study) adopt(exports map[string]*export.Export) error {
	asked := s.config.Workload
	asked.GraphSequence = nil // it comes with the network
	if !training(asked).IsPlain() {
		return nil
	}
	for _, name := range s.options.Methods {
		e := exports[name]
		if e == nil || e.Manifest.IsPlain() {
			continue
		}
		made := scaleDecay(*e.Manifest.WorkloadSpec, s.config.LearningRate)
		made.GraphSequence = s.config.Workload.GraphSequence
		made.Kind, made.Weights = s.config.Workload.Kind, s.config.Workload.Weights
		s.config.Workload = made
		if !training(made).IsPlain() {
			s.notes = append(s.notes, fmt.Sprintf("training is what %s was made for", name))
		}
		break
	}
	return s.config.checkWorkload()
}

// checkTraining refuses an export for other training than the run's. One for plain training is as private, and no
// optimum: the note says so. Centralized strategies know the optimizer, and no network.
func (s *Study) checkTraining(dir string, m *export.Manifest) (note string, err error) {
	run := training(s.config.Workload)
	if m.IsPlain() {
		if !run.IsPlain() {
			note = fmt.Sprintf("%s was made for plain training: it is as private, but not the optimum here", dir)
		}
		return note, nil
	}
	made := scaleDecay(*m.WorkloadSpec, s.config.LearningRate)
	if made.Kind == workload.Prefix {
		run = training(run.Centralized())
	}
	made = training(made)
	if q := made.GraphSequence; q != nil && run.GraphSequence == nil {
		return "", fault.Because("GraphSequence", fmt.Errorf("%s is for networks that take turns (%s), and there are none",
			dir, q.Source))
	}
	if math.Abs(made.WeightDecay-run.WeightDecay) <= 1e-12*run.WeightDecay {
		made.WeightDecay = run.WeightDecay // but for rounding
	}
	if made.String() != run.String() {
		return "", &TrainingError{dir, made, run}
	}
	return "", nil
}

// estimated is the note about a workload without an exact Gram matrix.
func (s *Study) estimated() {
	if errors.Is(s.config.trained().Exact(s.config.Gossip), workload.ErrNotExact) {
		s.notes = append(s.notes, fmt.Sprintf("these networks have no exact Gram matrix: the optimum and predictions are "+
			"of an estimate, from %d draws", estimateProbes))
	}
}
