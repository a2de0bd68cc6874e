package serve

import (
	"net"
	"slices"
	"sync"
	"time"
)

const (
	maxGuests = 128                   // connections that have not proven the token
	grace     = 50 * time.Millisecond // what each of them has at least
	handshake = 5 * time.Second       // and at most
)

// lobby holds the connections that have not proven the token. There is always room for another one: when it is
// full, the one that is there longest has to go. So strangers keep nobody out who proves the token within the
// grace.
type lobby struct {
	sync.Mutex
	guests []*guest // the one that is there longest first
}

type guest struct {
	conn  net.Conn
	since time.Time
}

// enter takes a connection in. It is for one goroutine.
func (l *lobby) enter(conn net.Conn) *guest {
	g := &guest{conn: conn}
	for {
		l.Lock()
		wait := time.Duration(0)
		if len(l.guests) >= maxGuests {
			wait = time.Until(l.guests[0].since.Add(grace))
		}
		if wait <= 0 {
			if len(l.guests) >= maxGuests {
				l.guests[0].conn.Close()
				l.guests = slices.Delete(l.guests, 0, 1)
			}
			g.since = time.Now()
			l.guests = append(l.guests, g)
			l.Unlock()
			return g
		}
		l.Unlock()
		time.Sleep(wait)
	}
}

// leave lets a connection go that has ended, or has proven the token. It reports whether it was still there.
func (l *lobby) leave(g *guest) bool {
	l.Lock()
	defer l.Unlock()
	i := slices.Index(l.guests, g)
	if i >= 0 {
		l.guests = slices.Delete(l.guests, i, i+1)
	}
	return i >= 0
}
