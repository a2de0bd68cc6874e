package figures

import (
	"image/color"

	"mafalda/protocols"
)

// palette has colours that people with colour blindness tell apart (Okabe & Ito 2008): blue, vermilion, green, purple, orange, sky
// blue, black; and brown.
var palette = []color.NRGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255}, {230, 159, 0, 255},
	{86, 180, 233, 255}, {0, 0, 0, 255}, {140, 86, 75, 255},
}

// schemes have one colour, a place of the palette, in every picture.
var schemes = map[string]int{
	"mafalda": 0, "d-mf": 1, "dp-d-sgd": 2, "antipgd": 3, "mafalda-plain": 4, "mafalda-secrets": 5, "none": 6, "mafalda-uncurved": 7, // methods
	"in turn": 0, "poisson": 2, "allocation": 3, "bins": 4, // batches; the ordinary noise is Poisson's with one band
	protocols.Plain: 6, protocols.Gossip: 1, protocols.PPAC: 0, protocols.DPPS: 2, // averaging
}

// boundColour is the place of grey, which no scheme has.
const boundColour = -1

// colourAt returns the colour at a place of the palette, which begins again at its end.
func colourAt(index int) color.NRGBA {
	if index == boundColour {
		return color.NRGBA{140, 140, 140, 255}
	}
	return palette[index%len(palette)]
}

// coloursOf returns the places of the curves' colours in the palette: the scheme's colour, or the colour of the curve that
// it is to look like, and for the others, in order, what is left; boundColour for bounds.
func coloursOf(curves []Curve) []int {
	taken := map[int]bool{}
	at := make([]int, len(curves))
	for i, c := range curves {
		if index, known := schemes[c.Method]; known {
			at[i], taken[index] = index, true
		}
	}
	next, of := 0, map[string]int{}
	for i, c := range curves {
		_, known := schemes[c.Method]
		like, alike := of[c.Like]
		switch {
		case c.Bound:
			at[i] = boundColour
		case known:
		case alike && c.Like != "":
			at[i] = like
		default:
			for len(taken) < len(palette) && taken[next%len(palette)] {
				next++
			}
			at[i], of[c.Name] = next, next
			next++
		}
	}
	return at
}
