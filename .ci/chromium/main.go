// Command chromium opens a report in a headless Chromium, as its reader would: with a mouse, a keyboard, a narrow screen,
// a dark one, and a printer.
//
//	chromium REPORT.html FOLDER
//
// Pictures of what was seen, and the printed PDF, are written to the folder. Any error of the page, anything that it asks
// the network for, and anything that does not answer ends with exit code 1.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	browserlog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: chromium REPORT.html FOLDER")
	}
	if err := visit(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// visit does what a reader does.
func visit(report, folder string) error {
	path, err := filepath.Abs(report)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	patient, stop := context.WithTimeoutCause(context.Background(), 10*time.Minute, errors.New("chromium does not answer"))
	defer stop()
	browser, end := chromedp.NewExecAllocator(patient, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox,
		chromedp.DisableGPU)...)
	defer end()
	var heard wrong
	ctx, leave := chromedp.NewContext(browser, chromedp.WithListener(heard.listen))
	defer leave()
	if err := see(ctx, (&url.URL{Scheme: "file", Path: path}).String(), folder); err != nil {
		return errors.Join(err, context.Cause(patient))
	}
	return heard.err()
}

// see opens a page on several screens, uses it, and prints it.
func see(ctx context.Context, address, folder string) error {
	focus := emulation.SetFocusEmulationEnabledParams{Enabled: true} // as if the window were in front
	if err := chromedp.Do(ctx, call(network.Enable, network.EnableParams{}),
		call(emulation.SetFocusEmulationEnabled, focus)); err != nil {
		return err
	}
	for _, screen := range []struct {
		name, scheme string
		width        int64
	}{{"light", "light", 1200}, {"dark", "dark", 1200}, {"narrow", "light", 360}} {
		colours := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: screen.scheme}}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(screen.width, 900),
			call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: colours}), chromedp.Navigate(address),
			wait(`document.readyState === "complete" && document.body.classList.contains("live")`),
			must(fmt.Sprintf("%s: the page is not wider than %d", screen.name, screen.width),
				"document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
			use(), save(filepath.Join(folder, screen.name+".png"), chromedp.FullScreenshot(100))); err != nil {
			return fmt.Errorf("%s: %w", screen.name, err)
		}
	}
	printed := chromedp.PrintToPDF(chromedp.PDFPrintBackground())
	if err := chromedp.Do(ctx, save(filepath.Join(folder, "report.pdf"), printed)); err != nil {
		return err
	}
	fmt.Println("ok: prints")
	return nil
}

// step is something that is done in the browser.
type step = chromedp.Action[chromedp.Void]

// call sends a command of the protocol.
func call[P, R any](command cdp.Command[P, R], params P) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

// wait waits until an expression is true.
func wait(expression string) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.Poll[bool](expression)(ctx, t)
		return err
	})
}

// wrong collects what must not happen: errors of the page, and requests to the network.
type wrong struct {
	mu  sync.Mutex
	all []string
}

func (w *wrong) listen(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown, *browserlog.EventEntryAdded:
		text, _ := json.Marshal(e) // what came as JSON
		w.all = append(w.all, string(text))
	case *network.EventRequestWillBeSent:
		if scheme, _, _ := strings.Cut(e.Request.URL, ":"); scheme != "file" && scheme != "data" && scheme != "about" {
			w.all = append(w.all, "asks for "+e.Request.URL)
		}
	}
}

func (w *wrong) err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.all) > 0 {
		return fmt.Errorf("the page is not as it should be:\n%s", strings.Join(w.all, "\n"))
	}
	return nil
}

// must fails unless an expression is true.
func must(what, expression string) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		ok, err := chromedp.Evaluate[bool]("!!("+expression+")")(ctx, t)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", what, err)
		case !ok:
			return fmt.Errorf("not so: %s (%s)", what, expression)
		}
		fmt.Println("ok:", what)
		return nil
	})
}

// save writes what is drawn to a file.
func save(path string, draw chromedp.Action[[]byte]) step {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		content, err := draw(ctx, t)
		switch {
		case err != nil:
			return err
		case len(content) < 1000:
			return fmt.Errorf("%s: %d bytes", path, len(content))
		}
		return os.WriteFile(path, content, 0o666)
	})
}

// use chooses attackers on the map, and reads an entry of C and a mark of a chart.
func use() step {
	const begin = `window.map = document.querySelector(".map"); window.before = map.querySelector("select").value`
	run := chromedp.Evaluate[chromedp.Void]
	return chromedp.Steps(
		must("the map has a chosen attacker", `document.querySelector(".map .self")`),
		run(begin),
		chromedp.Click(chromedp.CSS(".map .node:not(.self)")),
		must("a click on another node chooses it",
			`map.querySelector("select").value !== before && map.querySelector("output").textContent !== ""`),
		must("the table beside it is that of the attacker",
			`map.querySelector(".most caption").textContent.includes(map.querySelector("select").selectedOptions[0].text)`),
		run(begin+`; map.querySelector("svg").focus()`),
		chromedp.KeyEvent(kb.ArrowLeft+kb.ArrowRight+kb.ArrowRight+kb.ArrowUp+kb.ArrowUp+kb.Enter),
		must("arrows and Enter choose another", `map.querySelector("select").value !== before`),
		run(`document.querySelector("canvas").focus()`),
		chromedp.KeyEvent(kb.ArrowDown+kb.ArrowRight),
		must("an entry of C can be read with the keyboard",
			`/row 1, column 1: C = -?[0-9.e-]+, C⁻¹ = -?[0-9.e-]+/.test(document.querySelector(".matrices output").textContent)`),
		run(`document.querySelector("[data-says]").focus()`),
		must("a mark of a chart says its numbers",
			`!document.getElementById("tip").hidden && document.getElementById("tip").textContent.length > 5`))
}
