package auth

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"brine/wire/crypt"
	"brine/wire/payload"
)

// TestSealIn: for answers and buffers of any size, the frames open to the same value as those of Seal.
func TestSealIn(t *testing.T) {
	box, err := crypt.NewBox(crypt.NewKeyString())
	if err != nil {
		t.Fatal(err)
	}
	nonce := strings.Repeat("n", 32)
	room := []byte(nil)
	for _, o := range []*Opened{{box: box, nonce: nonce}, {box: box}, {Clear: true}} {
		for _, size := range []int{0, 1, 15, 16, 17, 31, 32, 100, 65400, 70000, 10} {
			answer := bytes.Repeat([]byte{7}, size)
			frame, used, err := o.SealIn(room, nil, func(dst []byte) ([]byte, error) {
				return append(dst, answer...), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if o.box == nil {
				if !bytes.Equal(frame, answer) {
					t.Errorf("in clear, %d bytes: %x", size, frame)
				}
				continue
			}
			if len(frame) != len(o.Seal(answer)) {
				t.Errorf("%d bytes: a frame of %d, want %d", size, len(frame), len(o.Seal(answer)))
			}
			v, err := payload.Unmarshal(frame)
			if err != nil {
				t.Fatal(err)
			}
			got, err := box.Open(payload.AsBytes(v), o.nonce)
			if err != nil || !bytes.Equal(got, answer) {
				t.Errorf("%d bytes: %d, %v", size, len(got), err)
			}
			room = used
		}
	}
	want := errors.New("cannot be packed")
	if _, _, err := (&Opened{box: box}).SealIn(nil, nil, func(dst []byte) ([]byte, error) {
		return dst, want
	}); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}
