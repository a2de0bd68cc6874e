package flags

import (
	"embed"

	"mafalda/cmd/internal/document"
)

// texts of facts, as package document has them
//
//go:embed pages
var factPages embed.FS

// facts returns the facts of a page that has nothing else.
func facts(d *document.Document) []document.Fact { return d.Blocks[0].Facts }
