// Command schema prints the table of all keys of a manifest, as the Python package has it (make python).
package main

import (
	"encoding/json"
	"fmt"

	"mafalda/export"
)

func main() {
	for i, k := range export.Keys() {
		text, err := json.Marshal(k)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%c%s\n", "[,"[min(i, 1)], text)
	}
	fmt.Println("]")
}
