package model

// roll is a number in [0, 1) that depends on the seed and the salts and on
// nothing else: jitter without a source of chance (H2).
func roll(seed uint64, salts ...uint64) float64 {
	x := seed
	for _, s := range salts {
		x = mix(x ^ mix(s))
	}
	return float64(mix(x)>>11) / (1 << 53)
}

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hash is FNV-1a over the words, each ended by a zero byte.
func hash(words ...string) uint64 {
	h := uint64(14695981039346656037)
	for _, w := range words {
		for i := range len(w) {
			h = (h ^ uint64(w[i])) * 1099511628211
		}
		h *= 1099511628211
	}
	return h
}
