package figures

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"reflect"
	"testing"
)

func TestAnSVGHasTheNumbersOfItsCurves(t *testing.T) {
	all := []Curve{{Name: "<a> & ]]>", Method: "d-mf", X: []float64{1, 2}, Y: []float64{0.1, 1e-9}, Low: []float64{0.05, 1e-10}, High: []float64{1, 2}},
		{Name: "nothing"}, {Name: "b", X: []float64{1}, Y: []float64{3}, Dashed: true, Bound: true}}
	f, err := stacked("both", Axes{Title: "all", X: "step", Y: "loss", LogY: true}, all, Axes{Title: "part", MaxY: 2}, all[:1])
	if err != nil {
		t.Fatal(err)
	}
	var svg bytes.Buffer
	if err := f.WriteAs(&svg, "x.svg", Style{}); err != nil {
		t.Fatal(err)
	}
	var root struct {
		Metadata string `xml:"metadata"`
	}
	var got struct {
		Title string
		Plots []shown
	}
	if err := xml.Unmarshal(svg.Bytes(), &root); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(root.Metadata), &got); err != nil {
		t.Fatal(err)
	}
	if got.Title != "both" || len(got.Plots) != 2 || len(got.Plots[0].Curves) != 2 || got.Plots[1].MaxY != 2 {
		t.Fatalf("%+v", got)
	}
	first, second := got.Plots[0].Curves[0], got.Plots[0].Curves[1]
	if first.Name != all[0].Name || !reflect.DeepEqual(first.Y, all[0].Y) || !reflect.DeepEqual(first.High, all[0].High) || first.Colour != "#d55e00" {
		t.Errorf("%+v", first)
	}
	if !second.Dashed || second.Colour != "#8c8c8c" || got.Plots[0].Axes.Y != "loss" || !got.Plots[0].LogY {
		t.Errorf("%+v", got.Plots[0])
	}
}
