package flags

import (
	"cmp"
	"embed"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/cmd/internal/terminal"
	"mafalda/internal/lists"
)

// pages are the help of the commands, a file each: the use line, with what is to be given for its word behind two blanks, a short
// and a long description, examples and, after "Flags:", what the flags are. help/groups has the flags that several commands have.
//
//	Privacy:                                   the heading for the flags below, in help
//	--clip  clip=1  positive                   a flag, the field that it fills, its default, and attributes, two blanks between them
//	    norm to which ...                      what help says of it
//	--output -o  Dir                           with a short name
//	--optimizer momentum  spec.Momentum        a part of the flag --optimizer
//	--optimizer  family                        which has only parts
//	--tolerance  tolerance~1e-6                the field stays 0 without the flag, which stands for what help shows
//	--seed                                     another text, default or attribute for a flag above
//	use  schema  schema                        all flags of groups/schema, for the field with this name
//	often  graph output                        the flags in the short help
//
// Attributes: words (that are offered, and meant where another one is given), file (it may name a file, too), other (the command refuses others), input (it names a
// file or folder that is read, unless it is one of these forms, or a number), complete (by a function), fills (fields of libraries
// besides the one named), was and also (other names), alone (its value where none is given), for and without (only if one of these flags is given, or none; or has a value, as trust=secldp), least,
// within, positive and share (ranges of numbers), once, array and bytes (kinds of values).
//
// {name} stands for one of the texts of this program.
//
//go:embed help
var pages embed.FS

// page returns a page with its texts filled in.
func page(name string) string {
	text, err := pages.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic(err) // no such page
	}
	return texts().Replace(string(text))
}

// Command returns the command of a page, whose flags fill fields of what f points to.
func Command(name string, f any, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	return newCommand(page(name), f, run)
}

// newCommand returns the command of the text of a page.
func newCommand(page string, f any, run func(cmd *cobra.Command, args []string) error) *cobra.Command {
	about, flags, _ := strings.Cut(page, "\nFlags:\n")
	about, examples, _ := strings.Cut(about, "\nExamples:\n")
	use, about, _ := strings.Cut(about, "\n")
	use, what, _ := strings.Cut(use, "  ")
	short, long, _ := strings.Cut(about, "\n")
	cmd := &cobra.Command{Use: use, Short: short, Long: strings.TrimSpace(long), Example: strings.TrimRight(examples, "\n")}
	switch {
	case what == "":
		cmd.Args = terminal.NoArgs
	case strings.HasSuffix(use, "..."):
		cmd.Args = terminal.Args(math.MaxInt, what)
	default:
		cmd.Args = terminal.Args(1, what)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := terminal.CheckFlags(cmd); err != nil {
			return err
		}
		return run(cmd, args)
	}
	b := &binder{cmd: cmd, only: map[string][2]string{}}
	if flags != "" {
		b.bind(flags, "", reflect.ValueOf(f))
	}
	b.families()
	return cmd
}

// binder makes the flags of a command.
type binder struct {
	cmd     *cobra.Command
	network *NetworkFlags        // if the command has one
	only    map[string][2]string // families of parts alone: what they are, and their heading
}

// bind makes the flags of a page for fields of a struct.
func (b *binder) bind(text, heading string, of reflect.Value) {
	switch group := of.Interface().(type) {
	case *NetworkFlags:
		group.cmd, b.network = b.cmd, group
	case *PushFlags:
		group.given = b.cmd.Flags().Changed
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\n    ", "\v"), "\n") {
		line, usage, _ := strings.Cut(line, "\v")
		columns := strings.Split(line+"  ", "  ")
		name, short, _ := strings.Cut(strings.TrimPrefix(columns[0], "--"), " -")
		usage = strings.ReplaceAll(usage, "\v", "\n")
		switch {
		case line == "":
		case strings.HasSuffix(line, ":"):
			heading = strings.TrimSuffix(line, ":")
		case name == "often":
			b.cmd.Annotations = map[string]string{terminal.Often: columns[1]}
		case name == "use":
			b.bind(page("groups/"+columns[1]), heading, field(of, columns[2]))
		case columns[1] == "family":
			b.only[name] = [2]string{usage, heading}
		default:
			f := b.flag(name, short, columns, of)
			f.Usage = cmp.Or(usage, f.Usage)
			if heading != "" && !strings.Contains(name, " ") {
				terminal.GroupFlags(b.cmd, heading, name)
			}
		}
	}
}

// field returns a pointer to the field with a path in what of points to; of itself for an empty path.
func field(of reflect.Value, path string) reflect.Value {
	for name := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '.' }) {
		at := of.Elem().FieldByName(name)
		of = reflect.NewAt(at.Type(), at.Addr().UnsafePointer()) // which may have a lower-case name
	}
	return of
}

var filling = regexp.MustCompile(`^([\w.]*)([=~]?)(.*)$`)

// flag makes a flag for the field of a struct, or changes one that is there.
func (b *binder) flag(name, short string, columns []string, of reflect.Value) *pflag.Flag {
	fl, parts := b.cmd.Flags(), filling.FindStringSubmatch(columns[1])
	path, how, value := parts[1], parts[2], parts[3]
	f := fl.Lookup(name)
	attributes := map[string][]string{}
	for _, attribute := range columns[2:] {
		key, text, _ := strings.Cut(attribute, " ")
		attributes[key] = strings.Split(text, ", ")
	}
	switch {
	case f == nil:
		p := field(of, path).Interface()
		if how == "=" {
			must(variable(pflag.NewFlagSet("", pflag.PanicOnError), p, name, "", attributes).Value.Set(value))
		}
		f = variable(fl, p, name, short, attributes)
		if c, is := f.Value.(*choice); is && how == "=" {
			c.word, f.DefValue = value, value
		}
		attributes[fills] = append(attributes[fills], path[strings.LastIndexByte(path, '.')+1:])
		f.Annotations = attributes
		if value := attributes["alone"]; value != nil {
			f.NoOptDefVal = value[0]
		}
		b.complete(f)
	case how == "=":
		must(f.Value.Set(value))
		f.DefValue = f.Value.String()
		fallthrough
	default:
		maps.Copy(f.Annotations, attributes)
	}
	if how == "~" {
		f.DefValue = value
	}
	return f
}

// must panics for an error: a page is wrong.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// variable makes a flag that fills a variable, whose value is its default.
func variable(fl *pflag.FlagSet, p any, name, short string, attributes map[string][]string) *pflag.Flag {
	switch p := p.(type) {
	case *bool:
		fl.BoolVarP(p, name, short, *p, "")
	case *string:
		if attributes["once"] != nil {
			fl.VarP(&terminal.Once{Text: p}, name, short, "")
		} else {
			fl.StringVarP(p, name, short, *p, "")
		}
	case *float64:
		if attributes["bytes"] != nil {
			fl.VarP((*terminal.ByteSize)(p), name, short, "")
		} else {
			fl.Float64VarP(p, name, short, *p, "")
		}
	case *int:
		fl.VarP((*terminal.WholeNumber)(p), name, short, "")
	case *uint64:
		fl.VarP((*terminal.SeedNumber)(p), name, short, "")
	case *time.Duration:
		fl.DurationVarP(p, name, short, *p, "")
	case *[]int:
		fl.VarP(&terminal.WholeNumbers{List: p}, name, short, "")
	case *[]string:
		if attributes["array"] != nil {
			fl.StringArrayVarP(p, name, short, *p, "")
		} else {
			fl.StringSliceVarP(p, name, short, *p, "")
		}
	case *[]float64:
		fl.Float64SliceVarP(p, name, short, *p, "")
		fl.Lookup(name).DefValue = strings.Join(lists.Map(*p, terminal.AsGiven), ",")
	case pflag.Value:
		fl.VarP(p, name, short, "")
	default:
		fl.VarP(&choice{of: reflect.ValueOf(p).Elem()}, name, short, "")
	}
	return fl.Lookup(name)
}

// choice is a flag for a value of an enumerated type, by its name. CheckFlags refuses other words.
type choice struct {
	of   reflect.Value
	word string
}

func (c *choice) String() string { return c.word }

// Type is the word for the value in help texts.
func (c *choice) Type() string { return "string" }

func (c *choice) Set(word string) error {
	c.word = word
	for i := range int64(20) { // more than a type has values
		if c.of.SetInt(i); fmt.Sprint(c.of) == word {
			return nil
		}
	}
	c.of.SetInt(0)
	return nil
}

// complete offers values of a flag.
func (b *binder) complete(f *pflag.Flag) {
	files := cobra.ShellCompDirectiveNoFileComp
	if f.Annotations["file"] != nil {
		files = cobra.ShellCompDirectiveDefault
	}
	if words := f.Annotations[terminal.Words]; words != nil {
		terminal.Complete(b.cmd, f.Name, cobra.FixedCompletions(words, files))
	}
	if by := f.Annotations["complete"]; by != nil {
		terminal.Complete(b.cmd, f.Name, map[string]cobra.CompletionFunc{"graphs": CompleteGraph, "rates": completeRates, "reactions": completeReactions,
			"exported": completeExported, "labels": CompleteLabels(b.network.Load)}[by[0]])
	}
}

// families puts flags together with their parts.
func (b *binder) families() {
	var names []string
	b.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if name, _, part := strings.Cut(f.Name, " "); part && !slices.Contains(names, name) {
			names = append(names, name)
		}
	})
	for _, name := range names {
		terminal.Family(b.cmd, name, b.only[name][0])
		if heading := b.only[name][1]; heading != "" {
			terminal.GroupFlags(b.cmd, heading, name)
		}
	}
}
