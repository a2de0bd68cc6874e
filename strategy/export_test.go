package strategy

import "mafalda/internal/lists"

// Classes returns the names of the classes.
func Classes() []string { return lists.Map(classes(), func(c class) string { return c.name }) }
