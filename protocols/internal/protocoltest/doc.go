// Package protocoltest has what tests of the protocols share: graphs, named and drawn, and numbers of 150 digits.
// Only tests import it.
package protocoltest
