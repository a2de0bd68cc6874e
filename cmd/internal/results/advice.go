package results

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/floats"

	"mafalda/cmd/internal/document"
	"mafalda/cmd/internal/flags"
	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/factorize"
	"mafalda/graph"
	"mafalda/internal/lists"
	"mafalda/internal/text"
	"mafalda/internal/version"
	"mafalda/measure"
	"mafalda/participation"
	"mafalda/plan"
	"mafalda/threat"
	"mafalda/workload"
)

// Advice is what advise prints as JSON.
type Advice struct {
	Version       string               `json:"version"`
	Graph         *graph.Origin        `json:"graph,omitempty"`
	Workload      string               `json:"workload"`
	WorkloadSpec  *workload.Spec       `json:"workload_spec"`
	Steps         int                  `json:"T"`
	Participation export.Participation `json:"participation"`
	Mu            float64              `json:"mu,omitempty"`
	Epsilon       float64              `json:"epsilon,omitempty"`
	Delta         float64              `json:"delta,omitempty"`
	Budgets       string               `json:"budgets,omitempty"` // file of the privacy levels of the nodes
	Adjacency     string               `json:"adjacency"`
	Curvature     *measure.Training    `json:"curvature,omitempty"`         // what is known of the loss, at the base learning rate
	Records       int                  `json:"records,omitempty"`           // records of a node
	StartRisk     float64              `json:"start_excess_risk,omitempty"` // excess risk of the first model
	Dim           int                  `json:"dim,omitempty"`
	NumberBytes   int                  `json:"number_bytes,omitempty"`
	MemoryBytes   float64              `json:"memory_bytes,omitempty"` // the limit; absent: none
	Ways          []AdvisedWay         `json:"ways"`
	LeftOut       []LeftOutWay         `json:"left_out"`
	MemoryFront   *MemoryFront         `json:"memory_front,omitempty"`
}

// AdvisedWay is a way to make noise, what it costs, and what it relies on.
type AdvisedWay struct {
	Rank  int    `json:"rank,omitempty"` // place among the ways, from 1; absent: it relies on what was not said
	Name  string `json:"name"`
	Trust string `json:"trust"` // ldp or secldp
	strategyRow
	plan.Way
	ExcessRisk float64  `json:"excess_risk,omitempty"` // absent: no curvature was given
	Ratio      float64  `json:"ratio"`                 // error, or excess risk, over the first way's
	ReliesOn   []string `json:"relies_on"`
	BreaksBy   []string `json:"breaks_by"`
}

// strategyRow is a strategy in words, with the command that makes it.
type strategyRow struct {
	Sampling    string  `json:"sampling"`
	Class       string  `json:"class,omitempty"` // absent: optimize finds it
	Bandwidth   int     `json:"bandwidth,omitempty"`
	Buffers     int     `json:"buffers,omitempty"`
	MemoryBytes float64 `json:"memory_bytes,omitempty"`
	Command     string  `json:"command"`
}

// rowOf returns the row of a strategy; without a budget nothing is known of bytes.
func rowOf(p plan.Price, b *plan.Budget, command string) strategyRow {
	row := strategyRow{Sampling: p.Sampling.String(), Command: command}
	if p.Class != nil {
		row.Class, row.Bandwidth, row.Buffers = p.Class.Name(), p.Class.Parameters().Bandwidth, p.Class.Parameters().Buffers
	}
	if b != nil {
		row.MemoryBytes = b.Bytes(p.Floats)
	}
	return row
}

// LeftOutWay is a way that could not be compared.
type LeftOutWay struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// AdviceOf returns the result of a comparison that a command made: its own flags are those that optimize does without, or has
// for something else.
func AdviceOf(cmd, optimize *cobra.Command, own []string, c *plan.Comparison) *Advice {
	p := c.Case.Problem
	r := &Advice{Version: version.String(), Workload: p.Workload.Kind.String(), WorkloadSpec: &p.Workload,
		Steps: p.Schema.Steps(), LeftOut: []LeftOutWay{}}
	if p.Network != nil {
		r.Graph = &p.Network.Origin
	}
	if w := c.Case.Options.Privacy; w != nil && p.Levels == nil {
		r.Mu, r.Epsilon, r.Delta = w.Mu, w.Epsilon, w.Delta
	}
	if r.Curvature = c.Case.Training; r.Curvature != nil {
		r.Records, r.StartRisk = c.Case.Records, c.Start()
	}
	b := c.Case.Options.Budget
	if b != nil {
		r.Dim, r.NumberBytes = b.Dim, b.NumberBytes()
		if !math.IsInf(b.Memory, 1) {
			r.MemoryBytes = b.Memory
		}
	}
	for i, w := range c.Ways {
		row := AdvisedWay{Name: w.Name(), Trust: threat.LDP.String(), strategyRow: rowOf(w.Price, b, commandFor(w, cmd, own)), Way: w,
			Ratio: w.Cost() / c.Best().Cost(), ReliesOn: reliesOn(w, c.Case.Sharing), BreaksBy: breaksBy(w, p)}
		if w.Shared {
			row.Trust = threat.SecLDP.String()
		}
		if w.Ranked {
			row.Rank = i + 1
		}
		if w.Prospect != nil {
			row.ExcessRisk = w.Total()
		}
		r.Ways = append(r.Ways, row)
	}
	for _, l := range c.LeftOut {
		of := optimize
		if l.IsLimit() {
			of = cmd
		}
		r.LeftOut = append(r.LeftOut, LeftOutWay{l.Way, flags.Hinted(of, l.Reason)})
	}
	return r
}

// reliesOn says what has to be true of others for the privacy of a way.
func reliesOn(w plan.Way, sharing plan.Sharing) []string {
	all := []string{}
	if w.Shared {
		switch sharing.Coalitions {
		case "", "1":
			all = append(all, "no 2 nodes collude")
		case "2":
			all = append(all, "no 3 nodes collude")
		default:
			all = append(all, "only listed coalitions collude, others are trusted")
		}
	}
	if w.Sampling != participation.InTurn {
		all = append(all, "secret draws")
	}
	return all
}

// breaksBy says what a node must not do, or suffer, for the privacy of a way; docs/choosing.md explains each.
func breaksBy(w plan.Way, p plan.Problem) []string {
	var all []string
	if w.Shared {
		all = append(all, "a leaked pair secret")
	}
	people, protected := p.Schema.(*participation.People)
	switch {
	case w.Sampling != participation.InTurn:
		all = append(all, "a leaked draw")
	case protected:
		all = append(all, fmt.Sprintf("a person in %d batches", people.Batches()+1))
	case p.Schema.Name() == "silo":
		all = append(all, "two labels of one silo")
	default:
		all = append(all, "reshuffled batches")
	}
	if p.Workload.Carry {
		all = append(all, "a missed message was seen")
	}
	return all
}

// commandFor returns the command line that computes and exports a way.
func commandFor(w plan.Way, cmd *cobra.Command, own []string) string {
	own, words := slices.Clone(own), []string(nil)
	if w.Shared {
		trust, given := threat.SecLDP.String(), cmd.Flags().Lookup("trust").Value.String()
		if parts := strings.TrimPrefix(strings.TrimPrefix(given, trust), ":"); parts != "" {
			trust += ":" + parts
		}
		words = append(words, "--trust", text.Quote(trust))
	}
	words = append(words, samplingFlags(w.Sampling)...)
	if w.OneLevel {
		own = append(own, "budgets")
		words = append(words, privacyWords(w.Privacy)...)
	}
	if w.Prospect != nil {
		own = append(own, "T", "participations", "separation")
		words = append(words, prospectWords(w)...)
	}
	if w.PerNode {
		words = append(words, "--strategy", "per-node")
	} else if w.Class != nil {
		words = append(words, classWords(w.Class)...)
	}
	return optimizeCommand(cmd, own, words...)
}

// prospectWords are the flags of a training at its best rate and number of steps.
func prospectWords(w plan.Way) []string {
	s := w.Problem.Schema
	words := []string{"--T", strconv.Itoa(s.Steps()), "--participations", strconv.Itoa(s.Participations()), "--separation",
		strconv.Itoa(s.Separation())}
	if decay := w.Problem.Workload.WeightDecay; decay > 0 {
		words = append(words, "--optimizer", "decay:"+terminal.AsGiven(decay))
	}
	if c := w.Problem.Curvature; c != nil {
		numbers := lists.Make(len(c.X), func(i int) string {
			number := strconv.FormatFloat(c.X[i], 'g', 6, 64)
			if c.Directions[i] == 1 {
				return number
			}
			return number + ":" + strconv.FormatFloat(c.Directions[i], 'g', 6, 64)
		})
		words = append(words, "--curvature", strings.Join(numbers, ","))
	}
	return words
}

func samplingFlags(s participation.Scheme) []string {
	if s == participation.InTurn {
		return nil
	}
	return []string{"--sampling", s.String()}
}

// privacyWords are the flags of one level for all nodes.
func privacyWords(p *plan.Privacy) []string {
	number := terminal.AsGiven
	words := []string{"--clip", number(p.Clip)}
	if p.Mu != 0 {
		words = append(words, "--mu", number(p.Mu))
	} else {
		words = append(words, "--epsilon", number(p.Epsilon))
	}
	if p.Delta != 0 {
		words = append(words, "--delta", number(p.Delta))
	}
	return words
}

// classWords are the flags of a class with its parameters.
func classWords(c factorize.Class) []string {
	p, parts := c.Parameters(), []string(nil)
	if p.Buffers > 0 {
		parts = append(parts, "buffers="+strconv.Itoa(p.Buffers))
	}
	if p.Bandwidth > 0 {
		parts = append(parts, "bandwidth="+strconv.Itoa(p.Bandwidth))
	}
	if p.ScaleColumns {
		parts = append(parts, "scale-columns")
	}
	return []string{"--strategy", strings.TrimSuffix(c.Name()+":"+strings.Join(parts, ","), ":")}
}

// optimizeCommand returns a command line of optimize: the given flags of cmd, without the flags that only cmd has, and
// more words.
func optimizeCommand(cmd *cobra.Command, own []string, more ...string) string {
	words := append([]string{cmd.Root().Name(), "optimize"}, FlagWords(cmd, own)...)
	return strings.Join(append(append(words, more...), "-o", "out"), " ")
}

// FlagWords returns the flags that are given to a command, but for some and those of every command, as words of a
// command line.
func FlagWords(cmd *cobra.Command, but []string) []string {
	var words []string
	everywhere := cmd.InheritedFlags()
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Hidden || slices.Contains(but, f.Name) || everywhere.Lookup(f.Name) != nil:
		case f.Value.Type() == "bool":
			words = append(words, strings.TrimSuffix("--"+f.Name+"="+f.Value.String(), "=true"))
		default:
			words = append(words, "--"+f.Name, text.Quote(f.Value.String()))
		}
	})
	return words
}

// WriteAdviceCSV writes a line of CSV for every way, with all digits; the rank of ways without one is empty.
func WriteAdviceCSV(w io.Writer, r *Advice) error {
	names := "rank,name,trust,sampling,class,bandwidth,buffers,memory_floats,memory_bytes,flops_per_step,noise_std," +
		"squared_error,error_at_privacy,loss_error,ratio,command"
	predicted := r.Ways[0].Prospect != nil
	if predicted {
		names += ",excess_risk,bias,noise,learning_rate,T,participations"
	}
	lines := text.NewCSV(names)
	for _, c := range r.Ways {
		var rank any
		if c.Rank > 0 {
			rank = c.Rank
		}
		line := []any{rank, c.Name, c.Trust, c.Sampling, c.Class, c.Bandwidth, c.Buffers, c.Floats, c.MemoryBytes, c.Flops,
			c.NoiseStd, c.SquaredError, c.ErrorAtPrivacy, c.LossError, c.Ratio, c.Command}
		if predicted {
			line = append(line, c.ExcessRisk, c.Bias, c.Noise, c.Rate, c.Steps, c.Participations)
		}
		lines.Add(line...)
	}
	return lines.Write(w)
}

// Document says what is advised.
func (r *Advice) Document(c *plan.Comparison) *document.Document {
	p := c.Case.Problem
	d := document.New("advice", "Ways to make noise for a case, by their error at the privacy that is wanted.")
	if n := p.Network; n != nil {
		d.Fact("graph", "%s", n.Line())
		d.Fact("gossip", "%s", n.Origin.GossipLine())
	}
	d.Fact("workload", "%s, T = %d steps", r.Workload, r.Steps)
	d.Add(flags.WorkloadFacts(p.Workload)...)
	d.Fact("participation", "%v", p.Schema)
	d.Fact("privacy", "%s of a %s, %s", r.wanted(), r.Participation.Unit(), r.Adjacency)
	if r.Dim > 0 {
		limit := ""
		if r.MemoryBytes > 0 {
			limit = "; at most " + terminal.BytesText(r.MemoryBytes)
		}
		d.Fact("memory", "of the noise at a node, for %s, %d bytes a number%s", parametersText(r.Dim),
			r.NumberBytes, limit)
	}
	best := r.Ways[0]
	if best.Prospect == nil {
		d.Line("ways, by their squared error with the noise for the privacy, in units of the clip")
	} else {
		d.Fact("loss", "curves by %.3g to %.3g in %.6g directions; the excess risk of the first model is %.4g", slices.Min(c.Case.Training.X),
			slices.Max(c.Case.Training.X), floats.Sum(c.Case.Training.Directions), c.Start())
		d.Line("ways, by their predicted excess risk, each at its best rate and number of steps")
	}
	d.Table(r.table())
	d.Fact("take", "%s: %s", best.Name, best.Guarantee)
	d.More("%s", best.Command)
	d.Add(r.caveats(c)...)
	if i := slices.IndexFunc(r.Ways, func(w AdvisedWay) bool { return w.Rank == 0 }); i >= 0 {
		d.Fact("without rank", "what relies on more than you said: %s", strings.Join(r.unsaid(c.Case), "; "))
	}
	if r.Ways[0].LossError > 0 {
		d.Fact("estimated", "errors are within %s %% of the true ones, all by the same factor or nearly",
			terminal.DecimalUp(100*r.Ways[0].LossError, 2))
	}
	for _, l := range r.LeftOut {
		d.Fact("left out", "%s: %s", l.Name, l.Reason)
	}
	return d
}

// caveats say what the ranking is by, and how it may mislead.
func (r *Advice) caveats(c *plan.Comparison) []document.Fact {
	best := c.Best()
	if best.Prospect == nil {
		return []document.Fact{{Name: "ranked", Value: "by the errors of models whose gradients do not react; a training forgets noise, so that " +
			"independent noise may be better: see --curvature, and docs/objective.md"}}
	}
	facts := []document.Fact{{Name: "predicted", Value: "of a quadratic loss, all nodes with the same second derivatives, no gradient clipped, and " +
		"without what batches differ by (docs/choosing.md)"}}
	say := func(when bool, text string) {
		if when {
			facts = append(facts, document.Fact{Name: "warning", Value: text})
		}
	}
	say(best.Total() >= c.Start(), "the model is better before any training: give more privacy budget, or more records")
	say(best.Steps == r.Steps && r.Steps > 1, "more steps than --T may be better still")
	return facts
}

// parametersText counts parameters of a model.
func parametersText(n int) string {
	if n == 1 {
		return "1 parameter"
	}
	return terminal.Grouped(n) + " parameters"
}

// wanted says the privacy.
func (r *Advice) wanted() string {
	switch {
	case r.Budgets != "":
		return "levels of the nodes (" + r.Budgets + ")"
	case r.Epsilon > 0:
		return fmt.Sprintf("(%v, %v)-DP", r.Epsilon, r.Delta)
	}
	return fmt.Sprintf("%v-GDP", r.Mu)
}

// unsaid says by which flags ways get a rank.
func (r *Advice) unsaid(c plan.Case) []string {
	var all []string
	if c.Secret == plan.Unsaid && slices.ContainsFunc(r.Ways,
		func(w AdvisedWay) bool { return w.Sampling != participation.InTurn.String() }) {
		all = append(all, "--sampling secret, if nodes can keep secret which records they draw")
	}
	if c.Collude == plan.Unsaid && slices.ContainsFunc(r.Ways,
		func(w AdvisedWay) bool { return w.Trust == threat.SecLDP.String() }) {
		all = append(all, "--trust secldp, if neighbours keep to themselves what they share")
	}
	return all
}

// table lists the ways.
func (r *Advice) table() document.Table {
	predicted := r.Ways[0].Prospect != nil
	t := document.Table{Caption: "Ways to make noise, by error", Header: []string{"rank", "way", "error", "of first"}}
	if predicted {
		t.Caption, t.Header[2] = "Ways to make noise, by predicted excess risk", "excess risk"
		t.Header = append(t.Header, "rate", "T")
	}
	t.Header = append(t.Header, "relies on", "a node keeps", "breaks by")
	t.Words = len(t.Header)
	for _, w := range r.Ways {
		rank, relies := "-", "nobody"
		if w.Rank > 0 {
			rank = strconv.Itoa(w.Rank)
		}
		if len(w.ReliesOn) > 0 {
			relies = strings.Join(w.ReliesOn, ", ")
		}
		keeps := terminal.Count(w.Floats, "number")
		if r.Dim > 0 {
			keeps = fmt.Sprintf("%d: %s", w.Floats, terminal.BytesText(w.MemoryBytes))
		}
		row := []string{rank, w.Name, terminal.GroupedWords(terminal.NumberUp(w.Cost())), fmt.Sprintf("%.4f", w.Ratio)}
		if predicted {
			row = append(row, fmt.Sprintf("%.4g", w.Rate), strconv.Itoa(w.Steps))
		}
		t.Rows = append(t.Rows, append(row, relies, keeps, strings.Join(w.BreaksBy, ", ")))
	}
	return t
}
