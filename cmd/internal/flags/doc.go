// Package flags holds the groups of flags that several commands have: a network, a schema, what is trained, privacy,
// attackers. A group binds its flags to a command, and then returns values of the library, checked:
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
