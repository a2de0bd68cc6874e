package text

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Cells returns the values of a line of CSV as text: numbers with all digits, pointers as what they point to, and nil as an
// empty cell.
func Cells(values ...any) []string {
	line := make([]string, len(values))
	for i, value := range values {
		switch v := reflect.Indirect(reflect.ValueOf(value)); v.Kind() {
		case reflect.Invalid:
		case reflect.Float64:
			line[i] = strconv.FormatFloat(v.Float(), 'g', 17, 64)
		default:
			line[i] = fmt.Sprint(v)
		}
	}
	return line
}

// CSV is a table of comma-separated values, the line with the names of its columns first.
type CSV [][]string

// NewCSV returns a table without rows, with this line of names.
func NewCSV(names string) *CSV { return &CSV{strings.Split(names, ",")} }

// Add adds a row of Cells.
func (t *CSV) Add(values ...any) { *t = append(*t, Cells(values...)) }

// Write writes the table.
func (t *CSV) Write(w io.Writer) error { return csv.NewWriter(w).WriteAll(*t) }
