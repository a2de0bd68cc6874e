package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"mafalda/internal/parallel"
)

// ErrNoAnswer ends a command whose questions stay without an answer: the input has ended.
var ErrNoAnswer = errors.New("no answer: the input has ended")

// Questions asks a person at a terminal.
type Questions struct {
	ctx context.Context
	in  *bufio.Reader
	out io.Writer
}

// NewQuestions returns questions that are read from in and written to out, and that end with ctx.
func NewQuestions(ctx context.Context, in io.Reader, out io.Writer) *Questions {
	return &Questions{ctx, bufio.NewReader(in), out}
}

// CanAsk reports whether a person sits at both ends: in and out are terminals.
func CanAsk(in io.Reader, out io.Writer) bool {
	reader, readable := in.(*os.File)
	writer, writable := FileOf(out)
	return readable && writable && term.IsTerminal(int(reader.Fd())) && term.IsTerminal(int(writer.Fd()))
}

// Ask returns the answer to a question, the default for an empty line. What check refuses is asked again, with the
// reason. It fails with ErrNoAnswer at the end of the input, and with the cause of the context when that ends.
func (q *Questions) Ask(question, byDefault string, check func(answer string) error) (string, error) {
	for {
		fmt.Fprintf(q.out, "%s [%s] ", question, byDefault)
		line, err := parallel.Abandonable(q.ctx, func(context.Context) (string, error) { return q.in.ReadString('\n') })
		answer := strings.TrimSpace(line)
		if err != nil && answer == "" {
			fmt.Fprintln(q.out)
			if errors.Is(err, io.EOF) {
				err = Usage(ErrNoAnswer)
			}
			return "", err
		}
		if answer == "" {
			answer = byDefault
		}
		if err := check(answer); err != nil {
			fmt.Fprintf(q.out, "  %s\n", PlainLine(err.Error()))
			continue
		}
		return answer, nil
	}
}

// Yes asks a question whose answer is yes or no; no is the default.
func (q *Questions) Yes(question string) (bool, error) {
	answer, err := q.Ask(question+" (yes or no)", "no", func(answer string) error {
		if !strings.Contains(" y yes n no ", " "+strings.ToLower(answer)+" ") {
			return errors.New("yes or no?")
		}
		return nil
	})
	return strings.HasPrefix(strings.ToLower(answer), "y"), err
}
