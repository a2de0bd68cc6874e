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

// advised is what the page of advice is filled with.
type advised struct {
	*Advice
	Compared *plan.Comparison
	Front    *plan.MemoryFront // nil: it was not asked for
}

var advicePage = document.Page[advised](pages, "advice")

// Document says what is advised.
func (r *Advice) Document(c *plan.Comparison, front *plan.MemoryFront) *document.Document {
	return advicePage(advised{r, c, front})
}

// WorkloadFacts say what is trained.
func (a advised) WorkloadFacts() []document.Fact {
	return flags.WorkloadFacts(a.Compared.Case.Problem.Workload)
}

// Curves says how the loss curves.
func (a advised) Curves() string {
	s := a.Compared.Case.Training
	return fmt.Sprintf("curves by %.3g to %.3g in %.6g directions", slices.Min(s.X), slices.Max(s.X), floats.Sum(s.Directions))
}

// Unsaid says by which flags ways get a rank; nil if all have one.
func (a advised) Unsaid() (all []string) {
	has := func(of func(w AdvisedWay) bool) bool { return slices.ContainsFunc(a.Ways, of) }
	if !has(func(w AdvisedWay) bool { return w.Rank == 0 }) {
		return nil
	}
	secret := has(func(w AdvisedWay) bool { return w.Sampling != participation.InTurn.String() })
	if a.Compared.Case.Secret == plan.Unsaid && secret {
		all = append(all, "--sampling secret, if nodes can keep secret which records they draw")
	}
	shared := has(func(w AdvisedWay) bool { return w.Trust == threat.SecLDP.String() })
	if a.Compared.Case.Collude == plan.Unsaid && shared {
		all = append(all, "--trust secldp, if neighbours keep to themselves what they share")
	}
	return all
}

// Taken reports whether a choice is one to take.
func (a advised) Taken(c plan.Choice) bool { return c == a.Front.Best || c == a.Front.BestInTurn }

// Near is how far above the least an error is that is good enough, in percent.
func (a advised) Near() string { return fmt.Sprintf("%.0f", 100*(plan.Near-1)) }

// MaxBuffers is the number of buffers of the largest choices.
func (a advised) MaxBuffers() int { return plan.MaxBuffers }
