package payload_test

import (
	"bytes"
	"errors"
	"testing"

	"brine/wire/payload"
	"brine/wire/wiretest"
)

// TestMsgpackVectors packs and reads the values of Salt's own packer.
func TestMsgpackVectors(t *testing.T) {
	f := wiretest.Load(t, "msgpack")
	for _, c := range f.List("cases") {
		t.Run(c.Str("name"), func(t *testing.T) {
			wire, err := payload.Marshal(c.Value("value"))
			if err != nil {
				t.Fatal(err)
			}
			bin, err := payload.MarshalBin(c.Value("value"))
			if err != nil {
				t.Fatal(err)
			}
			if !c.Has("wire_hex") { // long texts are recorded as head and length
				checkHead(t, c, "wire", wire)
				checkHead(t, c, "bin", bin)
				return
			}
			if want := wiretest.Hex(t, c, "wire_hex"); !bytes.Equal(wire, want) {
				t.Errorf("wire: got %x, want %x", wire, want)
			}
			if want := wiretest.Hex(t, c, "bin_hex"); !bytes.Equal(bin, want) {
				t.Errorf("bin: got %x, want %x", bin, want)
			}
			checkRead(t, payload.Unmarshal, wire, c.Value("decoded_from_wire"))
			checkRead(t, payload.UnmarshalBin, bin, binKeys(c))
		})
	}
	for _, c := range f.List("undecodable") {
		if v, err := payload.Unmarshal(wiretest.Hex(t, c, "hex")); !errors.Is(err, payload.ErrMalformed) {
			t.Errorf("%s: read as %v, %v", c.Str("name"), v, err)
		}
	}
}

func checkHead(t *testing.T, c *payload.Map, form string, got []byte) {
	t.Helper()
	n, _ := c.Int(form + "_len")
	if !bytes.HasPrefix(got, wiretest.Hex(t, c, form+"_prefix_hex")) || len(got) != int(n) {
		t.Errorf("%s: %d bytes, head %x", form, len(got), got[:6])
	}
}

func checkRead(t *testing.T, read func([]byte) (any, error), b []byte, want any) {
	t.Helper()
	if got, err := read(b); err != nil || !payload.Equal(got, want) {
		t.Errorf("read %x: got %#v, %v, want %#v", b, got, err, want)
	}
}

// binKeys is the result of a reader of the bin form. The vector file cannot mark a key of type bin that is valid UTF-8.
func binKeys(c *payload.Map) any {
	if c.Str("name") == "map_bytes_key" {
		return payload.M(payload.Bytes("\xff"), 1, payload.Bytes("ok"), []byte("v"))
	}
	return c.Value("decoded_from_bin_utf8")
}

// TestFramesReencode reads every recorded request and reply and packs it again: the bytes must come back.
func TestFramesReencode(t *testing.T) {
	for _, f := range wiretest.LoadAll(t, wiretest.ExchangeFiles()...) {
		for _, e := range f.Exchanges() {
			reencode(t, f.Name+" "+e.Name+" request", e.Request.Frame, e.Request.Decoded)
			if e.Reply != nil {
				reencode(t, f.Name+" "+e.Name+" reply", e.Reply.Frame, e.Reply.Decoded)
			}
		}
	}
}

func reencode(t *testing.T, name string, frame []byte, decoded any) {
	t.Helper()
	v, err := payload.Unmarshal(frame)
	if decoded == "undecodable msgpack" {
		if !errors.Is(err, payload.ErrMalformed) {
			t.Errorf("%s: undecodable bytes read as %#v, %v", name, v, err)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if got, err := payload.Marshal(v); err != nil || !bytes.Equal(got, frame) {
		t.Errorf("%s: packed again: %v\n got %x\nwant %x", name, err, got, frame)
	}
	checkSubset(t, name, v, decoded)
}

// checkSubset compares with the recorded values, which leave out ciphertexts.
func checkSubset(t *testing.T, name string, v, decoded any) {
	t.Helper()
	want, ok := decoded.(*payload.Map)
	if got, isMap := v.(*payload.Map); ok && isMap {
		for k, w := range want.All() {
			if !payload.Equal(got.Value(k), w) {
				t.Errorf("%s: field %v: got %#v, want %#v", name, k, got.Value(k), w)
			}
		}
	} else if decoded != nil && !payload.Equal(v, decoded) {
		t.Errorf("%s: got %#v, want %#v", name, v, decoded)
	}
}

func TestRequestVectors(t *testing.T) {
	for _, f := range wiretest.LoadAll(t, wiretest.ExchangeFiles()...) {
		for _, e := range f.Exchanges() {
			r, err := payload.DecodeRequest(e.Request.Frame)
			if d, ok := e.Request.Decoded.(*payload.Map); !ok || !d.Has("enc") {
				if !errors.Is(err, payload.ErrEnvelope) && !errors.Is(err, payload.ErrMalformed) {
					t.Errorf("%s %s: %v read as a request", f.Name, e.Name, e.Request.Decoded)
				}
				continue
			}
			if d, ok := e.Request.Decoded.(*payload.Map); err != nil && ok && e.Request.Load == nil && !d.Has("load") {
				continue // hand-made, without a load
			}
			if (err != nil) != (e.Label == "version_map") || err != nil && !errors.Is(err, payload.ErrEnvelope) {
				t.Errorf("%s %s: %v", f.Name, e.Name, err)
			}
			if err != nil {
				continue
			}
			checkRequest(t, f.Name+" "+e.Name, r, &e)
		}
	}
}

func checkRequest(t *testing.T, name string, r *payload.Request, e *wiretest.Exchange) {
	t.Helper()
	if load, ok := r.Load.([]byte); e.Request.Load != nil && (!ok || len(load) < 64) {
		t.Errorf("%s: load is %T", name, r.Load)
	}
	if n, ok := e.Request.Version.(int64); ok && n >= 0 && n <= 3 && int64(r.Version) != n {
		t.Errorf("%s: version %d, want %d", name, r.Version, n)
	}
	if e.Label != "" { // hand-made ones are odd on purpose
		return
	}
	if got, err := r.Encode(); err != nil || !bytes.Equal(got, e.Request.Frame) {
		t.Errorf("%s: packed again: %v\n got %x\nwant %x", name, err, got, e.Request.Frame)
	}
}

func TestPublicationVectors(t *testing.T) {
	for _, f := range wiretest.LoadAll(t, wiretest.PublishFiles()...) {
		for _, p := range f.Publications() {
			got, err := payload.DecodePublication(p.Payload())
			if err != nil {
				t.Errorf("%s %s: %v", f.Name, p.Step, err)
				continue
			}
			if got.Enc != payload.EncAES || len(got.Load) < 64 || p.SigAlgo != "" && (got.SigAlgo != p.SigAlgo ||
				len(got.Sig) != 256) {
				t.Errorf("%s %s: %+v", f.Name, p.Step, got)
			}
			if b, err := got.Encode(); err != nil || !bytes.Equal(b, p.Payload()) {
				t.Errorf("%s %s: packed again: %v\n got %x\nwant %x", f.Name, p.Step, err, b, p.Payload())
			}
		}
	}
}
