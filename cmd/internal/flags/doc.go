// Package flags makes commands of their pages of help (help/*.txt), which say once what every flag is: its name, the field that it
// fills, its default, range, words, heading, earlier names, and what help says of it. Command reads a page; bind.go says how pages
// are written. It also holds the groups of flags that several commands have, which return values of the library, checked:
//
//	NetworkFlags   --graph, --gossip, …           → graph.Network
//	SchemaFlags    --T, -k, -b, --schema          → participation.Schema
//	WorkloadFlags  --optimizer, …                 → workload.Spec
//	PrivacyFlags   --mu, --epsilon, --delta, …    → plan.Privacy
//	ThreatFlags    --algorithm, --trust, …        → threat.Algorithm, threat.Attacker
//	ReactionFlags  --reaction                     → threat.Reaction
//
// Libraries name no flags. A bad argument of a library (package fault) names the field; Explain puts the flag that fills the
// field in its place, and says what flags can do about other errors.
package flags
