package terminal

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	_ "mafalda/internal/seeded"
)

func TestNumberStaysOnItsSide(t *testing.T) {
	for v, want := range map[float64][2]string{
		0:                 {"0", "0"},
		1:                 {"1", "1"},
		0.1:               {"0.1", "0.1"},
		4.886554117462457: {"4.886555", "4.886554"},
		0.012345678:       {"0.012346", "0.012346"},
		9.99999999:        {"10", "10"},
		0.9999999999:      {"1", "1"},
		999999999.5:       {"1000000000", "1000000000"},
		123456789.1:       {"123456790", "123456789"},
		1e9:               {"1.000000e+09", "1.000000e+09"},
		0.000999999999:    {"1.000000e-03", "1.000000e-03"},
		math.Inf(1):       {"+Inf", "+Inf"},
	} {
		if have := [2]string{NumberUp(v), Number(v)}; have != want {
			t.Errorf("%v: %q, want %q", v, have, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := math.Exp(rapid.Float64Range(-30, 30).Draw(t, "log v"))
		up, err := strconv.ParseFloat(NumberUp(v), 64)
		if err != nil || up < v || up-v > 1.001e-3*v || len(NumberUp(v)) > 12 {
			t.Fatalf("%v is printed as %s", v, NumberUp(v))
		}
	})
}
