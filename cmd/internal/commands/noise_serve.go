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

func newNoiseServeCmd() *cobra.Command {
	var f noiseServeFlags
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Serve a node's noise step by step to its trainer",
		Long: `Serve the noise of a node to its trainer, on a Unix socket or a loopback address: a request names a step and gets its
row, in float64 or float32, whole or a range of it. Nothing is drawn before it is asked for. The same step again is the
same row, bit for bit, also after a crash of either side, until the next one is asked for; every earlier step is refused.
A step whose message certainly never left can be declared unsent: its row is added to the next one. The protocol is in
docs/noise.md; the Python package speaks it.

Where it listens is said in one line on standard output: 'listening on PATH'. It ends with Ctrl-C or SIGTERM, and keeps
its place in the state, as 'mafalda noise' does.

A socket is for its owner alone. A loopback address is open to all users of the machine, so that both sides have to
prove that they know the token in a file, which is made if it is not there. Rows are not encrypted: whoever may read
the packets of the machine, as root may, reads them. Other addresses are refused; for another machine, tunnel a socket
by ssh.`,
		Example: `  mafalda noise serve out --node Medici --dim 99 --state medici.state --new --socket medici.sock
  mafalda noise serve out --node Medici --dim 99 --state medici.state --socket medici.sock          # from then on
  mafalda noise serve out --node Medici --dim 99 --state medici.state --listen 127.0.0.1:7070,token-file=medici.token`,
		Args: terminal.ExactArgs(1, "one folder"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.bind(cmd)
	fl := cmd.Flags()
	terminal.Whole(fl, &f.row, "row", "the step that has to be next: fail if another one is")
	fl.StringVar(&f.socket, "socket", "", "listen on a Unix socket at this `path`")
	fl.StringVar(&f.listen, "listen", "", "listen on this loopback `address`, 127.0.0.1:PORT; port 0: one that is free")
	fl.StringVar(&f.tokenFile, "listen token-file", "", "`file` with the token, made if it is missing")
	terminal.Family(cmd, "listen", "")
	return cmd
}

func (f *noiseServeFlags) run(cmd *cobra.Command, dir string) (err error) {
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
	case f.listen == "" && f.tokenFile != "":
		return terminal.Usagef("--listen token-file: where? A socket is for its owner alone")
	case f.row < 0:
		return terminal.Usagef("--row %d: steps are counted from 0", f.row)
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
