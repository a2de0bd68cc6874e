package figures

import (
	"image/color"
	"slices"
)

// A method whose line is in several pictures has one colour in all of them.

// methods have the colours of the palette, in its order: blue, vermilion, green, purple, orange, sky blue, black.
var methods = []string{"mafalda", "d-mf", "dp-d-sgd", "antipgd", "mafalda-plain", "mafalda-secrets", "none"}

// boundColour is the place of grey, which no method has.
const boundColour = -1

// colourAt returns the colour at a place of the palette, which begins again at its end.
func colourAt(index int) color.Color {
	if index == boundColour {
		return color.Gray{140}
	}
	return palette[index%len(palette)]
}

// coloursOf returns the places of the curves' colours in the palette: the method's colour, or the colour of the curve that
// it is to look like, and for the others, in order, what is left; boundColour for bounds.
func coloursOf(curves []Curve) []int {
	taken := map[int]bool{}
	at := make([]int, len(curves))
	for i, c := range curves {
		if index := slices.Index(methods, c.Method); index >= 0 {
			at[i], taken[index] = index, true
		}
	}
	next := 0
	of := map[string]int{}
	for i, c := range curves {
		if c.Bound {
			at[i] = boundColour
			continue
		}
		if slices.Contains(methods, c.Method) {
			continue
		}
		if like, there := of[c.Like]; there && c.Like != "" {
			at[i] = like
			continue
		}
		for len(taken) < len(palette) && taken[next%len(palette)] {
			next++
		}
		at[i], of[c.Name] = next, next
		next++
	}
	return at
}
