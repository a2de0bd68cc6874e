// Package graph loads, makes and inspects graphs, and turns them into gossip matrices.
//
// # Graphs
//
// A Graph has nodes 0..n-1 with labels, and weighted edges without self-loops. It comes from a file (Load: edge lists,
// MatrixMarket, .npy adjacency) or a name (ByName: florentine, cycle:100, erdos:50,0.1, ...). Undirected graphs have a
// symmetric adjacency matrix A. In a directed one the edge "u v" is the entry A[u,v]: u averages over v, so v sends to
// u.
//
// Nodes of a file are numbered in the order of their labels, numerically if all are integers and by bytes otherwise,
// whatever the order of the lines.
//
// # Gossip matrices
//
// A gossip matrix W is n×n and row-stochastic, with W[u,v] > 0 only if v = u or A[u,v] > 0. In one round node u
// replaces its model by Σ_v W[u,v] · model of v. NewGossip makes the usual ones, LoadGossip reads one. With weights w
// and strengths s_u = Σ_v w_uv (degrees, if no weights are given):
//
//	uniform     D⁻¹(A+I): w_uv/(1+s_u) and 1/(1+s_u) for u itself; works for directed graphs
//	metropolis  w_uv/(1+max(s_u, s_v))     symmetric
//	max-degree  w_uv/max(s_u, s_v)         symmetric; periodic on bipartite regular graphs
//	laplacian   I - L/max s                symmetric
//
// where the diagonal of the last three is what is left to one.
//
// # Networks
//
// A Network is a connected graph with its gossip matrix and its Origin: names, and hashes of the files it was read
// from. LoadNetwork makes one of options in one call, Inspect says what it is like, WriteFiles writes it to a folder.
// Digest and AddTo stand for it among the inputs of a study.
//
// # Sparse matrices
//
// CSR is a small compressed-row matrix whose methods follow github.com/james-bowman/sparse.
//
// The package knows nothing of noise or privacy.
package graph
