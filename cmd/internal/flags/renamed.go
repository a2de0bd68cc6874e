package flags

// Renamed returns what flags of earlier versions are called now, with * for their value. Of several names it is the one that
// the command has; command lines that folders hold are read by the same table.
func Renamed() map[string]string {
	return map[string]string{
		"momentum": "optimizer momentum:*", "nesterov": "optimizer nesterov", "weight-decay": "optimizer decay:*",
		"local-steps": "optimizer local:*", "gossip-rounds": "optimizer rounds:*", "gradient-tracking": "optimizer tracking",
		"graph-sequence": "graph-changes sequence:*", "node-failures": "graph-changes failures:*",
		"link-failures": "graph-changes links:*", "random-neighbours": "graph-changes neighbours:*", "carry": "missed-steps carry",
		"person-batches": "unit person:batches=*", "gossip-matrix": "gossip *", "directed": "graph directed:FILE",
		"probes": "gram probes=*", "lanczos-steps": "gram steps=*",
		"secrets": "trust secrets=*", "coalitions": "trust coalitions=*", "largest-pair": "trust largest-pair=*",
		"secure-summation": "trust secure-summation", "forget-own-noise": "trust forget-own-noise",
		"own-noise": "algorithm decor:own=*", "shared-noise": "algorithm decor:shared=*",
		"bandwidth": "strategy bandwidth=*|sampling bandwidth=*", "buffers": "strategy buffers=*", "scale-columns": "strategy scale-columns",
		"per-node": "strategy per-node", "groups": "strategy groups=*|sampling groups=*", "no-dense": "format parameters-only",
		"records": "task records=*|sampling records=*", "max-batch": "sampling max=*", "samples": "sampling samples=*",
		"failure": "sampling failure=*", "probability": "sampling probability=*", "choices": "sampling choices=*",
		"rounds": "sampling rounds=*", "known-seed": "sampling known-seed",
		"resume": "checkpoint resume", "dim": "memory dim=*", "float32": "memory float32", "memory-front": "memory front",
		"fixed-inputs": "reaction fixed", "convex": "reaction convex:*", "smooth": "reaction smooth:*",
		"clipped-convex": "reaction clipped-convex:*", "strongly-convex": "reaction strongly-convex:*",
		"lipschitz": "reaction lipschitz:*", "refine": "reaction refine", "worst-answer": "reaction worst-answer",
		"audit-seed": "runs seed=*", "confidence": "runs confidence=*|attack confidence=*", "runs": "attack runs=*",
		"victim": "attack victim=*", "actual-batches": "actual batches=*", "coins": "run coins=*", "rdp": "alpha rdp=*",
		"laplace-b": "push-sum laplace-b:*", "gamma-n": "push-sum gamma-n:*", "sync": "push-sum sync:*", "estimate": "push-sum estimate:*",
		"c-prime": "push-sum c-prime:*", "lambda": "push-sum lambda:*", "sequence": "push-sum sequence:*",
		"chosen": "protocol chosen=*", "difference": "protocol difference=*", "value-std": "values std:*",
		"data": "task data=*", "features": "task features=*", "test-rows": "task test-rows=*",
		"target": "data target=*", "beta": "model beta=*", "curvature": "model curvature=*", "classes": "model classes=*",
		"no-intercept": "model no-intercept", "ridge": "model ridge=*", "mean": "batch mean", "smallest-batch": "batch smallest=*",
		"divisor": "batch divisor=*", "unclipped": "clip unclipped", "per-layer": "clip per-layer",
		"skip": "row skip=*", "with-steps": "format with-steps", "stop-delta": "stop-at delta=*", "token-file": "listen token-file=*",
		"image": "engine image=*", "claim": "engine claim=*", "mount": "engine mount=*",
	}
}
