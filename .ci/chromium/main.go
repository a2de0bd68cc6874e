// Command chromium opens a report in a headless Chromium, as its reader would: with a mouse, a keyboard, a narrow screen,
// a dark one, and a printer. It speaks the DevTools protocol over a pipe.
//
//	go run .ci/chromium/main.go REPORT.html FOLDER
//
// Pictures of what was seen, and the printed PDF, are written to the folder. Any error of the page, anything that it asks
// the network for, and anything that does not answer ends with exit code 1.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// browser is a page of a running Chromium.
type browser struct {
	to      io.WriteCloser
	from    *bufio.Reader
	session string
	next    int
	wrong   []string // errors of the page, requests to the network
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct{ Message string }
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: chromium REPORT.html FOLDER")
	}
	if err := visit(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// start runs Chromium with an empty profile; stop ends it.
func start() (b *browser, stop func(), err error) {
	profile, err := os.MkdirTemp("", "chromium")
	if err != nil {
		return nil, nil, err
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
		"--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, theirAnswers} // 3 and 4
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	theirs.Close()
	theirAnswers.Close()
	stop = func() {
		ours.Close()
		if err := cmd.Process.Kill(); err == nil {
			_ = cmd.Wait()
		}
		os.RemoveAll(profile)
	}
	time.AfterFunc(10*time.Minute, func() { log.Fatal("chromium does not answer") })
	b = &browser{to: ours, from: bufio.NewReader(answers)}
	var target struct{ TargetID string }
	if err := b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		stop()
		return nil, nil, err
	}
	var attached struct{ SessionID string }
	err = b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		err = errors.Join(err, b.call(domain+".enable", nil, nil))
	}
	focus := map[string]any{"enabled": true} // as if the window were in front
	err = errors.Join(err, b.call("Emulation.setFocusEmulationEnabled", focus, nil))
	if err != nil {
		stop()
		return nil, nil, err
	}
	return b, stop, nil
}

// call sends a command and waits for its result.
func (b *browser) call(method string, params, into any) error {
	b.next++
	text, err := json.Marshal(map[string]any{"id": b.next, "method": method, "params": params, "sessionId": b.session})
	if err != nil {
		return err
	}
	if b.session == "" {
		text, err = json.Marshal(map[string]any{"id": b.next, "method": method, "params": params})
	}
	if err != nil {
		return err
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		return err
	}
	for {
		m, err := b.read()
		switch {
		case err != nil:
			return err
		case m.ID != b.next:
			continue
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case into == nil:
			return nil
		}
		return json.Unmarshal(m.Result, into)
	}
}

// read returns the next message, and notes what must not happen.
func (b *browser) read() (m message, err error) {
	text, err := b.from.ReadBytes(0)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m); err != nil {
		return m, err
	}
	switch m.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.wrong = append(b.wrong, string(m.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		err = json.Unmarshal(m.Params, &p)
		if u := p.Request.URL; !strings.HasPrefix(u, "file:") && !strings.HasPrefix(u, "data:") && !strings.HasPrefix(u, "about:") {
			b.wrong = append(b.wrong, "asks for "+u)
		}
	}
	return m, err
}

// eval returns the value of an expression as JSON has it.
func (b *browser) eval(expression string, into any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails any
	}
	err := b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	if err == nil && r.ExceptionDetails != nil {
		err = fmt.Errorf("%s: %v", expression, r.ExceptionDetails)
	}
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(r.Result.Value, into)
}

// must fails unless the expression is true.
func (b *browser) must(what, expression string) error {
	var ok bool
	if err := b.eval("!!("+expression+")", &ok); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if !ok {
		return fmt.Errorf("not so: %s (%s)", what, expression)
	}
	fmt.Println("ok:", what)
	return nil
}

// open loads the page on a screen of this width.
func (b *browser) open(page string, width int, scheme string) error {
	size := map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}
	colours := map[string]any{"name": "prefers-color-scheme", "value": scheme}
	media := map[string]any{"media": "", "features": []any{colours}}
	err := errors.Join(b.call("Emulation.setDeviceMetricsOverride", size, nil),
		b.call("Emulation.setEmulatedMedia", media, nil), b.call("Page.navigate", map[string]any{"url": page}, nil))
	if err != nil {
		return err
	}
	return b.eval(`new Promise((done) => {
		const ready = () => document.readyState === "complete" && document.body.classList.contains("live");
		const look = () => ready() ? done(1) : setTimeout(look, 20);
		look();
	})`, nil)
}

// click clicks where an expression says: [x, y] on the screen.
func (b *browser) click(expression string) error {
	var at []float64
	if err := b.eval(expression, &at); err != nil {
		return err
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		params := map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}
		if err := b.call("Input.dispatchMouseEvent", params, nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *browser) press(key string) error {
	codes := map[string]int{"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
		if err := b.call("Input.dispatchKeyEvent", params, nil); err != nil {
			return err
		}
	}
	return nil
}

// picture writes what a method returns as data; of the whole page, for a screenshot.
func (b *browser) picture(method string, params map[string]any, path string) error {
	var r struct{ Data string }
	if err := b.call(method, params, &r); err != nil {
		return err
	}
	content, err := base64.StdEncoding.DecodeString(r.Data)
	if err != nil {
		return err
	}
	if len(content) < 1000 {
		return fmt.Errorf("%s: %d bytes", path, len(content))
	}
	return os.WriteFile(path, content, 0o666)
}

// visit does what a reader does.
func visit(report, folder string) error {
	path, err := filepath.Abs(report)
	if err != nil {
		return err
	}
	page := (&url.URL{Scheme: "file", Path: path}).String()
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	b, stop, err := start()
	if err != nil {
		return err
	}
	defer stop()
	shot := func(name string) error {
		return b.picture("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, filepath.Join(folder, name+".png"))
	}
	for _, screen := range []struct {
		name, scheme string
		width        int
	}{{"light", "light", 1200}, {"dark", "dark", 1200}, {"narrow", "light", 360}} {
		if err := b.open(page, screen.width, screen.scheme); err != nil {
			return err
		}
		if err := b.must(fmt.Sprintf("%s: the page is not wider than %d", screen.name, screen.width),
			"document.documentElement.scrollWidth <= document.documentElement.clientWidth"); err != nil {
			return err
		}
		if err := b.use(); err != nil {
			return fmt.Errorf("%s: %w", screen.name, err)
		}
		if err := shot(screen.name); err != nil {
			return err
		}
	}
	if err := b.picture("Page.printToPDF", map[string]any{"printBackground": true}, filepath.Join(folder, "report.pdf")); err != nil {
		return err
	}
	fmt.Println("ok: prints")
	if len(b.wrong) > 0 {
		return fmt.Errorf("the page is not as it should be:\n%s", strings.Join(b.wrong, "\n"))
	}
	return nil
}

// use chooses attackers on the map, and reads an entry of C and a mark of a chart.
func (b *browser) use() error {
	steps := []struct {
		what string
		do   func() error
		want string
	}{
		{"the map has a chosen attacker", nil, `document.querySelector(".map .self")`},
		{"a click on another node chooses it", func() error {
			err := b.eval(`window.map = document.querySelector(".map");
				map.querySelector(".node:not(.self)").scrollIntoView({block: "center"});
				window.before = map.querySelector("select").value`, nil)
			if err != nil {
				return err
			}
			return b.click(`(() => {
				const r = map.querySelector(".node:not(.self)").getBoundingClientRect();
				return [r.x + r.width / 2, r.y + r.height / 2];
			})()`)
		}, `map.querySelector("select").value !== before && map.querySelector("output").textContent !== ""`},
		{"the table beside it is that of the attacker", nil,
			`map.querySelector(".most caption").textContent.includes(map.querySelector("select").selectedOptions[0].text)`},
		{"arrows and Enter choose another", func() error {
			err := b.eval(`map.querySelector("svg").focus(); window.before = map.querySelector("select").value`, nil)
			for _, key := range []string{"ArrowLeft", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowUp", "Enter"} {
				err = errors.Join(err, b.press(key))
			}
			return err
		}, `map.querySelector("select").value !== before`},
		{"an entry of C can be read with the keyboard", func() error {
			return errors.Join(b.eval(`document.querySelector("canvas").focus()`, nil), b.press("ArrowDown"), b.press("ArrowRight"))
		}, `/row 1, column 1: C = -?[0-9.e-]+, C⁻¹ = -?[0-9.e-]+/.test(document.querySelector(".matrices output").textContent)`},
		{"a mark of a chart says its numbers", func() error { return b.eval(`document.querySelector(".point").focus()`, nil) },
			`!document.getElementById("tip").hidden && document.getElementById("tip").textContent.length > 5`},
	}
	for _, s := range steps {
		if s.do != nil {
			if err := s.do(); err != nil {
				return fmt.Errorf("%s: %w", s.what, err)
			}
		}
		if err := b.must(s.what, s.want); err != nil {
			return err
		}
	}
	return nil
}
