package serve

import "mafalda/noise"

// Version is the version of the protocol.
const Version = 2

// MaxLine is how many bytes a line, with its line feed, or a request may have.
const MaxLine = 4096

// Info is what the replies to hello and state say: of the noise, and which steps may be named (noise.Standing).
type Info struct {
	Protocol int     `json:"protocol"`
	Export   string  `json:"export"` // SHA-256 of the manifest, in hexadecimal digits
	Node     string  `json:"node"`
	Steps    int     `json:"steps"`
	Dim      int     `json:"dim"`
	NoiseStd float64 `json:"noise_std"` // standard deviation of a coordinate of Z
	Grid     float64 `json:"grid,omitempty"`
	Private  bool    `json:"private"`
	Next     int     `json:"next"`
	Issued   *int    `json:"issued"`
	Sending  *string `json:"sending"`
	Unsent   []int   `json:"unsent"`
	// Condition says how batches are to be drawn in secret, where privacy depends on that.
	Condition string `json:"condition,omitempty"`
	// End is the step whose row would pass the node's budget; absent where none would.
	End *int `json:"end,omitempty"`
	// Limit is the node's budget that the server was started with; absent: none, and End is from the state.
	Limit      *noise.Limit `json:"limit,omitempty"`
	SharedWith []string     `json:"shared_with,omitempty"` // neighbours that noise is shared with
}

func infoOf(i *noise.Issuer) Info {
	s, at := i.Stream(), i.Standing()
	info := Info{Protocol: Version, Export: s.Export(), Node: s.Node(), Steps: s.Steps(), Dim: s.Dim(), NoiseStd: s.NoiseStd(),
		Grid: s.Grid(), Private: s.Private(), Next: at.Next, Unsent: append([]int{}, at.Unsent...), Condition: s.Condition(),
		SharedWith: s.Neighbours()}
	if at.Issued >= 0 {
		info.Issued = &at.Issued
	}
	if at.Sending != "" {
		info.Sending = &at.Sending
	}
	if limit := s.Limit(); limit != (noise.Limit{}) {
		info.Limit = &limit
	}
	if end := s.End(); end < s.Steps() {
		info.End = &end
	}
	return info
}

// The codes of errors. After CodeProtocol, CodeToken and CodeIO the connection is closed.
const (
	CodeProtocol  = "protocol"  // a line or frame that is none of the protocol, a version that is not spoken, no room
	CodeToken     = "token"     // the token is not proven, or for another address
	CodeOrder     = "order"     // noise.ErrOrder
	CodeSent      = "sent"      // noise.ErrSent
	CodeRange     = "range"     // numbers outside of the row, or that single precision cannot hold
	CodeExhausted = "exhausted" // there are no more steps
	CodeBudget    = "budget"    // noise.ErrBudget: the row would pass the node's budget
	CodeIO        = "io"        // the state cannot be written, or is not the same any more: the server ends
	CodeInternal  = "internal"  // noise that does not fit its numbers: the server ends
)

// Error is what a server answers that refuses.
type Error struct{ Code, Text string }

func (e *Error) Error() string { return e.Code + ": " + e.Text }
