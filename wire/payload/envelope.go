package payload

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrEnvelope means that a message is msgpack but not the expected envelope. A master answers such a request with
// TextBadLoad.
var ErrEnvelope = errors.New("payload: not an envelope")

const (
	maxVersion        = 3       // higher versions are read as this one
	maxEnvelopeValues = 1 << 20 // values in a request in clear, which anybody can send
)

// fieldNoFiles is NoFiles of a Request.
const fieldNoFiles = "brine_no_files"

// Request is the envelope of everything that is sent to a master's request port.
type Request struct {
	Enc     string // EncClear or EncAES; the reader must refuse anything else
	Load    any    // a *Map if clear, the ciphertext as []byte if aes; any other value is the peer's fault
	Version int    // 0 to 3; 0 if the peer names none
	ID      any    // the minion's id, with version 3 and aes only; nil if absent, text if the peer is honest
	EncAlgo string // names of RSA algorithms, aes only, "" if absent
	SigAlgo string
	// NoFiles is brine's own: a tool tells a brine master that it will not read files of the job that it publishes.
	// Salt's masters ignore fields that they do not know.
	NoFiles bool
	From    string // address of the sender, "" if unknown; never in the envelope
	Raw     *Map   // the whole envelope as received, with fields not named here; nil in our own
}

// DecodeRequest reads the payload frame of a request. The error wraps ErrMalformed if the frame is not msgpack, and
// ErrEnvelope if it is not a map, lacks "enc" or "load", or has a version of a type that crashes Salt.
func DecodeRequest(frame []byte) (*Request, error) {
	m, err := decodeEnvelope(frame)
	if err != nil {
		return nil, err
	}
	version, err := readVersion(m.Value("version"))
	if err != nil {
		return nil, err
	}
	r := &Request{
		Enc:     m.Str("enc"),
		Load:    m.Value("load"),
		Version: version,
		ID:      m.Value("id"),
		EncAlgo: m.Str("enc_algo"),
		SigAlgo: m.Str("sig_algo"),
		NoFiles: m.Bool(fieldNoFiles),
		Raw:     m,
	}
	if s, ok := r.Load.(string); ok && r.Enc == EncAES {
		r.Load = []byte(s)
	}
	return r, nil
}

func decodeEnvelope(frame []byte) (*Map, error) {
	if len(frame) > MaxFrame {
		return nil, malformed("frame too big")
	}
	v, err := decode(frame, decoder{left: maxEnvelopeValues, deepest: loadDepth})
	if err != nil {
		return nil, err
	}
	m, ok := v.(*Map)
	if !ok || !m.Has("enc") || !m.Has("load") {
		return nil, fmt.Errorf("%w: no map with enc and load", ErrEnvelope)
	}
	return m, nil
}

// readVersion reads the version like Python's int(): digits as text count, a fraction is cut off. A value that is not a
// number is 0. Unlike Salt: a container, which crashes a worker there, is an error.
func readVersion(v any) (int, error) {
	switch v := v.(type) {
	case int64:
		return clampVersion(float64(v)), nil
	case uint64:
		return maxVersion, nil
	case float64:
		return clampVersion(v), nil
	case bool:
		if v {
			return 1, nil
		}
	case string:
		n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
		if err == nil {
			return clampVersion(float64(n)), nil
		}
	case nil, []byte:
	default:
		return 0, fmt.Errorf("%w: version is a %T", ErrEnvelope, v)
	}
	return 0, nil
}

func clampVersion(v float64) int {
	switch {
	case v >= maxVersion:
		return maxVersion
	case v >= 0:
		return int(v)
	}
	return 0
}

// Encode packs the envelope in the order of Salt's clients. It leaves out fields without a value, and ignores Raw.
func (r *Request) Encode() ([]byte, error) {
	m := NewMap(6).Set("enc", r.Enc).Set("load", r.Load)
	if r.Version != 0 {
		m.Set("version", r.Version)
	}
	if r.ID != nil {
		m.Set("id", r.ID)
	}
	if r.EncAlgo != "" {
		m.Set("enc_algo", r.EncAlgo)
	}
	if r.SigAlgo != "" {
		m.Set("sig_algo", r.SigAlgo)
	}
	if r.NoFiles {
		m.Set(fieldNoFiles, true)
	}
	b, err := Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("pack request: %w", err)
	}
	return b, nil
}

// Publication is the envelope of everything that a master publishes.
type Publication struct {
	Enc     string // EncAES
	Load    []byte // the ciphertext
	SigAlgo string // "" from an old master, or if unsigned
	Sig     []byte // over Load; nil if unsigned
}

// DecodePublication reads the payload frame of a publication. The error wraps ErrMalformed or ErrEnvelope.
func DecodePublication(frame []byte) (*Publication, error) {
	m, err := decodeEnvelope(frame)
	if err != nil {
		return nil, err
	}
	p := &Publication{Enc: m.Str("enc"), Load: m.Bytes("load"), SigAlgo: m.Str("sig_algo"), Sig: m.Bytes("sig")}
	if p.Load == nil {
		return nil, fmt.Errorf("%w: load is no ciphertext", ErrEnvelope)
	}
	return p, nil
}

// Encode packs the envelope in the order of current masters: enc, load, sig_algo, sig.
func (p *Publication) Encode() ([]byte, error) {
	m := NewMap(4).Set("enc", p.Enc).Set("load", p.Load)
	if p.SigAlgo != "" {
		m.Set("sig_algo", p.SigAlgo)
	}
	if p.Sig != nil {
		m.Set("sig", p.Sig)
	}
	b, err := Append(make([]byte, 0, len(p.Load)+len(p.Sig)+64), m)
	if err != nil {
		return nil, fmt.Errorf("pack publication: %w", err)
	}
	return b, nil
}
