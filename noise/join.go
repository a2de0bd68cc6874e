package noise

import (
	"fmt"
	"slices"

	"mafalda/noise/keys"
)

// Join says where a node finds what it needs to begin a run with its neighbours.
type Join struct {
	Key  string // file of its private key (keys.Load)
	Keys string // file of all public ones (keys.ReadDirectory)
	Runs string // folder with the announcements of this node and its neighbours (keys.ReadRuns)
}

// Announce makes the announcement of a run of the node whose key join has, for all neighbours that it shares noise
// with; Runs is not read. In a run to check (of one neighbour, by its label) the rows will be those that the two share,
// and nothing else. It fails as Open does, for an export whose nodes share nothing (ErrExport), and with keys.ErrKey.
func Announce(dir string, dim int, join Join, check string, opts Options) (a keys.Announcement, err error) {
	own, directory, err := join.keys()
	if err != nil {
		return a, err
	}
	opts.Seed = nil
	s, err := open(dir, own.Node(), dim, opts)
	if err != nil {
		return a, err
	}
	if s.share == nil {
		return a, fmt.Errorf("%w: %s: its nodes share no noise, and need no run", ErrExport, dir)
	}
	neighbours := s.Neighbours()
	if check != "" {
		if !slices.Contains(neighbours, check) {
			return a, fmt.Errorf("%w: node %q shares no noise with %q", ErrExport, s.node, check)
		}
		neighbours = []string{check}
	}
	t := s.terms()
	t.Check = check != ""
	return own.Announce(neighbours, directory, t)
}

func (j Join) keys() (own keys.Private, all keys.Directory, err error) {
	if own, err = keys.Load(j.Key); err == nil {
		all, err = keys.ReadDirectory(j.Keys)
	}
	return own, all, err
}

// terms is what both ends of a pair must have alike.
func (s *Stream) terms() keys.Terms {
	return keys.Terms{Export: s.export, Dim: s.dim, NoiseStd: s.std, Grid: s.grid}
}

// join gets the keys of all neighbours.
func (s *Stream) join(at State) error {
	switch {
	case at.Join == nil && len(s.share.neighbours) > 0:
		return fmt.Errorf("%w: that needs their keys and announcements", ErrNeighbours)
	case at.Join == nil:
		return checkWorst(s.share.export)
	}
	if err := checkWorst(s.share.export); err != nil {
		return err
	}
	own, directory, err := at.Join.keys()
	if err != nil {
		return err
	}
	if own.Node() != s.node {
		return fmt.Errorf("%w: %s is of node %q, not %q", keys.ErrKey, at.Join.Key, own.Node(), s.node)
	}
	runs, err := keys.ReadRuns(at.Join.Runs)
	if err != nil {
		return err
	}
	m, err := own.Meet(s.Neighbours(), directory, runs, s.terms())
	if err != nil {
		return err
	}
	s.share.takeKeys(m)
	s.disk.meeting = m
	return nil
}

// begin notes that the announcements of a new state are used up, and then that the state may be used: it is on disk
// since before, so that a crash in between leaves neither a row nor a second run.
func (s *Stream) begin() error {
	if s.disk.meeting == nil {
		return nil
	}
	if err := s.disk.meeting.Begin(); err != nil {
		return err
	}
	p := s.place()
	p.Joining = false
	return s.writePlace(p)
}
