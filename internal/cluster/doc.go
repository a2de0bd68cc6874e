// Package cluster hands the shards of a grid to the engines that people have: processes of this machine, a Slurm
// cluster, Kubernetes. It schedules nothing itself.
//
// A [Job] says which shards of which command are to run, and what one of them needs. An [Engine] writes it down as it
// would be handed in by hand, a shell script or a manifest, and can hand it in. Shards are processes that do not talk to
// each other: they write cells into one folder, as package study has it, so that any of them may be killed, run twice,
// or be left out because its cells are there.
//
// # Words
//
// The command of a job is words, with whatever they hold: blanks, quotes, dollars, lines. [Quote] is the one place where they
// become shell text, and manifest the one place where they become YAML.
package cluster
