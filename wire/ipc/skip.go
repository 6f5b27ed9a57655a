package ipc

import "fmt"

// skip skips one msgpack value of any type: the heads of frames are ignored.
func (r *Reader) skip(depth int) error {
	if depth > maxHeadDepth {
		return fmt.Errorf("%w: nested too deeply", ErrFrame)
	}
	lead, err := r.byte()
	if err != nil {
		return err
	}
	switch {
	case lead < 0x80, lead >= 0xe0, lead == 0xc0, lead == 0xc2, lead == 0xc3:
		return nil
	case lead < 0x90:
		return r.skipMany(2*uint64(lead&0x0f), depth+1)
	case lead < 0xa0:
		return r.skipMany(uint64(lead&0x0f), depth+1)
	case lead < 0xc0:
		return r.discard(uint64(lead & 0x1f))
	}
	return r.skipLong(lead, depth)
}

// skipLong skips a value whose lead byte is followed by a number.
func (r *Reader) skipLong(lead byte, depth int) error {
	switch lead {
	case 0xcc, 0xd0:
		return r.discard(1)
	case 0xcd, 0xd1, 0xd4:
		return r.discard(2)
	case 0xd5:
		return r.discard(3)
	case 0xca, 0xce, 0xd2:
		return r.discard(4)
	case 0xd6:
		return r.discard(5)
	case 0xcb, 0xcf, 0xd3:
		return r.discard(8)
	case 0xd7:
		return r.discard(9)
	case 0xd8:
		return r.discard(17)
	case 0xc4, 0xd9:
		return r.skipSized(1, 0)
	case 0xc5, 0xda:
		return r.skipSized(2, 0)
	case 0xc6, 0xdb:
		return r.skipSized(4, 0)
	case 0xc7:
		return r.skipSized(1, 1)
	case 0xc8:
		return r.skipSized(2, 1)
	case 0xc9:
		return r.skipSized(4, 1)
	case 0xdc:
		return r.skipCounted(2, 1, depth)
	case 0xdd:
		return r.skipCounted(4, 1, depth)
	case 0xde:
		return r.skipCounted(2, 2, depth)
	case 0xdf:
		return r.skipCounted(4, 2, depth)
	}
	return fmt.Errorf("%w: lead byte 0x%02x", ErrFrame, lead)
}

// skipSized skips a length of width bytes, then as many bytes as it says, plus more.
func (r *Reader) skipSized(width int, more uint64) error {
	n, err := r.number(width)
	if err != nil {
		return err
	}
	return r.discard(n + more)
}

// skipCounted skips a count of width bytes, then each times as many values.
func (r *Reader) skipCounted(width int, each uint64, depth int) error {
	n, err := r.number(width)
	if err != nil {
		return err
	}
	return r.skipMany(each*n, depth+1)
}

// skipMany skips n values. Each takes at least a byte, so the rest of the frame limits the loop.
func (r *Reader) skipMany(n uint64, depth int) error {
	for range n {
		if err := r.skip(depth); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) discard(n uint64) error {
	if err := r.claim(n); err != nil {
		return err
	}
	_, err := r.r.Discard(int(n))
	return err
}
