package graph

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"sync"
)

// blockSize is how many bytes of an edge list are parsed at a time.
const blockSize = 1 << 19

// readEdgeList reads lines of two labels and perhaps, all or none of them, a weight, separated by white space, commas
// or semicolons; empty lines and lines that start with # or % do not count. Line ends may be Windows'.
//
// It reads blocks of whole lines, parses them on all processors, and adds their edges in the order of the file. Nothing
// depends on where blocks end.
func readEdgeList(r io.Reader, source string, b *builder) error {
	return readEdgeBlocks(r, source, b, blockSize)
}

// readEdgeBlocks is readEdgeList with blocks of so many bytes.
func readEdgeBlocks(r io.Reader, source string, b *builder, size int) error {
	workers := min(runtime.GOMAXPROCS(0), 8) // more have nothing to do: edges are added by one
	free := make(chan *edgeBlock, 2*workers+2)
	for range cap(free) {
		free <- &edgeBlock{parsed: make(chan struct{}, 1)}
	}
	unparsed, inOrder := make(chan *edgeBlock, cap(free)), make(chan *edgeBlock, cap(free))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	defer wg.Wait() // nobody reads from r when this returns
	defer close(stop)
	wg.Go(func() {
		defer close(inOrder)
		defer close(unparsed)
		cutBlocks(r, size, free, stop, func(block *edgeBlock) {
			unparsed <- block
			inOrder <- block
		})
	})
	for range workers {
		wg.Go(func() {
			for block := range unparsed {
				block.parse()
				block.parsed <- struct{}{}
			}
		})
	}
	var e edgeLines
	for block := range inOrder {
		<-block.parsed
		if line, err := block.addTo(b, &e); err != nil {
			return fmt.Errorf("%s:%d: %w", source, line, err)
		}
		b.lines += block.count
		free <- block
	}
	return nil
}

// cutBlocks reads r to its end, or until stop is closed, and hands blocks of whole lines to emit. What is wrong with r
// is the last block's readError.
func cutBlocks(r io.Reader, size int, free <-chan *edgeBlock, stop <-chan struct{}, emit func(*edgeBlock)) {
	var rest []byte // of a line whose end is not read yet
	for {
		var block *edgeBlock
		select {
		case <-stop:
			return
		case block = <-free:
		}
		block.text, block.readError = append(block.text[:0], rest...), nil
		rest = nil
		searched, end := 0, -1 // the last line end
		for err := error(nil); end < 0; {
			block.text, err = fill(r, block.text, size)
			if err != nil {
				if !errors.Is(err, io.EOF) { // what was read of the last line is no line
					block.readError, block.text = err, block.text[:bytes.LastIndexByte(block.text, '\n')+1]
				}
				emit(block)
				return
			}
			if end = bytes.LastIndexByte(block.text[searched:], '\n'); end >= 0 {
				end += searched
			}
			if searched = len(block.text); end < 0 && searched >= maxLine {
				emit(block) // which refuses the line
				return
			}
		}
		rest = append(rest, block.text[end+1:]...)
		block.text = block.text[:end+1]
		emit(block)
	}
}

// fill appends size bytes of r to text; fewer with an error.
func fill(r io.Reader, text []byte, size int) ([]byte, error) {
	from := len(text)
	for cap(text) < from+size {
		text = append(text[:cap(text)], 0)
	}
	text = text[:from+size]
	for empty := 0; from < len(text); {
		n, err := r.Read(text[from:])
		if from += n; err != nil {
			return text[:from], err
		}
		if empty++; n > 0 {
			empty = 0
		}
		if empty == 100 {
			return text[:from], io.ErrNoProgress
		}
	}
	return text, nil
}

// edgeBlock is a part of an edge list, and what stands in it up to the first line that cannot be.
type edgeBlock struct {
	text      []byte // whole lines; the last one of a file may have no end
	readError error  // what came after the text instead of more

	count   int         // lines
	edges   []blockEdge // self-loops included
	names   []string    // of labels that are no small integers
	weights []float64   // of the edges, if not plain
	plain   bool        // the first edge has no weight
	mixed   bool        // the last line has a weight and the first has none, or the other way round
	fault   error       // about the last line
	parsed  chan struct{}
}

// blockEdge is an edge by the values of its labels, where these are small integers, or by -1 - the place of their names.
type blockEdge struct{ u, v, line int32 }

// parse reads the lines.
func (b *edgeBlock) parse() {
	b.count, b.edges, b.names, b.weights = 0, b.edges[:0], b.names[:0], b.weights[:0]
	b.mixed, b.fault = false, nil
	var slow edgeLines
	for rest := b.text; len(rest) > 0 && b.fault == nil && !b.mixed; {
		b.count++
		if u, v, weight, plain, length := parseNumbers(rest); length > 0 && length < maxLine {
			b.add(u, v, weight, plain)
			rest = rest[length:]
			continue
		}
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if len(line) >= maxLine {
			b.fault = errLongLine
			return
		}
		text := strings.TrimSpace(string(line))
		if isComment(text) {
			continue
		}
		u, v, weight, plain, err := slow.split(text)
		if err != nil {
			b.fault = err
			return
		}
		b.add(b.code(u), b.code(v), weight, plain)
	}
}

// add adds the edge of the line that was counted last.
func (b *edgeBlock) add(u, v int32, weight float64, plain bool) {
	if len(b.edges) == 0 {
		b.plain = plain
	}
	if plain != b.plain {
		b.mixed = true
		return
	}
	b.edges = append(b.edges, blockEdge{u, v, int32(b.count)})
	if !plain {
		b.weights = append(b.weights, weight)
	}
}

// code returns the value of a label, or -1 - its place among the names.
func (b *edgeBlock) code(label string) int32 {
	if value := smallInteger(label); value >= 0 {
		return int32(value)
	}
	b.names = append(b.names, label)
	return int32(-len(b.names))
}

// addTo adds the edges to a builder, after the lines before. It returns what is wrong, and in which line.
func (b *edgeBlock) addTo(to *builder, e *edgeLines) (line int, err error) {
	before := to.lines
	if len(b.edges) > 0 {
		first := before + int(b.edges[0].line)
		if err := e.same(b.plain, first); err != nil {
			return first, err
		}
		to.plain = b.plain
		to.expect(len(b.edges), len(b.text))
	}
	node := func(code int32) int32 {
		if code < 0 {
			return to.name(b.names[-1-code])
		}
		to.number(code)
		return code
	}
	weight := 1.0
	for i, edge := range b.edges {
		if !b.plain {
			weight = b.weights[i]
		}
		number := before + int(edge.line)
		if err := to.link(node(edge.u), node(edge.v), weight, number); err != nil {
			return number, err
		}
	}
	last := before + b.count
	switch {
	case b.mixed:
		return last, e.same(!b.plain, last)
	case b.fault != nil:
		return last, b.fault
	case b.readError != nil:
		return last + 1, readError(b.readError)
	}
	return 0, nil
}

// parseNumbers reads a line of two small integers and perhaps a weight, separated in one of the usual ways, and returns
// its length with the line end. The length is 0 for any other line, right or wrong.
func parseNumbers(text []byte) (u, v int32, weight float64, plain bool, length int) {
	u, at := parseDigits(text, 0)
	if at == 0 {
		return 0, 0, 0, false, 0
	}
	next, separator := skipSeparator(text, at)
	v, at = parseDigits(text, next)
	if next == 0 || at == 0 {
		return 0, 0, 0, false, 0
	}
	if end := lineEnd(text, at); end > 0 {
		return u, v, 1, true, end
	}
	next, second := skipSeparator(text, at)
	if next == 0 || second != separator {
		return 0, 0, 0, false, 0
	}
	at = next
	for at < len(text) && isOfNumber(text[at]) {
		at++
	}
	end := lineEnd(text, at)
	if end == 0 || at-next > maxDigits {
		return 0, 0, 0, false, 0
	}
	weight, err := strconv.ParseFloat(string(text[next:at]), 64)
	if err != nil || !isWeight(weight) {
		return 0, 0, 0, false, 0
	}
	return u, v, weight, false, end
}

// maxDigits is the length of numbers from which a weight is left to the slow way.
const maxDigits = 32

// parseDigits reads an integer that smallInteger would read. It returns where the integer ends; 0: there is none.
func parseDigits(text []byte, from int) (value int32, end int) {
	at := from
	for ; at < len(text); at++ {
		digit := text[at] - '0'
		if digit > 9 {
			break
		}
		if at-from == 8 {
			return 0, 0
		}
		value = 10*value + int32(digit)
	}
	if at == from || text[from] == '0' && at-from > 1 {
		return 0, 0
	}
	return value, at
}

// skipSeparator returns where a comma, a semicolon or spaces and tabs end, and which of the three they are; 0: there are
// none.
func skipSeparator(text []byte, from int) (end int, which byte) {
	if from == len(text) {
		return 0, 0
	}
	if c := text[from]; c == ',' || c == ';' {
		return from + 1, c
	}
	at := from
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	if at == from {
		return 0, 0
	}
	return at, ' '
}

// lineEnd returns where the next line starts, if only the end of this one is left; else 0.
func lineEnd(text []byte, from int) int {
	for at := from; at < len(text); at++ {
		switch text[at] {
		case '\n':
			return at + 1
		case ' ', '\t', '\r':
		default:
			return 0
		}
	}
	return len(text)
}

func isOfNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E'
}
