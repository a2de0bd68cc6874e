package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"mafalda/internal/files"
)

func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// WriteJSON writes one object over several lines.
func WriteJSON(w io.Writer, v any) error {
	e := json.NewEncoder(Verbatim(w))
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// WriteJSONLine writes one object in a line.
func WriteJSONLine(w io.Writer, v any) error { return json.NewEncoder(Verbatim(w)).Encode(v) }

// UsageIfExists makes an error about existing files one of usage.
func UsageIfExists(err error) error {
	if errors.Is(err, files.ErrExists) {
		return Usage(err)
	}
	return err
}
