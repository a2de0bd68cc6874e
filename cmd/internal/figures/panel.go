package figures

import (
	"image/color"
	"math"
	"slices"
	"strings"
)

// panel is a part of a figure: a frame with axes, unless it is bare, and what is in it.
type panel struct {
	title string
	x, y  axis
	tall  float64 // the frame's height, relative to the width of the panel
	bare  bool
	paint func(p *page, f frame)
	key   []entry // the legend
	shown *shown  // what a plot of curves shows; nil for other panels
}

// entry is a line of a legend: draw shows what it is about between two points.
type entry struct {
	name string
	draw func(p *page, from, to Point)
}

// frame is where a panel's values are.
type frame struct {
	left, top, right, bottom float64
	x, y                     axis
}

// at returns the place of values.
func (f frame) at(x, y float64) Point {
	return Point{f.left + f.x.share(x)*(f.right-f.left), f.bottom - f.y.share(y)*(f.bottom-f.top)}
}

var (
	gridColour = color.NRGBA{225, 225, 225, 255}
	paper      = color.NRGBA{255, 255, 255, 220} // below a legend
)

const smaller = 0.9 // letters of ticks and legends, relative to the others

// titleTall returns how tall the lines of the title are.
func (l *panel) titleTall(em, wide float64) float64 {
	if l.title == "" {
		return 0
	}
	return leading * em * float64(1+strings.Count(broken(em, l.title, wide/wider), "\n"))
}

// drawOn draws the panel, and returns its bottom.
func (l *panel) drawOn(p *page, left, top, wide float64) (bottom float64) {
	em, small := p.em, smaller*p.em
	top = p.paragraph(left+wide/2, top, wide/wider, em, l.title)
	if l.title != "" {
		top += 0.4 * em
	}
	f := frame{left, top, left + wide, top + l.tall*wide, l.x, l.y}
	if l.bare {
		l.paint(p, f)
		return f.bottom
	}
	if l.y.names != nil {
		names := make([]string, len(l.y.names))
		lines := 1
		for i, name := range l.y.names {
			names[i] = broken(small, name, 0.4*wide)
			lines = max(lines, 1+strings.Count(names[i], "\n"))
		}
		f.y.names = names
		f.bottom = f.top + float64(len(names)*lines)*leading*small + float64(len(names))*0.3*small
	}
	p.axisY(&f, left)
	p.axisX(&f)
	bottom = f.bottom + leading*small + 0.5*em
	middle, room := (f.left+f.right)/2, f.right-f.left
	if wider*width(f.x.label, em) > room {
		middle, room = left+wide/2, wide
	}
	bottom = p.paragraph(middle, bottom, room/wider, em, f.x.label)
	before := len(p.shapes)
	l.paint(p, f)
	painted := p.shapes[before:]
	p.line(black, 0.06*em, nil, Point{f.left, f.top}, Point{f.left, f.bottom}, Point{f.right, f.bottom}) // over grid and images
	if len(l.key) == 0 || p.keyInside(l.key, f, painted) {
		return bottom
	}
	return p.keyBelow(l.key, left, bottom+0.4*em, wide, keyLine*small)
}

// axisY draws the vertical axis, whose label begins at left, and moves the frame's left edge to it.
func (p *page) axisY(f *frame, left float64) {
	em, small := p.em, smaller*p.em
	label := strings.Split(breakEvenly(em, f.y.label, (f.bottom-f.top)/wider), "\n")
	if f.y.label == "" {
		label = nil
	}
	ticks := f.y.ticks(f.bottom-f.top, func(string) float64 { return 1.1 * small })
	widest := 0.0
	for _, t := range ticks {
		for line := range strings.SplitSeq(t.label, "\n") {
			widest = max(widest, width(line, small))
		}
	}
	if f.y.names != nil {
		widest *= wider
	}
	f.left = left + leading*em*float64(len(label)) + widest + 0.9*em
	edge := f.right
	f.right -= 0.4 * em
	for _, t := range p.ticksX(*f) { // for half of the last label
		f.right -= max(0, f.at(t.value, f.y.low).X+width(t.label, small)/2-edge)
	}
	for i, line := range label {
		p.writeUpward(Point{left + leading*em*(float64(i)+0.75), (f.top + f.bottom) / 2}, em, line)
	}
	for _, t := range ticks {
		at := f.at(f.x.low, t.value)
		lines := strings.Split(t.label, "\n")
		for i, line := range lines {
			p.write(Point{f.left - 0.5*em, at.Y + 0.32*small + (float64(i)-float64(len(lines)-1)/2)*leading*small}, 1, small, line)
		}
		if t.label != "" && !t.plain {
			p.line(gridColour, 0.05*em, nil, at, Point{f.right, at.Y})
		}
		p.line(black, 0.05*em, nil, at, Point{at.X - t.length()*em, at.Y})
	}
}

// ticksX returns the ticks of the horizontal axis.
func (p *page) ticksX(f frame) []tick {
	small := smaller * p.em
	return f.x.ticks(f.right-f.left, func(label string) float64 { return width(label, small) + 0.6*small })
}

// axisX draws the horizontal axis.
func (p *page) axisX(f *frame) {
	em, small := p.em, smaller*p.em
	for _, t := range p.ticksX(*f) {
		at := f.at(t.value, f.y.low)
		at.Y = f.bottom
		if t.label != "" {
			p.write(Point{at.X, at.Y + 0.5*em + 0.75*small}, 0.5, small, t.label)
			if !t.plain {
				p.line(gridColour, 0.05*em, nil, at, Point{at.X, f.top})
			}
		}
		p.line(black, 0.05*em, nil, at, Point{at.X, at.Y + t.length()*em})
	}
	p.line(black, 0.06*em, nil, Point{f.left, f.bottom}, Point{f.right, f.bottom})
}

// Parts of a legend, relative to its letters.
const (
	keyLine  = 1.25 // distance of its lines
	keyMark  = 2.0  // width of what shows what it is about
	keySpace = 0.5
)

// keyInside draws a legend in the frame where it hides none of the shapes; it reports whether there is such a place.
func (p *page) keyInside(key []entry, f frame, shapes []shape) bool {
	small := smaller * p.em
	wide, tall := 0.0, small*(keyLine*float64(len(key))+keySpace)
	for _, e := range key {
		wide = max(wide, wider*width(e.name, small)+small*(keyMark+3*keySpace))
	}
	inset := 0.3 * p.em
	spareX, spareY := f.right-f.left-wide-2*inset, f.bottom-f.top-tall-2*inset
	if spareX < 0 || spareY < 0 {
		return false
	}
	for _, share := range []Point{{1, 0}, {0, 0}, {1, 1}, {0, 1}, {0.5, 0}, {0.5, 1}, {1, 0.5}, {0, 0.5}, {1, 0.25}, {0, 0.25}, {1, 0.75}, {0, 0.75}} {
		left, top := f.left+inset+share.X*spareX, f.top+inset+share.Y*spareY
		if slices.ContainsFunc(shapes, func(s shape) bool { return s.meets(left, top, left+wide, top+tall, p.em/2) }) {
			continue
		}
		p.rect(paper, left, top, left+wide, top+tall)
		for i, e := range key {
			p.entry(e, left+small*keySpace, top+small*(keyLine*(float64(i)+0.5)+keySpace/2))
		}
		return true
	}
	return false
}

// entry draws a line of a legend, whose middle is at y.
func (p *page) entry(e entry, x, y float64) {
	small := smaller * p.em
	e.draw(p, Point{x, y}, Point{x + small*keyMark, y})
	p.write(Point{x + small*(keyMark+keySpace), y + 0.32*small}, 0, small, e.name)
}

// keyBelow draws a legend in columns, of lines at a distance, and returns its bottom.
func (p *page) keyBelow(key []entry, left, top, wide, distance float64) (bottom float64) {
	small := smaller * p.em
	column := 0.0
	var lines []entry // names in several lines have more of them
	for _, e := range key {
		for line := range strings.SplitSeq(broken(small, e.name, (wide-small*(keyMark+3*keySpace))/wider), "\n") {
			lines = append(lines, entry{line, e.draw})
			column = max(column, wider*width(line, small)+small*(keyMark+3*keySpace))
			e.draw = func(*page, Point, Point) {}
		}
	}
	columns := min(max(1, int(wide/column)), len(lines))
	each := (len(lines) + columns - 1) / columns
	columns = (len(lines) + each - 1) / each
	left += (wide - float64(columns)*column) / 2
	for i, e := range lines {
		p.entry(e, left+float64(i/each)*column, top+distance*(float64(i%each)+0.5))
	}
	return top + float64(each)*distance
}

// meets reports whether a line, the outline of an area or a text has a point in a rectangle, or so near to it.
func (s shape) meets(left, top, right, bottom, near float64) bool {
	points := s.points
	if s.text != "" {
		points = []Point{s.points[0], s.end()}
	} else if s.says != "" {
		return false
	}
	for i, b := range points {
		a := points[max(i-1, 0)]
		steps := math.Ceil(math.Hypot(b.X-a.X, b.Y-a.Y)/near) + 1
		for k := range int(steps) + 1 {
			t := float64(k) / steps
			x, y := a.X+(b.X-a.X)*t, a.Y+(b.Y-a.Y)*t
			if x > left-near && x < right+near && y > top-near && y < bottom+near {
				return true
			}
		}
	}
	return false
}
