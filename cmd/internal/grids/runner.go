package grids

// Runner says what a command line is run for. The maker of the commands hands it to their constructors, and a command
// hands it to the study that it makes. The zero value computes the cells in this process, for the results of the command.
type Runner struct {
	// Words are the arguments of the program: flags are handed on, and written down, as they were typed.
	Words []string

	Engine  Engine            // computes the cells, if not nil
	Plan    *GridPlan         // if not nil, a command with a shard fills it in, and computes and writes nothing
	Merging bool              // nothing is computed: all cells must be there
	Places  map[string]string // where the folders are that results call by their paths, as far as they are in other places
}
