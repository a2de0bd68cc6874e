package rows

// AddAll is AddScaled for one row after the other, except those whose weight is zero: four of them at a time, while the
// next four come into the cache.
func AddAll(dst, weights []float64, all [][]float64) {
	used := make([]int, 0, len(all))
	for s := range all {
		if weights[s] != 0 {
			used = append(used, s)
		}
	}
	var w [4]float64
	var four [8]*float64
	n := whole(len(dst))
	for ; n > 0 && len(used) >= 4; used = used[4:] {
		for i, s := range used[:4] {
			w[i], four[i], four[4+i] = weights[s], &all[s][:len(dst)][0], &dst[0]
		}
		for i, s := range used[4:min(8, len(used))] {
			four[4+i] = &all[s][0]
		}
		best.addFour(&dst[0], &w[0], &four[0], n)
		for _, s := range used[:4] {
			for i := n; i < len(dst); i++ {
				dst[i] += float64(weights[s] * all[s][i])
			}
		}
	}
	for _, s := range used {
		AddScaled(dst, weights[s], all[s][:len(dst)])
	}
}
