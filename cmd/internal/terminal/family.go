package terminal

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mafalda/internal/lists"
)

// A family is a flag whose value has parts: "KIND:key=value,key" or "key:value,key". Each part is a hidden flag of the
// command, which is called after both: "optimizer momentum". A family may be given several times; what is not given again stays.
type family struct {
	flags *pflag.FlagSet
	name  string
	keys  []string    // keys of the parts
	kind  pflag.Value // what comes first; nil for a family of parts alone
	given bool        // whether there is a kind
	said  string      // the kind, as it was typed
	about string      // usage, without its parts
}

// Family makes a family of a name of the command's flags that begin with it. A flag of this name, if there is one, is its kind;
// without one, about says what the family is.
func Family(cmd *cobra.Command, name, about string) {
	fl := cmd.Flags()
	f := &family{flags: fl, name: name}
	outer := fl.Lookup(name)
	if outer == nil {
		fl.Var(f, name, about)
		outer = fl.Lookup(name)
	} else {
		f.kind = outer.Value
		outer.Value = f
	}
	_, f.about = pflag.UnquoteUsage(outer)
	fl.VisitAll(func(part *pflag.Flag) {
		key, is := strings.CutPrefix(part.Name, name+" ")
		if !is {
			return
		}
		f.keys = append(f.keys, key)
		part.Hidden = true
		value, usage := pflag.UnquoteUsage(part)
		if value != "" {
			key += ":" + value
		}
		outer.Usage += "\n" + key + "  " + usage
		if value != "" && part.DefValue != "0" && part.DefValue != "" && !strings.Contains(usage, "default") {
			outer.Usage += " (default " + part.DefValue + ")"
		}
	})
	if f.kind == nil {
		Complete(cmd, name, f.complete)
	}
}

func isNumber(word string) bool { _, err := strconv.ParseFloat(word, 64); return err == nil }

// kindOf returns the value of a flag, of a family the kind.
func kindOf(flag *pflag.Flag) pflag.Value {
	if f, is := flag.Value.(*family); is {
		return f.kind
	}
	return flag.Value
}

// Given reports whether a flag is given, a family with its kind.
func Given(cmd *cobra.Command, name string) bool {
	flag := cmd.Flags().Lookup(name)
	if f, is := flag.Value.(*family); is {
		return f.given
	}
	return flag.Changed
}

// part returns the flag of a part; nil for a key that is none.
func (f *family) part(key string) *pflag.Flag { return f.flags.Lookup(f.name + " " + key) }

// Part is a word of a family's value: its kind, or what is given of a part, as key, separator and value.
type Part struct {
	Name   string // name of the flag; empty if the family has no such part
	Before string // the value, with its separator
	Value  string
	Alone  bool // the part has no value
}

// word returns what a word is about.
func (f *family) word(word string) Part {
	p, key := Part{Before: word, Alone: true}, word
	if at := strings.IndexAny(word, ":="); at >= 0 {
		p, key = Part{Before: word[:at+1], Value: word[at+1:]}, word[:at]
	}
	if part := f.part(key); part != nil {
		p.Name = part.Name
	}
	return p
}

// Parts returns the parts of a flag's value; of a flag that is no family the value itself.
func Parts(flag *pflag.Flag, text string) []Part {
	f, is := flag.Value.(*family)
	if !is {
		return []Part{{Name: flag.Name, Value: text}}
	}
	var all []Part
	words := strings.Split(text, ",")
	if f.kind != nil && f.word(words[0]).Name == "" {
		kind := words[0]
		words = words[1:]
		if head, rest, cut := strings.Cut(kind, ":"); cut && (f.word(rest).Name != "" || strings.Contains(rest, "=")) {
			kind, words = head, append([]string{rest}, words...)
		}
		for len(words) > 0 && isNumber(words[0]) { // a kind such as strongly-convex:0.1,0.01
			kind, words = kind+","+words[0], words[1:]
		}
		all = append(all, Part{Name: f.name, Value: kind})
	}
	return append(all, lists.Map(words, f.word)...)
}

func (f *family) Set(text string) error {
	for _, p := range Parts(f.flags.Lookup(f.name), text) {
		key := strings.TrimRight(p.Before, ":=")
		if p.Name == "" {
			return fmt.Errorf("there is no %q: it takes %s%s", key, strings.Join(f.keys, ", "), DidYouMean(key, f.keys))
		}
		if p.Name == f.name {
			if before := f.kind.String(); f.given && p.Value != f.said {
				return fmt.Errorf("is %s before: only one is taken", before)
			}
			if err := f.kind.Set(p.Value); err != nil {
				return err
			}
			f.given, f.said = true, p.Value
			continue
		}
		part := f.flags.Lookup(p.Name)
		if p.Alone {
			p.Value = part.NoOptDefVal
		}
		if p.Value == "" && p.Alone {
			return fmt.Errorf("%s needs a value, as in --%s %s:%s", key, f.name, key, strings.ToUpper(key))
		}
		if err := part.Value.Set(p.Value); err != nil {
			return fmt.Errorf("%s %q: %w", key, p.Value, err)
		}
		part.Changed = true
	}
	return nil
}

// String returns what is given, as it may be typed.
func (f *family) String() string {
	text, between := "", ""
	if f.kind != nil {
		if text = f.kind.String(); text != "" {
			if between = ":"; text[0] <= '9' {
				between = ","
			}
		}
	}
	if f.flags == nil || text != "" && !f.given && !f.flags.Changed(f.name) {
		return text
	}
	for _, key := range f.keys {
		part := f.part(key)
		if !part.Changed {
			continue
		}
		if value := part.Value.String(); value != part.NoOptDefVal {
			key += "=" + value
		}
		text += between + key
		between = ","
	}
	return text
}

// Type is the word for the value in help texts.
func (f *family) Type() string {
	if f.kind == nil {
		return "parts"
	}
	return f.kind.Type()
}

// complete offers keys.
func (f *family) complete(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	before := start[:strings.LastIndexByte(start, ',')+1]
	return lists.Map(f.keys, func(key string) string { return before + key }), cobra.ShellCompDirectiveNoSpace
}
