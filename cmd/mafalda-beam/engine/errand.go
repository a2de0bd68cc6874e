package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// errand is how a worker reaches the desk.
type errand struct {
	URL, Token string
}

// Tries of what may fail because of the network, with a pause in between that doubles.
const (
	tries      = 4
	firstPause = time.Second / 2
)

// do sends a request until there is an answer to it.
func (e errand) do(ctx context.Context, method, path string, body []byte) (status int, content []byte, err error) {
	pause := firstPause
	for i := range tries {
		if status, content, err = e.once(ctx, method, path, body); err == nil {
			break
		}
		if i < tries-1 {
			select {
			case <-ctx.Done():
				return 0, nil, ctx.Err()
			case <-time.After(pause):
				pause *= 2
			}
		}
	}
	switch {
	case err != nil:
		return 0, nil, fmt.Errorf("the program with the command cannot be reached: %w", err)
	case status >= http.StatusMultipleChoices:
		return 0, nil, fmt.Errorf("%s%s: %d, %s", e.URL, path, status, bytes.TrimSpace(content))
	}
	return status, content, nil
}

// direct is the client of all errands. It goes through no proxy, which would see the token and the data.
var direct = sync.OnceValue(func() *http.Client {
	t := &http.Transport{}
	if ordinary, ok := http.DefaultTransport.(*http.Transport); ok {
		t = ordinary.Clone()
	}
	t.Proxy = nil
	return &http.Client{Transport: t}
})

func (e errand) once(ctx context.Context, method, path string, body []byte) (int, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, e.URL+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+e.Token)
	w, err := direct().Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer w.Body.Close()
	content, err := io.ReadAll(w.Body)
	return w.StatusCode, content, err
}

// job fetches the job.
func (e errand) job(ctx context.Context) ([]byte, error) {
	_, content, err := e.do(ctx, http.MethodGet, "/job", nil)
	return content, err
}

// wanted asks whether a cell is.
func (e errand) wanted(ctx context.Context, cell string) (bool, error) {
	status, _, err := e.do(ctx, http.MethodPost, "/wanted", []byte(cell))
	return status == http.StatusOK, err
}

// bring brings an answer.
func (e errand) bring(ctx context.Context, a answer) error {
	body, err := json.Marshal(a)
	if err == nil {
		_, _, err = e.do(ctx, http.MethodPost, "/answers", body)
	}
	return err
}
