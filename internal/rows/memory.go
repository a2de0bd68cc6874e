package rows

// worth is the count of numbers from which large pages pay: eight large pages on most processors.
const worth = 1 << 21

// Make returns n numbers that are zero. Many of them lie in large pages, if the system has these: rows are gone through
// one after the other, and with small pages a part of the time goes into finding where each is.
func Make(n int) []float64 {
	x := make([]float64, n)
	if n >= worth {
		enlarge(x)
	}
	return x
}
