package graph

import (
	"iter"
	"math/bits"
	"strconv"
	"strings"

	"mafalda/internal/parallel"
)

// labelSet is the labels of the nodes of a file. While the file is read, a node is known by its label's code: the value
// of a small integer (smallInteger), and -1 - its place among the names of any other label.
type labelSet struct {
	values  []uint64 // bit v of them: the small integer v is a label
	numbers int      // of labels that are small integers
	names   []string // all other labels, as they came
	code    map[string]int32
	recent  strings.Builder // holds the last short names
	text    int             // bytes of all labels
}

// count returns the number of labels.
func (s *labelSet) count() int { return s.numbers + len(s.names) }

// addNumber adds the label of a small integer, and reports whether it is new.
func (s *labelSet) addNumber(value int32) bool {
	word, bit := int(value>>6), uint64(1)<<(value&63)
	if word >= len(s.values) {
		s.values = append(s.values, make([]uint64, max(word+1-len(s.values), len(s.values)))...)
	}
	if s.values[word]&bit != 0 {
		return false
	}
	s.values[word] |= bit
	s.numbers++
	s.text += decimals(value) + labelBytes
	return true
}

// addName adds a label that is no small integer and returns its code, and whether it is new.
func (s *labelSet) addName(label string) (code int32, isNew bool) {
	if code, ok := s.code[label]; ok {
		return code, false
	}
	label = s.keep(label)
	s.names = append(s.names, label)
	code = int32(-len(s.names))
	s.code[label] = code
	s.text += len(label) + labelBytes
	return code, true
}

// keep returns a copy of a label, which is not a view of a whole line. Short ones share their memory.
func (s *labelSet) keep(label string) string {
	const room = 1 << 12
	if len(label) > room/16 {
		return strings.Clone(label)
	}
	if s.recent.Cap()-s.recent.Len() < len(label) {
		s.recent = strings.Builder{}
		s.recent.Grow(room)
	}
	from := s.recent.Len()
	s.recent.WriteString(label)
	return s.recent.String()[from:]
}

// smallInteger returns the value of a label of at most eight digits without leading zeros; -1 for others.
func smallInteger(label string) int {
	if len(label) == 0 || len(label) > 8 || label[0] == '0' && len(label) > 1 {
		return -1
	}
	value := 0
	for i := range len(label) {
		digit := label[i] - '0'
		if digit > 9 {
			return -1
		}
		value = 10*value + int(digit)
	}
	return value
}

// decimals returns the number of digits of a small integer.
func decimals(value int32) int {
	digits := 1
	for ; value > 9; value /= 10 {
		digits++
	}
	return digits
}

// numbering gives every label of a set a number from 0: small integers in their order, and then the names as they came.
type numbering struct {
	values []uint64
	before []int32 // for every word of values, how many numbers are given in words before
	names  int     // the number of the first name
}

func (s *labelSet) numbering() numbering {
	n := numbering{values: s.values, before: make([]int32, len(s.values)), names: s.numbers}
	sum := 0
	for i, word := range s.values {
		n.before[i] = int32(sum)
		sum += bits.OnesCount64(word)
	}
	return n
}

// of returns the number of the label with a code.
func (n *numbering) of(code int32) int32 {
	if code < 0 {
		return int32(n.names) - 1 - code
	}
	word, bit := code>>6, uint64(1)<<(code&63)
	return n.before[word] + int32(bits.OnesCount64(n.values[word]&(bit-1)))
}

// labels returns all labels by their number.
func (s *labelSet) labels(n numbering) []string {
	const step = 256 // words at a time
	all := make([]string, s.numbers, s.count())
	parallel.For((len(s.values)+step-1)/step, func(part int) {
		from, to := part*step, min(part*step+step, len(s.values))
		var text strings.Builder // of all labels of the part, which share their memory
		var digits [8]byte
		for value := range s.numbersIn(from, to) {
			text.Write(strconv.AppendInt(digits[:0], value, 10))
		}
		rest, number := text.String(), n.before[from]
		for value := range s.numbersIn(from, to) {
			length := decimals(int32(value))
			all[number], rest = rest[:length], rest[length:]
			number++
		}
	})
	return append(all, s.names...)
}

// numbersIn returns the small integers among the labels in the words from..to-1, ascending.
func (s *labelSet) numbersIn(from, to int) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := from; i < to; i++ {
			for word := s.values[i]; word != 0; word &= word - 1 {
				if !yield(int64(64*i + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}
