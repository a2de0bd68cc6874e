package simulate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mafalda/internal/lists"
	"mafalda/measure"
	"mafalda/workload"
)

// How the curvature of a task is looked at.
const (
	curvedRecords = 1 << 22 // parameters times records that gradients are means of
	curvedLeast   = 1 << 11 // records, and
	curvedMost    = 1 << 14 // records
	curvedSettle  = 150     // steps without noise, with momentum, that lead near an optimum
	curvedExact   = 128     // parameters of models of which every direction is known
	curvedProbes  = 3       // random directions of larger models that Lanczos' method starts from,
	curvedLanczos = 24      // and its steps
	curvedReach   = 1e-2    // length of the steps of finite differences
	curvedRatio   = 1.1     // between second derivatives that are told apart
	curvedRange   = 1e-4    // of the largest: what is smaller is one direction
)

// Curvature returns how the gradients of the task answer to errors of a model, for a learning rate of one: the second
// derivatives of the mean loss of its own records, as Direction.X, near the model that training without noise leads to,
// with weights for how far the loss is above its least value. Where clipping is active, it is the derivative of the mean
// of clipped gradients, which answers less than the loss curves. It is nil where nothing answers.
//
// It is exact, but for rounding, for quadratic losses of up to 128 parameters, and a finite difference for others; of
// more parameters it is an estimate, by Lanczos' method from random directions. It depends on private records: it is for
// simulations.
func (t Task) Curvature(clip float64) workload.Curvature {
	train, _ := t.Split(0)
	var all workload.Curvature
	for _, d := range t.field(train, clip).directions() {
		all = append(all, d.Direction)
	}
	return all
}

// Training returns what predictions of its training need to know of the task, with clipped gradients and the task's own
// learning rate, and the records of the smallest node. Distances are those of the first model from the one that
// training without noise or clipping leads to, by Lanczos' method from their difference. Where clipping is active, a direction
// counts as often as the loss curves more than gradients answer near that model: farther off they answer less, and
// predictions are too good. The error is of a loss that does not curve. It depends on private records: it is for simulations.
func (t Task) Training(clip float64, nodes int) (of measure.Training, records int, err error) {
	train, _ := t.Split(0)
	f := t.field(train, math.Inf(1)) // models go to the optimum, which clipping delays
	f.clip = clip
	all := f.directions()
	if len(all) == 0 || all[0].X == 0 {
		return of, 0, fmt.Errorf("%w: the loss of %s does not curve where training without noise leads", ErrData, t.Name)
	}
	start := make([]float32, len(f.at))
	t.Model.Init(start, random(0, forStart, 0))
	way := lists.Make(len(start), func(i int) float64 { return float64(start[i]) - float64(f.at[i]) })
	length := floats.Norm(way, 2)
	squares := make([]float64, len(all)) // of the distance, by direction
	if length > 0 {
		var eigen mat.EigenSym
		if !eigen.Factorize(f.krylov(min(len(way), curvedLanczos), way).within, true) {
			return of, 0, fmt.Errorf("%w: training %s without noise diverges", ErrData, t.Name)
		}
		var inside mat.Dense
		eigen.VectorsTo(&inside)
		for i, x := range eigen.Values(nil) {
			at := slices.IndexFunc(all, func(d answering) bool { return d.X <= math.Sqrt(curvedRatio)*x })
			if at < 0 { // x is next to nothing
				at = len(squares) - 1
			}
			squares[at] += math.Pow(length*inside.At(0, i), 2)
		}
	}
	of.Rate = t.LearningRate
	for i, d := range all {
		x := max(d.X, curvedRange*curvedRange*all[0].X)
		of.X, of.Directions = append(of.X, x*of.Rate), append(of.Directions, d.Weight/x)
		of.Distances = append(of.Distances, math.Sqrt(squares[i]/d.count))
	}
	return of, train.Len() / nodes, nil
}

// field returns the mean gradient of a task's records, near the model that training without noise leads to.
func (t Task) field(train Dataset, clip float64) *field {
	size := t.Model.Size()
	f := &field{Worker: t.Model.NewWorker(), clip: clip, at: make([]float32, size),
		data: train.Slice(0, min(train.Len(), curvedMost, max(curvedRecords/size, curvedLeast)))}
	t.Model.Init(f.at, random(0, forStart, 0))
	f.settle(t.LearningRate)
	return f
}

// answering is a direction of Task.Curvature, which stands for a number of them.
type answering struct {
	workload.Direction
	count float64
}

// directions returns those of Task.Curvature.
func (f *field) directions() []answering {
	size := len(f.at)
	var all []answering
	if size <= curvedExact {
		all = f.restrict(f.krylov(size, probe(size, 0)), func(float64) float64 { return 1 })
	} else {
		for i := range uint64(curvedProbes) {
			all = append(all, f.restrict(f.krylov(curvedLanczos, probe(size, i)), func(first float64) float64 {
				return first * first * float64(size) / curvedProbes
			})...)
		}
	}
	return merge(all)
}

// field is the mean gradient of records at models, of which it takes derivatives.
type field struct {
	*Worker
	clip float64
	data Dataset
	at   []float32
}

// gradient returns the mean of the clipped gradients at a model.
func (f *field) gradient(theta []float32, clip float64) []float32 {
	g := make([]float32, len(theta))
	f.ClippedSumTo(g, theta, f.data, clip)
	blas32.Scal(1/float32(f.data.Len()), vector(g))
	return g
}

// settle goes near the optimum, without noise.
func (f *field) settle(rate float64) {
	const momentum = 0.9
	v := make([]float32, len(f.at))
	for range curvedSettle {
		blas32.Scal(momentum, vector(v))
		blas32.Axpy(1, vector(f.gradient(f.at, f.clip)), vector(v))
		blas32.Axpy(-float32(rate), vector(v), vector(f.at))
	}
}

// derivative returns the derivative of the gradient along a direction of length one.
func (f *field) derivative(along []float64, clip float64) []float64 {
	ahead, behind := slices.Clone(f.at), slices.Clone(f.at)
	for i, v := range along {
		ahead[i] += float32(curvedReach * v)
		behind[i] -= float32(curvedReach * v)
	}
	a, b := f.gradient(ahead, clip), f.gradient(behind, clip)
	d := make([]float64, len(along))
	for i := range d {
		d[i] = (float64(a[i]) - float64(b[i])) / (2 * curvedReach)
	}
	return d
}

// krylov is an orthonormal basis, a vector a row, and the derivative of the clipped gradient within it.
type krylov struct {
	basis  *mat.Dense
	within *mat.SymDense
}

// probe returns a random vector.
func probe(size int, i uint64) []float64 {
	r := random(0, forCurvature, i)
	return lists.Make(size, func(int) float64 { return r.NormFloat64() })
}

// krylov makes a basis of next, its derivative, the derivative of that, and so on: a vector for each step.
func (f *field) krylov(steps int, next []float64) krylov {
	size := len(f.at)
	k := krylov{mat.NewDense(steps, size, nil), mat.NewSymDense(steps, nil)}
	next = slices.Clone(next)
	for i := range steps {
		known := k.basis.Slice(0, i+1, 0, size)
		v := mat.NewVecDense(size, next)
		for range 2 { // what rounding leaves of the first time goes with the second
			var share, part mat.VecDense
			share.MulVec(known, v)
			part.MulVec(known.T(), &share)
			v.SubVec(v, &part)
		}
		v.ScaleVec(1/mat.Norm(v, 2), v)
		k.basis.SetRow(i, next)
		next = f.derivative(next, f.clip)
		var answer mat.VecDense
		answer.MulVec(known, mat.NewVecDense(size, next))
		for j := range i + 1 {
			k.within.SetSym(i, j, answer.AtVec(j))
		}
	}
	return k
}

// restrict returns the second derivatives within a basis: each counts as many directions as count says, which it gives
// the first entry of its vector, with a weight of the second derivative of the loss that is not clipped.
func (f *field) restrict(k krylov, count func(first float64) float64) []answering {
	var eigen mat.EigenSym
	if !eigen.Factorize(k.within, true) {
		return nil // not finite
	}
	var vectors, inside mat.Dense
	eigen.VectorsTo(&inside)
	vectors.Mul(inside.T(), k.basis)
	all := make([]answering, 0, len(f.at))
	for j, x := range eigen.Values(nil) {
		v := vectors.RawRowView(j)
		curves := mat.Dot(mat.NewVecDense(len(v), v), mat.NewVecDense(len(v), f.derivative(v, math.Inf(1))))
		if times := count(inside.At(0, j)); x >= 0 && curves*times > 0 {
			all = append(all, answering{workload.Direction{X: x, Weight: curves * times}, times})
		}
	}
	return all
}

// merge makes one direction of second derivatives that are nearly the same, and of all that are next to nothing.
func merge(all []answering) (out []answering) {
	slices.SortFunc(all, func(a, b answering) int { return cmp.Compare(b.X, a.X) })
	least := 0.0 // what still belongs to the last direction
	for i, d := range all {
		if i == 0 || d.X < least {
			out, least = append(out, answering{}), d.X/curvedRatio
			if d.X < curvedRange*all[0].X {
				least = 0
			}
		}
		last := &out[len(out)-1]
		if sum := last.Weight + d.Weight; sum > 0 {
			last.X, last.Weight, last.count = (last.X*last.Weight+d.X*d.Weight)/sum, sum, last.count+d.count
		}
	}
	return out
}
