package study

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxCell is more than any cell's file has, in bytes.
const maxCell = 1 << 31

const cellSuffix = ".json"

// cellFile returns the name of the file of a cell, given as JSON.
func (k Key) cellFile(cell []byte) string {
	d := NewDigest()
	d.Bytes(k[:])
	d.Bytes(cell)
	return d.Sum() + cellSuffix
}

// encode returns the content of the file of a cell.
func (k Key) encode(cell, result []byte) []byte {
	d := NewDigest()
	d.Bytes(k[:])
	d.Bytes(cell)
	d.Bytes(result)
	return fmt.Appendf(nil, `{"study":"%v","cell":%s,"result":%s,"sha256":"%s"}`+"\n", k, cell, result, d.Sum())
}

// decode returns cell and result of a file with this name. Every byte must be what encode would have written.
func (k Key) decode(name string, content []byte) (cell, result []byte, err error) {
	var parts struct{ Cell, Result json.RawMessage }
	if err := json.Unmarshal(content, &parts); err != nil {
		return nil, nil, err
	}
	switch {
	case k.cellFile(parts.Cell) != name:
		return nil, nil, errors.New("it is another cell, or one of another study")
	case !bytes.Equal(k.encode(parts.Cell, parts.Result), content):
		return nil, nil, errors.New("it is not what was written")
	}
	return parts.Cell, parts.Result, nil
}

// readCell returns cell and result of a file among the cells, os.ErrNotExist if the file is missing.
func (f *folder) readCell(name string) (cell, result []byte, err error) {
	path := filepath.Join(f.cells(), name)
	content, err := readFile(path, maxCell)
	if err != nil {
		return nil, nil, err
	}
	if cell, result, err = f.key.decode(name, content); err != nil {
		return nil, nil, fmt.Errorf("%s is %w: %w (without it, the cell is computed again)", path, ErrDamaged, err)
	}
	return cell, result, nil
}

func (f *folder) writeCell(name string, cell, result []byte) error {
	err := replaceBytes(filepath.Join(f.cells(), name), f.key.encode(cell, result))
	if err == nil {
		_ = os.Remove(filepath.Join(f.dir, failedName, name)) // a failure of a cell that is there does not count
	}
	return err
}

// cellFiles returns the names of the files of cells. Whatever else is there, but for hidden files, is an error.
func (f *folder) cellFiles() ([]string, error) {
	names, err := f.visible(cellsName)
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, cellSuffix)
		if !ok || len(digits) != 2*len(Key{}) || strings.Trim(digits, "0123456789abcdef") != "" {
			path := filepath.Join(f.cells(), name)
			return nil, fmt.Errorf("%s is %w: it is not the file of a cell, move it away", path, ErrDamaged)
		}
	}
	return names, err
}
