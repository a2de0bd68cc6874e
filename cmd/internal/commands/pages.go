package commands

import "embed"

// pages are the texts of what the commands print.
//
//go:embed pages
var pages embed.FS
