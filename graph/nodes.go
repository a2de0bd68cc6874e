package graph

import (
	"encoding/csv"
	"io"
	"strconv"
)

// WriteNodes writes the numbering of the nodes as CSV with the columns index, label, degree.
func WriteNodes(w io.Writer, g *Graph) error {
	c := csv.NewWriter(w)
	if err := c.Write([]string{"index", "label", "degree"}); err != nil {
		return err
	}
	for i, l := range g.Labels() {
		if err := c.Write([]string{strconv.Itoa(i), l, strconv.Itoa(g.Degree(i))}); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
