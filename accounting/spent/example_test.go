package spent_test

import (
	"fmt"
	"strings"

	"mafalda/accounting/spent"
)

// Twenty rounds of Flower's LocalDpMod with ε = 3.
func Example() {
	run, err := spent.Read(strings.NewReader(`
		preset = "flower-local-dp"
		rounds = 20
		clip = 1.0
		epsilon = 3.0
		delta = 1e-5`))
	if err != nil {
		fmt.Println(err)
		return
	}
	account, err := run.Account()
	if err != nil {
		fmt.Println(err)
		return
	}
	whole := account.Rounds[len(account.Rounds)-1]
	fmt.Printf("%.2f after %d rounds", whole.Epsilon, whole.Rounds)
	// Output: 15.04 after 20 rounds
}
