package gemm

// packA copies alpha times a height×depth block of op(A) to slivers of MR rows, each stored column by column, the last
// one filled up with zeros.
func packA[T number](dst []T, a operand[T], height, depth, mr int, alpha T) {
	for i := 0; i < height; i += mr {
		rows := min(mr, height-i)
		packSliver(dst[i*depth:][:mr*depth], a.data, a.stride, a.trans, i, rows, depth, mr, alpha)
	}
}

// packB copies a depth×width block of op(B) to slivers of NR columns, each stored row by row, the last one filled up
// with zeros. It is packA of the transposed.
func packB[T number](dst []T, b operand[T], depth, width, nr int) {
	for j := 0; j < width; j += nr {
		cols := min(nr, width-j)
		packSliver(dst[j*depth:][:nr*depth], b.data, b.stride, !b.trans, j, cols, depth, nr, 1)
	}
}

// packSliver writes count rows of X from row first on, each of depth numbers, to dst[p·unit+i]; with across, rows of X
// are columns of data.
func packSliver[T number](dst, data []T, stride int, across bool, first, count, depth, unit int, alpha T) {
	if count < unit {
		clear(dst)
	}
	if across {
		for p := range depth {
			from, to := data[p*stride+first:][:count], dst[p*unit:][:count]
			if alpha == 1 {
				copy(to, from)
				continue
			}
			for i, v := range from {
				to[i] = alpha * v
			}
		}
		return
	}
	i := 0
	for ; i+4 <= count; i += 4 {
		r0, r1 := data[(first+i)*stride:][:depth], data[(first+i+1)*stride:][:depth]
		r2, r3 := data[(first+i+2)*stride:][:depth], data[(first+i+3)*stride:][:depth]
		at := i
		for p, v := range r0 {
			to := dst[at : at+4 : at+4]
			to[0], to[1], to[2], to[3] = alpha*v, alpha*r1[p], alpha*r2[p], alpha*r3[p]
			at += unit
		}
	}
	for ; i < count; i++ {
		for p, v := range data[(first+i)*stride:][:depth] {
			dst[p*unit+i] = alpha * v
		}
	}
}
