package main

// The names of results in folders.
const (
	averageName = "average.json"
	partName    = "partpsp.json"
)
