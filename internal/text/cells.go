package text

import (
	"fmt"
	"reflect"
	"strconv"
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
