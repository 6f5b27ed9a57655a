package ssh

import (
	"os"
	"slices"
	"strings"

	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

type newKnown struct {
	User        string `arg:"user=None"`
	Host        string `arg:"hostname=None"`
	Fingerprint any    `arg:"fingerprint=None"`
	Key         any    `arg:"key=None"`
	Port        any    `arg:"port=None"`
	Enc         any    `arg:"enc=None"`
	Config      string `arg:"config=None"`
	Hashed      bool   `arg:"hash_known_hosts=True"`
	Timeout     string `arg:"timeout=5"`
	HashType    any    `arg:"fingerprint_hash_type=None"`
}

// setKnown lets a host be known.
func setKnown(c *loader.Call, a newKnown) (*payload.Map, error) {
	switch {
	case a.Host == "":
		return wrong("hostname argument required"), nil
	case strings.ContainsAny(a.Host+loader.Text(a.Key)+loader.Text(a.Enc), " \t\n\r\x00"):
		return wrong("A name or a key of a host contains no blank"), nil // unlike Salt, where it is a line of its own
	case a.Port != nil && !payload.Equal(a.Port, int64(defaultPort)) && a.Hashed:
		return wrong("argument port can not be used in conjunction with argument hash_known_hosts"), nil
	}
	stored, bad, err := aboutKnown{a.User, a.Host, a.Config, a.Port, a.HashType}.entries(c)
	if bad != nil || err != nil {
		return bad, err
	}
	if a.holds(stored) {
		return a.exists(stored), nil
	}
	rows := []*payload.Map{payload.M("hostname", a.Host, "enc", a.Enc, "key", a.Key)}
	if !python.Truth(a.Key) {
		rows, bad, err = a.offered(c)
		if bad != nil || err != nil {
			return bad, err
		}
		if stored != nil && a.Fingerprint == nil && a.same(rows, stored) {
			return a.exists(stored), nil
		}
	}
	bad, err = a.write(c, rows)
	if bad != nil || err != nil {
		return bad, err
	}
	var old any
	if stored != nil {
		old = payload.AnyList(stored)
	}
	return payload.M("status", "updated", "old", old, "new", payload.AnyList(rows)), nil
}

// holds tells whether the host is known by what is asked for. Without a key or a fingerprint the host has to say.
func (a newKnown) holds(stored []*payload.Map) bool {
	switch {
	case stored == nil,
		python.Truth(a.Fingerprint) && !has(stored, "fingerprint", a.Fingerprint),
		python.Truth(a.Key) && !slices.Contains(a.keys(stored), a.Key):
		return false
	}
	return a.Key != nil || a.Fingerprint != nil
}

// keys are those of entries, of the type that is asked for.
func (a newKnown) keys(rows []*payload.Map) []any {
	out := []any{}
	for _, row := range rows {
		if a.Enc == nil || row.Value("enc") == a.Enc {
			out = append(out, row.Value("key"))
		}
	}
	return out
}

// same tells whether a host offers the keys that are stored, and no others.
func (a newKnown) same(offered, stored []*payload.Map) bool {
	all, now := (newKnown{}).keys(offered), a.keys(stored)
	within := func(list, in []any) bool {
		return !slices.ContainsFunc(list, func(v any) bool { return !slices.Contains(in, v) })
	}
	return within(all, now) && within(now, all)
}

func (a newKnown) exists(stored []*payload.Map) *payload.Map {
	return payload.M("status", "exists", "keys", a.keys(stored))
}

// offered are the keys that the host offers, if the one that is asked for is among them.
func (a newKnown) offered(c *loader.Call) (rows []*payload.Map, bad *payload.Map, err error) {
	v, err := receive(c, asked{a.Host, a.Enc, a.Port, a.Hashed, a.Timeout, a.HashType})
	if err != nil {
		return nil, nil, err
	}
	list, _ := v.([]any)
	for _, item := range list {
		rows = append(rows, item.(*payload.Map))
	}
	switch {
	case rows == nil:
		bad = wrong("Unable to receive remote host keys")
	case python.Truth(a.Fingerprint) && !has(rows, "fingerprint", a.Fingerprint):
		bad = wrong("Remote host public keys found but none of their fingerprints match the one you have provided")
	}
	return rows, bad, nil
}

// write puts entries into the file, in the place of those of the host that are there.
func (a newKnown) write(c *loader.Call, rows []*payload.Map) (*payload.Map, error) {
	file, bad, err := knownFile(c, a.User, a.Config)
	if bad != nil || err != nil {
		return bad, err
	}
	text, mode := "", uint32(0o600)
	if info, err := os.Stat(file.path); err == nil && info.Mode().IsRegular() {
		mode = uint32(info.Mode().Perm())
		if text, err = a.withoutHost(c, file); err != nil {
			return nil, err
		}
	}
	for _, row := range rows {
		text += a.line(row)
	}
	err = file.makeDir()
	if err == nil {
		err = safefile.Write(file.path, []byte(text), safefile.Attrs{Owner: file.owner(), Mode: &mode}, true)
	}
	if err != nil {
		return nil, loader.ExecErr("Couldn't append to known hosts file: '%s'", loader.Message(err))
	}
	if python.Truth(a.Key) && a.Hashed {
		_, err = hashKnown(c, hashing{a.User, file.path})
	}
	return nil, err
}

// line is an entry as a line. The port stays in the entry, as in Salt.
func (a newKnown) line(row *payload.Map) string {
	host := row.Str("hostname")
	if !a.Hashed && a.Port != nil && !payload.Equal(a.Port, int64(defaultPort)) && !strings.Contains(host, ":") {
		row.Set("port", a.Port)
		host = bracketed(host, a.Port)
	}
	return host + " " + python.Str(row.Value("enc")) + " " + python.Str(row.Value("key")) + "\n"
}

// withoutHost is the text of the file without the lines of the host.
func (a newKnown) withoutHost(c *loader.Call, file owned) (string, error) {
	found, err := file.find(c, a.Host, a.Port)
	if err != nil {
		return "", err
	}
	text, err := read(file.path)
	if err != nil {
		return "", loader.ExecErr("Couldn't remove old entry(ies) from known hosts file: '%s'", loader.Message(err))
	}
	numbers := lineNumbers(found, loader.Text(a.Enc))
	var out strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; !slices.Contains(numbers, n) {
			out.WriteString(line)
		}
	}
	if s := out.String(); s != "" && !strings.HasSuffix(s, "\n") {
		out.WriteString("\n") // unlike Salt, which joins two lines then
	}
	return out.String(), nil
}

// chmod gives the file a mode, and its owner.
func (o owned) chmod(mode uint32) error {
	err := safefile.SetAttrs(o.path, safefile.Attrs{Owner: o.owner(), Mode: &mode}, true)
	if err != nil {
		return loader.ExecErr("%s", loader.Message(err))
	}
	return nil
}
