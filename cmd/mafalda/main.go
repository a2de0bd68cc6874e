// Command mafalda computes optimal noise correlations for differentially private decentralized learning.
package main

import (
	"context"
	"os"

	"mafalda/cmd/internal/commands"
)

func main() { os.Exit(commands.Main(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }
