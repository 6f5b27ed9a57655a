// Package wiretest is for tests only. It loads the recorded vectors of the wire (testdata, see the README there) and
// returns them as typed cases: exchanges on the request port, publications, streams of the event bus, keys. It does not
// check them. Besides, it makes certificates, reads answers of Salt that other packages have recorded, and lists the
// fields of requests.
package wiretest

import (
	"embed"
	"encoding/hex"
	"testing"

	"brine/wire/payload"
)

//go:embed testdata/*.json
var files embed.FS

// File is one vector file. Doc holds all of it, in the order of the file.
type File struct {
	Name string
	Doc  *payload.Map
	t    testing.TB
	rsa  *payload.Map // keys of rsa.json, for files that only name them
}

// Load reads a vector file by its name without the ending: "auth_v3".
func Load(t testing.TB, name string) *File {
	t.Helper()
	b, err := files.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatalf("vectors: %v", err)
	}
	v, err := parseJSON(b)
	if err != nil {
		t.Fatalf("vectors %s: %v", name, err)
	}
	doc, ok := v.(*payload.Map)
	if !ok {
		t.Fatalf("vectors %s: not an object", name)
	}
	return &File{Name: name, Doc: doc, t: t}
}

// LoadAll reads several files.
func LoadAll(t testing.TB, names ...string) []*File {
	t.Helper()
	var out []*File
	for _, n := range names {
		out = append(out, Load(t, n))
	}
	return out
}

// ExchangeFiles are the names of the files with exchanges on the request port.
func ExchangeFiles() []string {
	return []string{
		"auth_3006", "auth_3007", "auth_v3",
		"requests_3006", "requests_3007", "requests_v3",
		"edge_3006", "edge_3007", "edge_v3", "edge_v3_min0",
		"variant_filtered_signed_3006", "variant_filtered_signed_3007", "variant_v3",
	}
}

// PublishFiles are the names of the files with publications.
func PublishFiles() []string {
	return []string{
		"publish_3006", "publish_3007", "publish_v3",
		"variant_filtered_signed_3006", "variant_filtered_signed_3007", "variant_v3",
	}
}

// List returns the maps in a list: f.List("cases").
func (f *File) List(key string) []*payload.Map { return maps(f.Doc.List(key)) }

func maps(list []any) []*payload.Map {
	out := make([]*payload.Map, 0, len(list))
	for _, v := range list {
		if m, ok := v.(*payload.Map); ok {
			out = append(out, m)
		}
	}
	return out
}

// Hex reads the hexadecimal field key of m. It fails the test if that is not possible.
func Hex(t testing.TB, m *payload.Map, key string) []byte {
	t.Helper()
	b, err := hex.DecodeString(m.Str(key))
	if err != nil {
		t.Fatalf("vectors: field %s: %v", key, err)
	}
	return b
}

// frame reads <key>_b64 or <key>_hex.
func frame(t testing.TB, m *payload.Map, key string) []byte {
	t.Helper()
	if s, ok := m.Value(key + "_b64").(string); ok {
		return unbase64(t, s)
	}
	return Hex(t, m, key+"_hex")
}
