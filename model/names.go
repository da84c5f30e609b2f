package model

import "fmt"

// names are the words of a small closed set, by value.
type names[T ~uint8] []string

func (n names[T]) word(v T) string {
	if int(v) < len(n) {
		return n[v]
	}
	return fmt.Sprintf("%d?", v)
}

func (n names[T]) marshal(v T) ([]byte, error) {
	if int(v) >= len(n) {
		return nil, fmt.Errorf("%T %d is not in its set", v, v)
	}
	return []byte(n[v]), nil
}

func (n names[T]) unmarshal(v *T, b []byte) error {
	for i, w := range n {
		if w == string(b) {
			*v = T(i)
			return nil
		}
	}
	return fmt.Errorf("%T %q is not in its set", *v, b)
}
