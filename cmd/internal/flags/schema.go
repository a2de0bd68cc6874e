package flags

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"mafalda/cmd/internal/terminal"
	"mafalda/export"
	"mafalda/internal/files"
	"mafalda/participation"
)

// SchemaFlags say who may take part when.
type SchemaFlags struct {
	Schema                            string // a name, or a file
	unit                              string
	batches                           int // that a person has records in
	Steps, participations, Separation int
}

// Who is protected.
const (
	unitRecord = "record"
	unitPerson = "person"
	unitSilo   = "silo"
)

// SchemaNames returns the names of schemas that are no files.
func SchemaNames() []string { return []string{"cyclic", "min-sep", "single"} }

// Unit returns who is protected: record, person or silo.
func (f *SchemaFlags) Unit() string { return f.unit }

// Choose returns the schema that the flags describe.
func (f *SchemaFlags) Choose(cmd *cobra.Command) (participation.Schema, error) {
	if f.unit == unitSilo {
		return f.chooseSilo(cmd)
	}
	s, err := f.chooseForRecords(cmd)
	if err != nil {
		return nil, err
	}
	return f.protect(cmd, s)
}

// chooseSilo returns the schema of a silo, which is in every step.
func (f *SchemaFlags) chooseSilo(cmd *cobra.Command) (participation.Schema, error) {
	given := cmd.Flags().Changed
	switch {
	case !given("T"):
		return nil, errSteps
	case given("participations") || given("separation") || given("schema"):
		return nil, terminal.Usagef("--unit silo is in every step: leave out -k, -b and --schema")
	}
	s, err := participation.NewSilo(f.Steps)
	return s, terminal.Usage(err)
}

// errSteps says that there is no T.
var errSteps = terminal.Usagef("how many steps? Use --T, for example --T 380")

// protect returns the schema for who is protected, given the one for a record.
func (f *SchemaFlags) protect(cmd *cobra.Command, s participation.Schema) (participation.Schema, error) {
	cycle, cyclic := s.(participation.Cyclic)
	switch {
	case f.unit == unitRecord:
		return s, nil
	case !cyclic:
		return nil, terminal.Usagef("--unit person needs batches in turn: --schema cyclic or single")
	}
	people, err := participation.NewPeople(cycle, max(1, f.batches))
	return people, terminal.Usage(err)
}

// CheckUnit refuses to account for an export that protects people as if it protected records, unless --unit says so; and for a
// silo's whole update as for another unit, or the other way round: they are clipped together, and apart.
func (f *SchemaFlags) CheckUnit(cmd *cobra.Command, dir string, m *export.Manifest) error {
	switch {
	case m == nil:
		return nil
	case m.Participation.Unit() == unitSilo && f.unit != unitSilo:
		return terminal.Usagef("%s protects a silo's whole update in every round, clipped as one: give --unit silo", dir)
	case m.Participation.Unit() != unitSilo && f.unit == unitSilo:
		return terminal.Usagef("%s protects a %s: a silo's whole update, which is not clipped as one there, takes a plan with --unit silo", dir,
			m.Participation.Unit())
	case m.Participation.Batches == 0:
		return nil
	}
	batches := ""
	if m.Participation.Batches > 1 {
		batches = fmt.Sprintf(":batches=%d", m.Participation.Batches)
	}
	switch given := cmd.Flags().Changed; {
	case !given("unit"):
		return terminal.Usagef("%s protects people, and this would be of a record: give --unit person%s, or --unit record", dir, batches)
	case f.unit == unitPerson && batches != "" && !given("unit batches"):
		return terminal.Usagef("%s is for people in up to %d batches: give --unit person%s, or fewer for people in no more than these", dir,
			m.Participation.Batches, batches)
	}
	return nil
}

// CheckLocalSteps refuses local steps that are steps of the plan for a silo, which has all of its own in every step.
func (f *SchemaFlags) CheckLocalSteps(steps int) error {
	if f.unit == unitSilo && steps > 1 {
		return terminal.Usagef("--unit silo is a whole update, with all its local steps, in every step: leave out --optimizer local")
	}
	return nil
}

// chooseForRecords returns the schema of a record.
func (f *SchemaFlags) chooseForRecords(cmd *cobra.Command) (participation.Schema, error) {
	if !cmd.Flags().Changed("T") {
		return nil, errSteps
	}
	var err error
	var s participation.Schema
	switch f.Schema {
	case "cyclic":
		s, err = participation.Complete(f.Steps, f.participations, f.Separation)
	case "min-sep":
		var c participation.Cyclic
		if c, err = participation.Complete(f.Steps, f.participations, f.Separation); err == nil {
			s, err = participation.NewMinSep(f.Steps, c.Participations(), c.Separation())
		}
	case "single":
		if f.participations > 1 || f.Separation > 0 && f.Separation != f.Steps {
			return nil, terminal.Usagef("--schema single is k = 1: leave out -k and -b")
		}
		s, err = participation.NewCyclic(f.Steps, 1, f.Steps)
	default:
		if f.participations > 0 || f.Separation > 0 {
			return nil, terminal.Usagef("--schema %s says who takes part when: leave out -k and -b", f.Schema)
		}
		return readSchema(f.Schema, f.Steps)
	}
	return s, terminal.Usage(err)
}

// ChooseEvery is Choose with another default, which help has to say: without any of the flags a record takes part in every
// step.
func (f *SchemaFlags) ChooseEvery(cmd *cobra.Command) (participation.Schema, error) {
	if given := cmd.Flags().Changed; f.Steps > 0 && !given("participations") && !given("separation") && !given("schema") {
		f.participations, f.Separation = f.Steps, 1
	}
	return f.Choose(cmd)
}

func readSchema(path string, steps int) (participation.Schema, error) {
	file, _, err := files.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, terminal.Usagef("--schema %s is neither cyclic, min-sep nor single, nor a file: %v", path, err)
	}
	if err != nil {
		return nil, terminal.Usagef("--schema: %w", err)
	}
	defer file.Close()
	if err := terminal.CheckMemory(fmt.Sprintf("T = %d", steps), 64*float64(steps)); err != nil {
		return nil, err
	}
	s, err := participation.ReadPatterns(file, steps)
	if err != nil {
		err = terminal.Usagef("%s: %w", path, err)
	}
	return s, err
}

// File returns the path of the file that --schema names, empty if it names none.
func (f *SchemaFlags) File() string {
	if slices.Contains(SchemaNames(), f.Schema) {
		return ""
	}
	return f.Schema
}
