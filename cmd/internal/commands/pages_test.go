package commands

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"
	"text/template/parse"

	"mafalda/cmd/internal/document"
)

// What stands in the holes of the pages is there in the data that they are filled with, whatever branch is taken: fields and
// methods, arguments of functions, and numbers of one kind where they are compared. No pointer is printed as an address, or
// taken for the truth value that it points to.
func TestPages(t *testing.T) {
	for name, page := range document.Kinds() {
		c := &pageChecker{t: t, page: name, all: page.Template(), vars: map[string]reflect.Type{"$": page.Data}}
		c.list(c.all.Root, page.Data)
	}
}

// pageChecker follows the types of a page.
type pageChecker struct {
	t    *testing.T
	page string
	all  *template.Template
	vars map[string]reflect.Type
}

func (c *pageChecker) fail(at parse.Node, format string, args ...any) {
	c.t.Errorf("%s: %v: %s", c.page, at, fmt.Sprintf(format, args...))
}

func (c *pageChecker) list(nodes *parse.ListNode, dot reflect.Type) {
	if nodes == nil {
		return
	}
	for _, n := range nodes.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			c.pipe(n.Pipe, dot)
		case *parse.IfNode:
			c.truth(n.Pipe, c.pipe(n.Pipe, dot))
			c.list(n.List, dot)
			c.list(n.ElseList, dot)
		case *parse.WithNode:
			of := c.pipe(n.Pipe, dot)
			c.list(n.List, of)
			c.list(n.ElseList, dot)
		case *parse.RangeNode:
			c.list(n.List, c.elements(n, dot))
			c.list(n.ElseList, dot)
		case *parse.TemplateNode:
			at := c.all.Lookup(n.Name)
			if at == nil {
				c.fail(n, "no such template")
				continue
			}
			of := reflect.Type(nil)
			if n.Pipe != nil {
				of = c.pipe(n.Pipe, dot)
			}
			(&pageChecker{c.t, c.page + "/" + n.Name, c.all, map[string]reflect.Type{"$": of}}).list(at.Root, of)
		}
	}
}

// elements returns the type of what a range goes over, and declares its variables.
func (c *pageChecker) elements(n *parse.RangeNode, dot reflect.Type) reflect.Type {
	declared := n.Pipe.Decl
	n.Pipe.Decl = nil
	of := c.pipe(n.Pipe, dot)
	n.Pipe.Decl = declared
	if of == nil {
		return nil
	}
	key, element := reflect.TypeFor[int](), of
	switch of.Kind() {
	case reflect.Slice, reflect.Array:
		element = of.Elem()
	case reflect.Map:
		key, element = of.Key(), of.Elem()
	case reflect.Int:
	default:
		c.fail(n.Pipe, "range over %v", of)
	}
	for i, v := range declared {
		c.vars[v.Ident[0]] = []reflect.Type{key, element}[i+2-len(declared)]
	}
	return element
}

// truth rejects pointers to truth values, which are true if they are there.
func (c *pageChecker) truth(at parse.Node, of reflect.Type) {
	if of != nil && of.Kind() == reflect.Pointer && of.Elem().Kind() == reflect.Bool {
		c.fail(at, "the truth of a %v", of)
	}
}

// pipe returns the type of a pipe; nil where it is not known.
func (c *pageChecker) pipe(p *parse.PipeNode, dot reflect.Type) (of reflect.Type) {
	for i, command := range p.Cmds {
		of = c.command(command, dot, of, i > 0)
	}
	for _, v := range p.Decl {
		c.vars[v.Ident[0]] = of
	}
	return of
}

func (c *pageChecker) command(n *parse.CommandNode, dot, last reflect.Type, piped bool) reflect.Type {
	args := []reflect.Type{}
	for _, a := range n.Args[1:] {
		args = append(args, c.arg(a, dot))
	}
	if piped {
		args = append(args, last)
	}
	if f, is := n.Args[0].(*parse.IdentifierNode); is {
		return c.function(n, f.Ident, args)
	}
	return c.argWith(n.Args[0], dot, args)
}

func (c *pageChecker) arg(n parse.Node, dot reflect.Type) reflect.Type { return c.argWith(n, dot, nil) }

func (c *pageChecker) argWith(n parse.Node, dot reflect.Type, args []reflect.Type) reflect.Type {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return c.chain(n, dot, n.Ident, args)
	case *parse.VariableNode:
		return c.chain(n, c.vars[n.Ident[0]], n.Ident[1:], args)
	case *parse.ChainNode:
		return c.chain(n, c.arg(n.Node, dot), n.Field, args)
	case *parse.PipeNode:
		return c.pipe(n, dot)
	case *parse.StringNode:
		return reflect.TypeFor[string]()
	case *parse.BoolNode:
		return reflect.TypeFor[bool]()
	case *parse.NumberNode:
		if strings.ContainsAny(n.Text, ".e") {
			return reflect.TypeFor[float64]()
		}
		return reflect.TypeFor[int]()
	case *parse.IdentifierNode:
		return c.function(n, n.Ident, nil)
	}
	return nil
}

// chain returns the type at the end of a chain of fields and methods.
func (c *pageChecker) chain(at parse.Node, of reflect.Type, names []string, args []reflect.Type) reflect.Type {
	for i, name := range names {
		if of == nil {
			return nil
		}
		var with []reflect.Type
		if i == len(names)-1 {
			with = args
		}
		method, is := of.MethodByName(name)
		if !is && of.Kind() != reflect.Pointer && of.Kind() != reflect.Interface {
			method, is = reflect.PointerTo(of).MethodByName(name)
		}
		if is {
			first := 1
			if of.Kind() == reflect.Interface {
				first = 0
			}
			of = c.call(at, method.Type, first, with)
			continue
		}
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct {
			c.fail(at, "%v has no %s", of, name)
			return nil
		}
		field, is := of.FieldByName(name)
		if !is || !field.IsExported() {
			c.fail(at, "%v has no field %s", of, name)
			return nil
		}
		of = field.Type
	}
	return of
}

// call compares the arguments of a function with its parameters from first on, and returns the type of its result.
func (c *pageChecker) call(at parse.Node, f reflect.Type, first int, args []reflect.Type) reflect.Type {
	if n := f.NumIn() - first; len(args) != n && !f.IsVariadic() {
		c.fail(at, "%d arguments, of %d", len(args), n)
		return f.Out(0)
	}
	for i, a := range args {
		to := f.In(min(first+i, f.NumIn()-1))
		if f.IsVariadic() && first+i >= f.NumIn()-1 {
			to = to.Elem()
		}
		number := a == reflect.TypeFor[int]() && (to.Kind() == reflect.Float64 || to.Kind() == reflect.Int)
		if a == nil || number && isConstant(at, i) {
			continue
		}
		pointed := a.Kind() == reflect.Pointer && a.Elem().AssignableTo(to)
		if !a.AssignableTo(to) && !pointed {
			c.fail(at, "argument %d is %v, not %v", i, a, to)
		}
	}
	return f.Out(0)
}

// isConstant reports whether an argument of a command is a number.
func isConstant(at parse.Node, i int) bool {
	n, is := at.(*parse.CommandNode)
	if !is || i+1 >= len(n.Args) {
		return false
	}
	_, is = n.Args[i+1].(*parse.NumberNode)
	return is
}

// function returns the type of the result of a function.
func (c *pageChecker) function(at parse.Node, name string, args []reflect.Type) reflect.Type {
	kindOf := func(i int) reflect.Kind {
		if i >= len(args) || args[i] == nil {
			return reflect.Invalid
		}
		return args[i].Kind()
	}
	switch name {
	case "not", "and", "or":
		for _, a := range args {
			c.truth(at, a)
		}
		if name == "not" {
			return reflect.TypeFor[bool]()
		}
		return args[len(args)-1]
	case "len":
		return reflect.TypeFor[int]()
	case "slice":
		return args[0]
	case "index":
		if k := kindOf(0); k == reflect.Slice || k == reflect.Map {
			return args[0].Elem()
		}
		return nil
	case "eq", "ne", "lt", "le", "gt", "ge":
		for i := range args {
			kind := kindOf(i)
			known := kind != reflect.Invalid && kindOf(0) != reflect.Invalid
			if kind == reflect.Pointer || known && kind != kindOf(0) {
				c.fail(at, "compares %v", args)
			}
		}
		return reflect.TypeFor[bool]()
	case "printf":
		verbs := []rune{}
		if n, is := at.(*parse.CommandNode); is {
			format := strings.ReplaceAll(n.Args[1].(*parse.StringNode).Text, "%%", "")
			for _, part := range strings.Split(format, "%")[1:] {
				verbs = append(verbs, rune(part[strings.IndexAny(part, "vsdfgeqx")]))
			}
		}
		if len(verbs) != len(args)-1 {
			c.fail(at, "%d verbs for %d arguments", len(verbs), len(args)-1)
		}
		for i, verb := range verbs {
			kinds := map[rune][]reflect.Kind{'d': {reflect.Int, reflect.Uint64}, 's': {reflect.String}, 'g': {reflect.Float64},
				'f': {reflect.Float64}, 'e': {reflect.Float64}, 'q': {reflect.String}}[verb]
			if k := kindOf(i + 1); k == reflect.Pointer || k != reflect.Invalid && kinds != nil && !slices.Contains(kinds, k) {
				c.fail(at, "%%%c of a %v", verb, args[i+1])
			}
		}
		return reflect.TypeFor[string]()
	}
	f, is := document.Functions()[name]
	if !is {
		c.fail(at, "no such function")
		return nil
	}
	return c.call(at, reflect.TypeOf(f), 0, args)
}
