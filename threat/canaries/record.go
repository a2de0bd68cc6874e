package canaries

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/gonum/mat"

	"mafalda/internal/files"
	"mafalda/internal/npy"
)

const (
	recordFormat = "mafalda record 1"
	recordName   = "record.json"
	coinsName    = "coins.json"
	noisingName  = "noising.npy"
)

// Record is what a program without a plan released, round by round.
type Record struct {
	Format string  `json:"format"`
	Coins  string  `json:"coins"` // SHA-256 of coins.json
	Rounds []Round `json:"rounds"`
	// Noising is the SHA-256 of noising.npy; absent where there is none.
	Noising string `json:"noising,omitempty"`
	// Matrices are the SHA-256 of the files that the description names: C.npy, or the manifest of an export's folder.
	Matrices map[string]string `json:"matrices,omitempty"`
	// Checksum is of the file up to it (SHA-256).
	Checksum string `json:"sha256"`

	dir        string
	coins      *Coins
	noising    mat.Matrix // noise is multiplied by it, round by round, as claimed: the identity unless it is correlated
	correlated bool
	kept       []release
}

// Round is a file, round-0000.npy, rows×dim numbers float32: what was released in the round, less what was known before, times
// what sums are divided by.
type Round struct {
	SHA256 string `json:"sha256"`
	Rows   int    `json:"rows"`

	// Senders says of every row which canary the whole contribution of its sender is; if it is absent, all canaries are
	// contributions beside others, in every row. Rows of one sender are of the same data, for several recipients.
	Senders []int `json:"senders,omitempty"`
	// Drawn says which canaries were drawn for the round, whatever their coins; absent: all.
	Drawn []int `json:"drawn"`
}

// release is what one sender released in one round.
type release struct {
	round, sender int   // sender -1: of all
	rows          []int // that differ, in the file of the round
}

// IsRecord reports whether a folder has, or was to have, a record without a plan.
func IsRecord(dir string) bool {
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	return (there(coinsName) || there(recordName)) && !there(runName)
}

// OpenRecord reads what mafalda.canaries.Record of the Python package wrote, but for the numbers. All files must be there as they
// were written.
func OpenRecord(dir string) (*Record, error) {
	r := &Record{dir: dir}
	path := filepath.Join(dir, recordName)
	if _, err := readSealed(path, r, r.check, &r.Checksum); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: the record was not closed, and is not audited; "+
			"where a training was interrupted record all of it again, in another folder", dir, recordName)
	} else if err != nil {
		return nil, err
	}
	coins, digest, err := readCoins(filepath.Join(dir, coinsName))
	switch r.coins = coins; {
	case err != nil:
		return nil, err
	case digest != r.Coins:
		return nil, fmt.Errorf("%s has the coins of another record", dir)
	}
	for t := range r.Rounds {
		if err := r.readRound(t); err != nil {
			return nil, err
		}
	}
	if n := max(len(r.kept), len(r.coins.Steps)); n > maxRows {
		return nil, fmt.Errorf("%s: %d releases or canaries: up to %d are audited", path, n, maxRows)
	}
	n := len(r.Rounds)
	r.noising = mat.NewDiagDense(n, slices.Repeat([]float64{1}, n))
	digest, err = files.SHA256(filepath.Join(dir, noisingName))
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.Noising == "":
		return r, nil
	case err == nil && digest != r.Noising:
		err = fmt.Errorf("%s is not of this record", filepath.Join(dir, noisingName))
	}
	if err != nil {
		return nil, err
	}
	a, err := npy.ReadFile(filepath.Join(dir, noisingName))
	switch {
	case err == nil && !slices.Equal(a.Shape, []int{n, n}):
		err = fmt.Errorf("%s: shape %v, and %d rounds", filepath.Join(dir, noisingName), a.Shape, n)
	case err == nil:
		r.noising, r.correlated = mat.NewDense(n, n, a.Data), true
	}
	return r, err
}

func (r *Record) check() error {
	switch {
	case r.Format != recordFormat:
		return fmt.Errorf("it is no record: its format is %q, not %q", r.Format, recordFormat)
	case len(r.Rounds) == 0:
		return errors.New("nothing was released")
	}
	return nil
}

func (r *Record) name(round int) string {
	return filepath.Join(r.dir, fmt.Sprintf("round-%04d.npy", round))
}

// head is what the file of a round begins with.
func (r *Record) head(round int) []byte {
	var head bytes.Buffer
	npy.WriteHeader(&head, []int{r.Rounds[round].Rows, r.coins.Dim})
	return bytes.Replace(head.Bytes(), []byte("<f8"), []byte("<f4"), 1)
}

// readRound checks the file of a round, and keeps which rows of it differ.
func (r *Record) readRound(t int) error {
	round, path := r.Rounds[t], r.name(t)
	count := len(r.coins.Steps)
	switch {
	case round.Senders != nil && len(round.Senders) != round.Rows || round.Rows < 1 || (round.Senders == nil) != (r.Rounds[0].Senders == nil):
		return fmt.Errorf("%s: %d rows of %d senders", path, round.Rows, len(round.Senders))
	case slices.ContainsFunc(slices.Concat(round.Senders, round.Drawn), func(i int) bool { return i < 0 || i >= count }):
		return fmt.Errorf("%s: a canary beyond the %d that there are", path, count)
	}
	f, _, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is missing: round %d of %d", path, t, len(r.Rounds))
	} else if err != nil {
		return err
	}
	defer f.Close()
	unlike := fmt.Errorf("%s is no float32 array of shape (%d, %d), or was cut", path, round.Rows, r.coins.Dim)
	whole, head := sha256.New(), r.head(t)
	said := make([]byte, len(head))
	if _, err := io.ReadFull(io.TeeReader(f, whole), said); err != nil || !bytes.Equal(said, head) {
		return unlike
	}
	seen := map[int][][sha256.Size]byte{} // rows of a sender that differ
	first := len(r.kept)
	for i := range round.Rows {
		sender, row := -1, sha256.New()
		if round.Senders != nil {
			sender = round.Senders[i]
		}
		if _, err := io.CopyN(io.MultiWriter(whole, row), f, 4*int64(r.coins.Dim)); err != nil {
			return unlike
		}
		sum := [sha256.Size]byte(row.Sum(nil))
		if slices.Contains(seen[sender], sum) {
			continue
		}
		seen[sender] = append(seen[sender], sum)
		if at := slices.IndexFunc(r.kept[first:], func(k release) bool { return k.sender == sender }); at >= 0 {
			r.kept[first+at].rows = append(r.kept[first+at].rows, i)
		} else {
			r.kept = append(r.kept, release{t, sender, []int{i}})
		}
	}
	if _, err := io.CopyN(io.Discard, f, 1); err != io.EOF {
		return fmt.Errorf("%s is longer than its %d rows", path, round.Rows)
	}
	if sum := hex.EncodeToString(whole.Sum(nil)); sum != round.SHA256 {
		return fmt.Errorf("%s was changed: its checksum is not that of %s", path, recordName)
	}
	return nil
}

// read writes columns from … of what was released to dst, row by row: the mean over recipients whose rows differ.
func (r *Record) read(dst []float32, from, width int) error {
	row := make([]float32, width)
	for k, released := range r.kept {
		mean := dst[k*width : (k+1)*width]
		clear(mean)
		f, _, err := files.Open(r.name(released.round))
		if err != nil {
			return err
		}
		head := int64(len(r.head(released.round)))
		for _, i := range released.rows {
			at := head + 4*(int64(i)*int64(r.coins.Dim)+int64(from))
			if err = binary.Read(io.NewSectionReader(f, at, 4*int64(width)), binary.LittleEndian, row); err != nil {
				break
			}
			for j, v := range row {
				if v-v != 0 {
					err = fmt.Errorf("%s: parameter %d of row %d is %v", r.name(released.round), from+j, i, v)
				}
				mean[j] += v / float32(len(released.rows))
			}
		}
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
