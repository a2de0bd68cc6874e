package engine

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"mafalda/cmd/internal/grids"
	"mafalda/cmd/internal/terminal"
)

// mostAnswer is the size of an answer that no cell has, in bytes.
const mostAnswer = 1 << 30

// answer is what a worker has to say of a cell.
type answer struct {
	Cell   json.RawMessage `json:"cell"`
	Result json.RawMessage `json:"result,omitempty"` // nil with an error
	Error  string          `json:"error,omitempty"`
	Usage  bool            `json:"usage,omitempty"` // the error is one that the user can mend
	Notes  string          `json:"notes,omitempty"` // notes for people
}

// desk is where workers get the job and bring results. It speaks HTTP, to those who know the token.
type desk struct {
	url, token string
	job        []byte
	grid       *grids.Grid
	server     *http.Server
	ctx        context.Context

	mu     sync.Mutex
	wanted map[string]bool // cells without an answer
	done   int
	failed error // the first
	closed bool
}

// openDesk listens on an address, host:port; workers find it there. Port 0 is any that is free.
func openDesk(ctx context.Context, address string, job []byte, g *grids.Grid) (*desk, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port // of a TCP listener
	d := &desk{url: "http://" + net.JoinHostPort(host, fmt.Sprint(port)), token: rand.Text(), job: job, grid: g, ctx: ctx,
		wanted: map[string]bool{}, done: g.Total - len(g.Cells)}
	for _, c := range g.Cells {
		d.wanted[string(c)] = true
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /job", d.giveJob)
	routes.HandleFunc("POST /wanted", d.tellWanted)
	routes.HandleFunc("POST /answers", d.takeAnswer)
	d.server = &http.Server{Handler: d.authenticate(routes), ReadHeaderTimeout: time.Minute}
	go func() { _ = d.server.Serve(l) }() // ends with close
	return d, nil
}

// close ends the desk: what comes later is lost, and computed again when the command is run again.
func (d *desk) close() {
	_ = d.server.Close() // workers get no more answers
	d.mu.Lock()          // what is being kept is kept
	defer d.mu.Unlock()
	d.closed = true
}

// authenticate lets those pass who know the token.
func (d *desk) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), []byte("Bearer "+d.token)) != 1 {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (d *desk) giveJob(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(d.job) }

// tellWanted says whether a cell still has no answer: 200, or 204. Nothing is wanted once the command has been stopped.
func (d *desk) tellWanted(w http.ResponseWriter, r *http.Request) {
	cell, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostAnswer))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ctx.Err() != nil || !d.wanted[string(cell)] {
		w.WriteHeader(http.StatusNoContent)
	}
}

// takeAnswer keeps a result, or why it is missing.
func (d *desk) takeAnswer(w http.ResponseWriter, r *http.Request) {
	var a answer
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostAnswer)).Decode(&a); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || !d.wanted[string(a.Cell)] { // too late, or a second answer
		return
	}
	delete(d.wanted, string(a.Cell))
	fmt.Fprint(d.grid.Says, a.Notes)
	if err := d.keep(a); err != nil && d.failed == nil {
		d.failed = err
	}
	d.done++
	d.grid.Progress(d.done, d.grid.Total)
}

func (d *desk) keep(a answer) error {
	if a.Error == "" {
		return d.grid.Keep(context.WithoutCancel(d.ctx), a.Cell, a.Result)
	}
	failed := errors.New(a.Error)
	if a.Usage {
		failed = terminal.Usage(failed)
	}
	return errors.Join(failed, d.grid.Fail(a.Cell, failed))
}

// outcome is the first error about a cell.
func (d *desk) outcome() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}
