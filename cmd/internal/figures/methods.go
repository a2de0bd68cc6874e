package figures

// A method whose line is in several pictures has one colour in all of them.

// methodColour returns the place of a method's colour in the palette: blue, vermilion, green, purple, orange, sky blue,
// black. It has none if it is not known.
func methodColour(name string) (index int, known bool) {
	switch name {
	case "mafalda":
		return 0, true
	case "d-mf":
		return 1, true
	case "dp-d-sgd":
		return 2, true
	case "antipgd":
		return 3, true
	case "mafalda-plain":
		return 4, true
	case "mafalda-secrets":
		return 5, true
	case "none":
		return 6, true
	}
	return 0, false
}

// Colours returns the places of the curves' colours in the palette: the method's colour, or the colour of the curve that
// it is to look like, and for the others, in order, what is left.
func Colours(curves []Curve) []int {
	taken := map[int]bool{}
	at := make([]int, len(curves))
	for i, c := range curves {
		if index, known := methodColour(c.Method); known {
			at[i], taken[index] = index, true
		}
	}
	next := 0
	of := map[string]int{}
	for i, c := range curves {
		if _, known := methodColour(c.Method); known {
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
