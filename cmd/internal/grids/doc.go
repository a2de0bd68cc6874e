// Package grids runs the commands whose work is a grid of independent cells (study): in this process, as one of several
// shards, on an engine elsewhere, or not at all, for who asks what there is to do.
//
//	Runner     what a command line is run for: its own results, a merge, a plan, an engine; commands get it when they are made
//	Study      cells, what computes one, and what makes the summaries; Run does what the runner and --shard ask for
//	--shard    a part of the cells, dealt by cost; merge makes the summaries when all parts are there
//	GridPlan   the command reads its input and counts what is missing: submit asks this
//	Engine     cells are computed by other machines, which get the bytes of all input files (Apache Beam)
//	recorded   a command line that a folder holds is run again only if it consists of flags that compute
package grids
