package serve

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"strconv"
	"strings"

	"mafalda/internal/strictjson"
)

// Identity says whose rows a connection is about. The client says it first, and both sides prove the token for it.
type Identity struct {
	Export string `json:"export"` // SHA-256 of the manifest, in hexadecimal digits
	Node   string `json:"node"`
	Dim    int    `json:"dim"`
}

// opening is the JSON of a client's first line.
type opening struct {
	Identity
	Address string `json:"address"` // address that the client has connected to, as 127.0.0.1:7070; empty of a Unix socket
	Nonce   string `json:"nonce"`
	Token   bool   `json:"token"` // whether it has one to prove
}

// line returns the opening as the first line of a connection.
func (o opening) line() (string, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	return greeting + string(text) + "\n", nil
}

var greeting = fmt.Sprintf("mafalda %d ", Version)

// readOpening reads the first line, without its line feed. The error is an Error.
func readOpening(line string) (o opening, err error) {
	text, ok := strings.CutPrefix(line, greeting)
	if !ok {
		fields := strings.Fields(line)
		if len(fields) > 1 && fields[0] == "mafalda" && fields[1] != strconv.Itoa(Version) {
			return o, protocolError("version %d is spoken here, not %.20q: both ends need one version of mafalda", Version,
				fields[1])
		}
		return o, protocolError("the first line is not 'mafalda %d {…}'", Version)
	}
	if err := strictjson.Decode([]byte(text), &o); err != nil {
		return o, protocolError("the first line: %v", err)
	}
	if !isDigest(o.Nonce) {
		return o, protocolError("the first line has no nonce of 64 hexadecimal digits")
	}
	return o, nil
}

// newNonce returns 32 random bytes in hexadecimal digits.
func newNonce() string {
	var b [32]byte
	rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// session has what both sides derive from the token and the first line of each, which have their nonces.
type session struct{ secret []byte }

// newSession takes both lines with their line feeds. An empty token is known to everybody: proofs are then no
// proofs, and what authenticates frames tells damaged ones alone.
func newSession(token, client, server string) session {
	return session{hmacOf([]byte(token), client+server)}
}

// The purposes that keys and proofs of a session are for.
const (
	clientProof  = "client proof"
	serverProof  = "server proof"
	clientFrames = "client frames"
	serverFrames = "server frames"
)

func (s session) key(purpose string) []byte { return hmacOf(s.secret, purpose) }

// proof returns the line that proves the token.
func (s session) proof(purpose string) string {
	return "proof " + hex.EncodeToString(s.key(purpose)) + "\n"
}

// proves reports whether a line, without its line feed, is the proof.
func (s session) proves(line, purpose string) bool {
	return hmac.Equal([]byte(line+"\n"), []byte(s.proof(purpose)))
}

func hmacOf(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	io.WriteString(h, text)
	return h.Sum(nil)
}

// addressOf returns a TCP address as both sides must see it, or nothing for other connections.
func addressOf(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.String()
	}
	return ""
}

// MaxFrame is how many bytes a frame may carry.
const MaxFrame = 1 << 20

// piece is how many bytes of a row this server puts into a frame.
const piece = 1 << 18

// ErrFrame is about a frame that the other side has not made for this place of the connection.
var ErrFrame = errors.New("not the next frame of the other side: something has changed, repeated or left out bytes")

// sealer writes the frames of one direction: their length, 4 bytes, their bytes, and the HMAC-SHA256 of the number of
// the frame, 8 bytes, the length and the bytes. Numbers are little-endian, and frames are counted from 0.
type sealer struct {
	w     io.Writer
	mac   hash.Hash
	count uint64
	buf   []byte // frames that were not written yet
	start int    // beginning of the open frame in buf
}

func newSealer(w io.Writer, key []byte) *sealer { return &sealer{w: w, mac: hmac.New(sha256.New, key)} }

// begin opens a frame; its bytes are appended to s.buf until end.
func (s *sealer) begin() {
	s.start = len(s.buf)
	s.buf = append(s.buf, 0, 0, 0, 0)
}

func (s *sealer) end() {
	binary.LittleEndian.PutUint32(s.buf[s.start:], uint32(len(s.buf)-s.start-4))
	s.buf = sum(s.buf, s.mac, s.count, s.buf[s.start:])
	s.count++
}

// text adds a frame with a text.
func (s *sealer) text(text string) {
	s.begin()
	s.buf = append(s.buf, text...)
	s.end()
}

// flush sends the frames that text and others have added.
func (s *sealer) flush() error {
	_, err := s.w.Write(s.buf)
	if s.buf = s.buf[:0]; cap(s.buf) > 1<<16 {
		s.buf = nil
	}
	return err
}

// sum appends the code of a frame, which begins with its length.
func sum(to []byte, mac hash.Hash, count uint64, frame []byte) []byte {
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], count)
	mac.Reset()
	mac.Write(number[:])
	mac.Write(frame)
	return mac.Sum(to)
}

// opener reads the frames of the other direction.
type opener struct {
	r     *bufio.Reader
	mac   hash.Hash
	count uint64
	buf   []byte
}

func newOpener(r *bufio.Reader, key []byte) *opener {
	return &opener{r: r, mac: hmac.New(sha256.New, key)}
}

// next returns the bytes of the next frame, at most a given number; they are good until the next
// call. The errors are ErrFrame, and the connection's own: io.EOF between two frames.
func (o *opener) next(most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(o.r, head[:]); err != nil {
		return nil, err
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length == 0 || int64(length) > int64(most) {
		return nil, fmt.Errorf("%w (a length of %d)", ErrFrame, length)
	}
	whole := 4 + int(length) + sha256.Size
	if cap(o.buf) < whole {
		o.buf = make([]byte, whole)
	}
	frame := o.buf[:whole]
	copy(frame, head[:])
	if _, err := io.ReadFull(o.r, frame[4:]); err != nil {
		return nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	frame, code := frame[:whole-sha256.Size], frame[whole-sha256.Size:]
	if !hmac.Equal(code, sum(nil, o.mac, o.count, frame)) {
		return nil, ErrFrame
	}
	o.count++
	return frame[4:], nil
}
