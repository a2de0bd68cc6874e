package commands

import (
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/noise"
	"mafalda/noise/serve"
)

type noiseServeFlags struct {
	nodeFlags
	row                       int
	socket, listen, tokenFile string
}

func (f *noiseServeFlags) run(cmd *cobra.Command) (err error) {
	dir := cmd.Flags().Arg(0)
	if err := f.check(cmd, dir); err != nil {
		return err
	}
	at := f.place()
	if cmd.Flags().Changed("row") {
		at.Row = &f.row
	}
	l, options, err := f.listener() // before there is a new state
	if err != nil {
		return terminal.Usage(err)
	}
	defer l.Close()
	notes := cmd.ErrOrStderr()
	fmt.Fprintf(notes, "opening %s\n", f.state.Path) // at once: rows may take long to be made again
	issuer, err := noise.OpenIssuer(dir, f.node, f.dim, at, f.options(cmd))
	if err != nil {
		return terminal.Usage(err)
	}
	ctx, stop := terminal.Interruptible(cmd.Context()) // before, while rows are made again, a signal ends the program at once
	defer stop()
	defer func() { err = errors.Join(err, issuer.Close()) }()
	s := issuer.Stream()
	switch {
	case cmd.Flags().Changed("seed"):
		fmt.Fprintln(notes, "warning: noise from a seed is reproducible by everybody: it is NOT private")
	case s.Check():
		fmt.Fprintln(notes, "warning: rows of a check have no noise of the node's own: they are NOT private")
	case s.Condition() != "":
		fmt.Fprintln(notes, s.Condition())
	}
	fmt.Fprintf(notes, "%q, step %d of 0..%d is next\n", s.Node(), issuer.Standing().Next, s.Steps()-1)
	noteSpent(notes, s)
	if _, err := fmt.Fprintf(terminal.Verbatim(cmd.OutOrStdout()), "listening on %s\n", serve.Address(l)); err != nil {
		return err
	}
	if err := serve.Serve(ctx, l, issuer, options); err != nil {
		return fmt.Errorf("serving ended: %w", err)
	}
	fmt.Fprintf(notes, "ended; step %d is next\n", issuer.Standing().Next)
	noteSpent(notes, s)
	return nil
}

// noteSpent writes what is spent to a log, unless the noise protects nothing.
func noteSpent(notes io.Writer, s interface{ SpentLine() string }) {
	if line := s.SpentLine(); line != "" {
		fmt.Fprintln(notes, line)
	}
}

// check finds wrong flags before anything is opened.
func (f *noiseServeFlags) check(cmd *cobra.Command, dir string) error {
	if err := f.checkNumbers(cmd); err != nil {
		return err
	}
	switch {
	case f.state.Path == "":
		return terminal.Usagef("which rows were handed out must survive a crash: name a file with --state")
	case (f.socket == "") == (f.listen == ""):
		return terminal.Usagef("where to listen? Use --socket PATH or --listen 127.0.0.1:PORT")
	case f.listen != "" && f.tokenFile == "":
		return terminal.Usagef("--listen %s is open to all users of this machine: name a file with a token: --listen %[1]s,token-file=FILE",
			f.listen)
	}
	return f.checkPlaces(dir, map[string]string{"--socket": f.socket, "--listen token-file": f.tokenFile})
}

func (f *noiseServeFlags) listener() (net.Listener, serve.Options, error) {
	if f.socket != "" {
		l, err := serve.ListenUnix(f.socket)
		return l, serve.Options{}, err
	}
	token, err := serve.ReadToken(f.tokenFile)
	if err != nil {
		return nil, serve.Options{}, err
	}
	l, err := serve.ListenLoopback(f.listen)
	return l, serve.Options{Token: token}, err
}
