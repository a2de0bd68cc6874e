package simulate

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// houses makes lines in the format of cal_housing.data.
func houses(count int) string {
	var text strings.Builder
	for i := range count {
		x := float64(i)
		fmt.Fprintf(&text, "%f,%f,%d,%f,%f,%f,%f,%f,%f\n", -120-math.Sin(x), 35+math.Cos(x), 10+i%40, 1000+x, 200+math.Abs(math.Sin(x)), 900+x*math.Sqrt(x),
			300+20*math.Cos(3*x), 3+math.Sin(5*x), 200000+1000*x)
	}
	return text.String()
}

func TestHousing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cal_housing.data")
	write(t, path, []byte(houses(105)))
	task, err := Housing(path)
	if err != nil || task.Name != "housing" || task.Model.Size() != 641 || task.LearningRate != 0.1 {
		t.Fatalf("%+v, %v", task, err)
	}
	train, test := task.Split(3)
	if train.Len() != 84 || test.Len() != 21 {
		t.Errorf("%d and %d records of 105", train.Len(), test.Len())
	}
	var sum, squares [8]float64
	targets := map[float32]bool{}
	for _, d := range []Dataset{train, test} {
		for i, y := range d.Targets {
			targets[y] = true
			for j, v := range d.Slice(i, i+1).Inputs {
				sum[j] += float64(v) / 105
				squares[j] += float64(v) * float64(v) / 105
			}
		}
	}
	for j := range sum {
		if math.Abs(sum[j]) > 1e-6 || math.Abs(squares[j]-1) > 1e-5 {
			t.Errorf("feature %d has mean %v and mean square %v", j, sum[j], squares[j])
		}
	}
	if len(targets) != 105 || !targets[2] || !targets[3.04] {
		t.Errorf("%d targets", len(targets))
	}
	again, _ := task.Split(3)
	other, _ := task.Split(4)
	if !reflect.DeepEqual(train, again) || reflect.DeepEqual(train, other) {
		t.Error("the split is not a matter of the seed")
	}
}

// Features are where they should be: income first, longitude last, rooms, bedrooms and people per household.
func TestHousingFeatures(t *testing.T) {
	const line = "-122,37,41,880,129,322,126,8.3252,452600\n"
	for name, tc := range map[string]struct {
		column, feature int
		other           string
	}{
		"income": {7, 0, "9"}, "age": {2, 1, "42"}, "rooms": {3, 2, "900"}, "bedrooms": {4, 3, "150"}, "latitude": {1, 6, "38"}, "longitude": {0, 7, "-121"},
		"population": {5, 4, "400"},
	} {
		fields := strings.Split(strings.TrimSpace(line), ",")
		fields[tc.column] = tc.other
		text := houses(20) + line + strings.Join(fields, ",") + "\n"
		d, err := parseHousing(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		a, b := d.Slice(20, 21).Inputs, d.Slice(21, 22).Inputs
		for j := range a {
			moved := j == tc.feature || name == "population" && j == 5
			if (a[j] < b[j]) != moved || (a[j] != b[j]) != moved {
				t.Errorf("%s: feature %d went from %v to %v", name, j, a[j], b[j])
			}
		}
	}
}

func TestBadHousing(t *testing.T) {
	for name, tc := range map[string]struct{ text, say string }{
		"few lines":     {houses(9), "too few"},
		"a header":      {"longitude,latitude\n" + houses(20), "line 1: 2 fields"},
		"a word":        {houses(11) + "1,2,3,4,five,6,7,8,9\n", `line 12: field 5 is "five"`},
		"not a number":  {houses(11) + "1,2,3,4,5,6,7,8,NaN\n", "line 12: field 9"},
		"nobody":        {houses(11) + "1,2,3,4,5,6,0,8,9\n", "households"},
		"all the same":  {strings.Repeat("1,2,3,4,5,6,7,8,9\n", 20), "variance"},
		"no text":       {strings.Repeat("x", 1<<17), "too long"},
		"huge feature":  {houses(11) + "1,2,3,1e300,5,6,1e-300,8,9\n", "feature 2"},
		"empty":         {"", "too few"},
		"more columns":  {houses(11) + "1,2,3,4,5,6,7,8,9,10\n", "10 fields"},
		"hexadecimal ä": {houses(11) + "ä,2,3,4,5,6,7,8,9\n", "field 1"},
	} {
		path := filepath.Join(t.TempDir(), "x.data")
		write(t, path, []byte(tc.text))
		if _, err := Housing(path); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), tc.say) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, path := range []string{"", filepath.Join(t.TempDir(), "nowhere")} {
		if _, err := Housing(path); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "https://www.dcc.fc.up.pt") {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// idx makes a file in MNIST's format.
func idx(magic uint32, shape []uint32, data []byte) []byte {
	var b bytes.Buffer
	for _, v := range append([]uint32{magic}, shape...) {
		b.Write(binary.BigEndian.AppendUint32(nil, v))
	}
	b.Write(data)
	return b.Bytes()
}

func zip(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// mnist writes 3 training and 2 test images of 2×2 pixels, half of the files gzipped.
func mnist(t *testing.T) string {
	dir := t.TempDir()
	write(t, filepath.Join(dir, MNISTFiles()[0]+".gz"), zip(idx(idxImages, []uint32{3, 2, 2}, []byte{0, 51, 102, 255, 1, 2, 3, 4, 5, 6, 7, 8})))
	write(t, filepath.Join(dir, MNISTFiles()[1]), idx(idxLabels, []uint32{3}, []byte{0, 4, 2}))
	write(t, filepath.Join(dir, MNISTFiles()[2]), idx(idxImages, []uint32{2, 2, 2}, make([]byte, 8)))
	write(t, filepath.Join(dir, MNISTFiles()[3]), zip(idx(idxLabels, []uint32{2}, []byte{1, 1})))
	return dir
}

func TestMNIST(t *testing.T) {
	task, err := MNIST(mnist(t))
	if err != nil {
		t.Fatal(err)
	}
	train, test := task.Split(1)
	if task.Model.Size() != 5*5 || train.Len() != 3 || test.Len() != 2 {
		t.Errorf("%d parameters, %d and %d images", task.Model.Size(), train.Len(), test.Len())
	}
	if got := train.Inputs[:4]; !reflect.DeepEqual(got, []float32{0, 0.2, 0.4, 1}) || !reflect.DeepEqual(train.Targets, []float32{0, 4, 2}) {
		t.Errorf("pixels %v, labels %v", got, train.Targets)
	}
}

func TestBadMNIST(t *testing.T) {
	for name, tc := range map[string]struct {
		file    int
		content []byte
		say     string
	}{
		"labels as images":  {0, idx(idxLabels, []uint32{3, 2, 2}, make([]byte, 12)), "starts with 0x801"},
		"short":             {0, idx(idxImages, []uint32{3, 2, 2}, make([]byte, 11)), "do not fit"},
		"long":              {0, idx(idxImages, []uint32{3, 2, 2}, make([]byte, 13)), "do not fit"},
		"no header":         {0, []byte{0, 0}, "header"},
		"huge":              {0, idx(idxImages, []uint32{1 << 31, 1 << 31, 1 << 31}, nil), "too many bytes"},
		"lies":              {0, idx(idxImages, []uint32{1 << 20, 1 << 5, 1 << 5}, []byte{1}), "do not fit"},
		"fewer labels":      {1, idx(idxLabels, []uint32{2}, []byte{1, 2}), "3 images of 2×2 with 2 labels"},
		"no images":         {2, idx(idxImages, []uint32{0, 2, 2}, nil), "0 images"},
		"other images":      {2, idx(idxImages, []uint32{2, 1, 2}, make([]byte, 4)), "4 pixels, test images 2"},
		"gzip of nothing":   {1, []byte{0x1f, 0x8b, 0}, MNISTFiles()[1]},
		"gzip that is torn": {1, zip(idx(idxLabels, []uint32{3}, make([]byte, 3)))[:14], MNISTFiles()[1]},
	} {
		dir := mnist(t)
		path := filepath.Join(dir, MNISTFiles()[tc.file])
		write(t, path, tc.content) // stands before .gz
		if _, err := MNIST(dir); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), tc.say) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, dir := range []string{"", t.TempDir()} {
		if _, err := MNIST(dir); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "https://") || !strings.Contains(err.Error(), MNISTFiles()[3]) {
			t.Errorf("%q: %v", dir, err)
		}
	}
}

// The best linear model leaves the residual of the synthetic regression, and logistic regression learns its classes.
func TestSyntheticTasksCanBeLearned(t *testing.T) {
	for name, tc := range map[string]struct {
		task        Task
		start, most float64 // loss of the model that knows nothing, and one to come below
	}{
		"linear":   {LinearTask(4000, 5), 0.7, 1.1 * syntheticResidual * syntheticResidual},
		"logistic": {LogisticTask(4000, 5, 3), math.Log(3), 0.75},
	} {
		c := florentine(t, 400, 20, 20)
		c.Task, c.TestRows = tc.task, -1
		c.Clip, c.Every = 10, 1
		r, err := Run(t.Context(), c, nil, 1)
		if err != nil || r.Losses[0] < 0.7*tc.start || *r.Final > tc.most || *r.Full != *r.Final {
			t.Errorf("%s: from %v to %v, must be from %v to below %v (%v)", name, r.Losses[0], *r.Final, tc.start, tc.most, err)
		}
		train, test := tc.task.Split(5)
		again, _ := tc.task.Split(5)
		if train.Len() != 3200 || test.Len() != 800 || !reflect.DeepEqual(train, again) {
			t.Errorf("%s: %d and %d records", name, train.Len(), test.Len())
		}
	}
}
