package graph

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"mafalda/internal/limits"
	"mafalda/internal/lists"
)

// BuiltinOptions tunes ByName.
type BuiltinOptions struct {
	Seed uint64 // seed of the random graphs
}

// Builtin describes a graph that ByName makes.
type Builtin struct {
	Form  string // e.g. "erdos:n,p"
	About string // a line

	parameters string // one letter each: i an integer, f a number
	separator  string
	make       func(p []float64, rng *rand.Rand) (*Graph, error)
	denser     string // change that makes a random graph likelier to be connected; "" for other graphs
}

// Builtins lists the graphs that ByName makes, for help texts.
func Builtins() []Builtin {
	return []Builtin{
		{Form: "florentine", About: "marriages of 15 Florentine families (Breiger & Pattison 1986)", make: florentine},
		{Form: "complete:n", About: "every node with every other", parameters: "i", make: complete},
		{Form: "cycle:n", About: "a ring of n ≥ 3 nodes", parameters: "i", make: cycle},
		{Form: "path:n", About: "a line", parameters: "i", make: path},
		{Form: "star:n", About: "node 0 with n-1 others", parameters: "i", make: star},
		{Form: "grid:RxC", About: "R rows of C nodes", parameters: "ii", separator: "x", make: grid},
		{Form: "hypercube:d", About: "2^d nodes", parameters: "i", make: hypercube},
		{Form: "regular:n,d", About: "random, every node of degree d", parameters: "ii", make: regular,
			denser: "a larger d"},
		{Form: "erdos:n,p", About: "random, every edge with probability p", parameters: "if", make: erdos,
			denser: "a larger p"},
		{Form: "barabasi:n,m", About: "random, new nodes join m old ones by degree", parameters: "ii", make: barabasi,
			denser: "a larger m"},
		{Form: "watts:n,k,p", About: "random, a ring of k neighbours rewired with probability p", parameters: "iif",
			make: watts, denser: "a larger k"},
		{Form: "geometric:n,r", About: "random points of the unit square, nearer than r", parameters: "if",
			make: geometric, denser: "a larger r"},
	}
}

// BuiltinForms returns the forms of the specifications that ByName knows.
func BuiltinForms() []string {
	return lists.Map(Builtins(), func(b Builtin) string { return b.Form })
}

// maxDraws limits how often a random graph is drawn again because it was not connected.
const maxDraws = 100

// maxBuiltinEdges is the largest number of edges a built-in graph may have, builtinBytes and builtinNodeBytes what each
// of them and each node takes until there is a gossip matrix (measured).
const (
	maxBuiltinEdges  = 5e7
	builtinBytes     = 200
	builtinNodeBytes = 150
)

// ByName makes a built-in graph from a specification such as "florentine" or "erdos:100,0.2"; known is false if the
// name before the colon is not one of Builtins. Random graphs depend on the seed alone, not on the machine, and are
// drawn again until connected, at most 100 times (DrawError).
func ByName(spec string, opts BuiltinOptions) (g *Graph, known bool, err error) {
	name, arguments, hasArguments := strings.Cut(spec, ":")
	for _, b := range Builtins() {
		if formName, _, _ := strings.Cut(b.Form, ":"); formName != name {
			continue
		}
		if hasArguments != (b.parameters != "") {
			return nil, true, fmt.Errorf("graph %q: the form is %s", spec, b.Form)
		}
		p, err := b.parse(arguments)
		if err != nil {
			return nil, true, fmt.Errorf("graph %q: %w; the form is %s", spec, err, b.Form)
		}
		if g, err = b.draw(p, opts.Seed); err != nil {
			return nil, true, fmt.Errorf("graph %q: %w", spec, err)
		}
		return g, true, nil
	}
	return nil, false, nil
}

func (b Builtin) parse(arguments string) ([]float64, error) {
	if b.parameters == "" {
		return nil, nil
	}
	fields := strings.Split(arguments, cmp.Or(b.separator, ","))
	if len(fields) != len(b.parameters) {
		return nil, fmt.Errorf("%d parameters instead of %d", len(fields), len(b.parameters))
	}
	p := make([]float64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return nil, fmt.Errorf("%q is not a number of zero or more", f)
		}
		if b.parameters[i] == 'i' && (v != math.Trunc(v) || v < 1 || v > 1<<31) {
			return nil, fmt.Errorf("%q is not a whole number from 1 to 2³¹", f)
		}
		p[i] = v
	}
	return p, nil
}

func (b Builtin) draw(p []float64, seed uint64) (*Graph, error) {
	rng := rand.New(rand.NewPCG(seed, 0x6d6166616c6461))
	draws := 1
	if b.denser != "" {
		draws = maxDraws
	}
	for range draws {
		g, err := b.make(p, rng)
		if errors.Is(err, errRedraw) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if b.denser == "" || len(g.Components()) == 1 {
			return g, nil
		}
	}
	return nil, &DrawError{Draws: draws, Denser: b.denser}
}

// DrawError is about a random graph that was not connected however often it was drawn.
type DrawError struct {
	Draws  int
	Denser string // change that makes the graph likelier to be connected, such as "a larger p"; so may another seed
}

func (e *DrawError) Error() string {
	return fmt.Sprintf("not connected in %d draws: choose %s", e.Draws, e.Denser)
}

// errRedraw is returned by a generator that ran into a dead end.
var errRedraw = errors.New("draw again")

// checkSize refuses graphs that would not fit into memory.
func checkSize(nodes, edges float64) error {
	need := edges*builtinBytes + nodes*builtinNodeBytes
	if edges > maxBuiltinEdges {
		return fmt.Errorf("about %.3g edges would need %.3g GB: at most %.0e edges are made", edges, need/1e9,
			maxBuiltinEdges)
	}
	return limits.Fits(fmt.Sprintf("a graph of %.3g nodes and %.3g edges", nodes, edges), need)
}

// florentine is a fact: who married whom. Nodes are numbered by name.
func florentine([]float64, *rand.Rand) (*Graph, error) {
	b := newBuilder(false)
	const marriages = `
		Acciaiuoli Medici, Albizzi Ginori, Albizzi Guadagni, Albizzi Medici, Barbadori Castellani, Barbadori Medici,
		Bischeri Guadagni, Bischeri Peruzzi, Bischeri Strozzi, Castellani Peruzzi, Castellani Strozzi,
		Guadagni Lamberteschi, Guadagni Tornabuoni, Medici Ridolfi, Medici Salviati, Medici Tornabuoni, Pazzi Salviati,
		Peruzzi Strozzi, Ridolfi Strozzi, Ridolfi Tornabuoni`
	for marriage := range strings.SplitSeq(marriages, ",") {
		couple := strings.Fields(marriage)
		_ = b.join(couple[0], couple[1], 1, 0) // graph would say it
	}
	return b.graph("florentine")
}
