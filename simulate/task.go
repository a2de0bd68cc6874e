package simulate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mafalda/internal/fault"
)

// The synthetic tasks of LoadTask.
const (
	taskFeatures = 20
	taskClasses  = 4
	taskRecords  = 4000
	taskHidden   = 16 // units of the perceptron
)

// TaskOptions says what is learned.
type TaskOptions struct {
	Name    string // one of TaskNames
	Data    string // path of the data: a file of housing and housing-linear, a folder of mnist and, if it is not to be synthetic, of perceptron
	Records int    // records of a synthetic task; 0 means 4000
}

// TaskNames are the tasks that LoadTask knows.
func TaskNames() []string {
	return []string{"linear", "logistic", "perceptron", "housing", "housing-linear", "mnist"}
}

// synthetic reports whether the task makes its own data.
func (o TaskOptions) synthetic() bool {
	return o.Name == "linear" || o.Name == "logistic" || o.Name == "perceptron" && o.Data == ""
}

// Check finds options that do not make a task, without reading anything: a fault.Argument that names the field.
func (o TaskOptions) Check() error {
	switch {
	case !slices.Contains(TaskNames(), o.Name):
		return fault.New("Name", strconv.Quote(o.Name), "must be one of %s", strings.Join(TaskNames(), ", "))
	case o.synthetic() && o.Data != "":
		return fault.New("Data", nil, "task %s makes its own data", o.Name)
	case !o.synthetic() && o.Records != 0:
		return fault.New("Records", nil, "task %s has its own records", o.Name)
	case o.Records != 0 && o.Records < 10:
		return fault.New("Records", o.Records, "must be at least 10")
	}
	return nil
}

// Needs returns about how many bytes the records of a synthetic task take: made, dealt, and in the order they are
// visited.
func (o TaskOptions) Needs() float64 { return 3 * 4 * float64(taskFeatures+1) * float64(o.Records) }

// LoadTask makes a synthetic task, of 20 features and, unless it is linear, 4 classes, or reads the data of another one.
// A perceptron has a layer of 16 hidden units, on the records of logistic or, with Data, of mnist. It fails as Check,
// Housing and MNIST do.
func LoadTask(o TaskOptions) (Task, error) {
	if err := o.Check(); err != nil {
		return Task{}, err
	}
	records := cmp.Or(o.Records, taskRecords)
	var task Task
	switch o.Name {
	case "housing", "housing-linear":
		houses, err := Housing(o.Data)
		if o.Name != houses.Name {
			houses.Name, houses.Model = o.Name, NewLinear(housingFeatures)
		}
		return houses, err
	case "mnist":
		return MNIST(o.Data)
	case "linear":
		task = LinearTask(records, taskFeatures)
	case "perceptron":
		if o.Data != "" {
			images, err := MNIST(o.Data)
			if err != nil {
				return Task{}, err
			}
			return images.withPerceptron(), nil
		}
		task = LogisticTask(records, taskFeatures, taskClasses).withPerceptron()
	default:
		task = LogisticTask(records, taskFeatures, taskClasses)
	}
	task.Data = fmt.Sprint(records)
	return task, nil
}

// digest is of everything that a task splits into training and test data.
func (t Task) digest() string {
	h := sha256.New()
	train, test := t.Split(0)
	for _, numbers := range [][]float32{train.Inputs, train.Targets, test.Inputs, test.Targets} {
		if binary.Write(h, binary.LittleEndian, numbers) != nil {
			panic("simulate: a hash refused numbers")
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// withPerceptron returns a task of logistic regression with a perceptron in its place.
func (t Task) withPerceptron() Task {
	t.Name, t.Model = "perceptron", NewPerceptron(t.Model.Features(), taskHidden, t.Model.outputs())
	return t
}
