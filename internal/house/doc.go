// Package house holds tests of the layout: what may import what, and what a library may say.
package house
