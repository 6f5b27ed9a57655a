//go:build cgo

package crypt

// #include "lanes.h"
import "C"

import (
	"crypto/sha256"
	"sync"
	"unsafe"
)

// haveLanes tells whether the processor can encrypt and hash side by side. The answer is kept, because in a virtual
// machine the question takes longer than sealing a box.
var haveLanes = sync.OnceValue(func() bool { return C.brine_lanes() == 1 })

func (s *laneSum) c() *C.uint32_t { return (*C.uint32_t)(unsafe.Pointer(&s[0])) }

func sealOne(u *unsealed) {
	C.brine_lane_seal(uchars(u.key), uchars(u.box), C.size_t(len(u.box)), u.sum.c())
}

func sealTwo(u, v *unsealed) {
	C.brine_lanes_seal(uchars(u.key), uchars(u.box), C.size_t(len(u.box)), u.sum.c(),
		uchars(v.key), uchars(v.box), C.size_t(len(v.box)), v.sum.c())
}

// sumTwo adds the whole blocks of two texts to the states of two hashes, side by side.
func sumTwo(s *laneSum, text []byte, t *laneSum, other []byte) {
	const block = sha256.BlockSize
	C.brine_lanes_sum(uchars(text), C.size_t(len(text)/block), s.c(), uchars(other), C.size_t(len(other)/block), t.c())
}
