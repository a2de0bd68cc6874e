package results

import (
	"mafalda/cmd/internal/document"
	"mafalda/threat/canaries"
)

var auditedPage = document.Page[*canaries.Result](pages, "audited")

// AuditedDocument says what the audit of a run found. There is no score and no coin in it.
func AuditedDocument(r *canaries.Result) *document.Document { return auditedPage(r) }
