package mount

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

type entrySet struct {
	Name      any          `arg:"name"`
	Device    any          `arg:"device"`
	FSType    any          `arg:"fstype"`
	Opts      any          `arg:"opts=defaults"`
	Dump      any          `arg:"dump=0"`
	PassNum   any          `arg:"pass_num=0"`
	Config    string       `arg:"config=/etc/fstab"`
	Test      any          `arg:"test=False"`
	MatchOn   any          `arg:"match_on=auto"`
	NotChange bool         `arg:"not_change=False"`
	KW        *payload.Map `arg:"**kwargs"`
}

func setTable(_ *loader.Call, a entrySet) (string, error) {
	return put(placing{form: fstab(), config: a.Config, match: a.MatchOn, keep: a.NotChange, test: testing(a.Test, a.KW),
		entry: map[string]string{"name": python.Str(a.Name), "device": python.Str(a.Device),
			"fstype": python.Str(a.FSType), "opts": joined(a.Opts), "dump": python.Str(a.Dump),
			"pass_num": python.Str(a.PassNum)}})
}

type vEntrySet struct {
	Name      any          `arg:"name"`
	Device    any          `arg:"device"`
	FSType    any          `arg:"fstype"`
	Opts      any          `arg:"opts=-"`
	Fsck      any          `arg:"device_fsck=-"`
	PassFsck  any          `arg:"pass_fsck=-"`
	AtBoot    any          `arg:"mount_at_boot=yes"`
	Config    string       `arg:"config=/etc/vfstab"`
	Test      any          `arg:"test=False"`
	MatchOn   any          `arg:"match_on=auto"`
	NotChange bool         `arg:"not_change=False"`
	KW        *payload.Map `arg:"**kwargs"`
}

func setVTable(_ *loader.Call, a vEntrySet) (string, error) {
	boot := "no"
	if a.AtBoot == "yes" {
		boot = "yes"
	}
	return put(placing{form: vfstab(), config: a.Config, match: a.MatchOn, keep: a.NotChange, test: testing(a.Test, a.KW),
		entry: map[string]string{"name": python.Str(a.Name), "device": python.Str(a.Device),
			"fstype": python.Str(a.FSType), "opts": joined(a.Opts), "device_fsck": python.Str(a.Fsck),
			"pass_fsck": python.Str(a.PassFsck), "mount_at_boot": boot}})
}

// testing tells whether nothing is to be written: any keyword that is called test in some way says so.
func testing(test any, kw *payload.Map) bool {
	if dicts.IsTrue(test) {
		return true
	}
	for key, v := range kw.All() {
		if name, ok := key.(string); ok && strings.EqualFold(name, "test") && dicts.IsTrue(v) {
			return true
		}
	}
	return false
}

// joined are options as one word.
func joined(v any) string {
	list, ok := v.([]any)
	if !ok {
		return python.Str(v)
	}
	words := make([]string, len(list))
	for i := range list {
		words[i] = python.Str(list[i])
	}
	return strings.Join(words, ",")
}

// placing is an entry on its way into a table.
type placing struct {
	form
	config string
	entry  map[string]string
	match  any  // columns by which an entry is known
	keep   bool // an entry that is there stays as it is
	test   bool
}

// put puts an entry into a table, or tells that it would: "new", "change" or "present".
func put(p placing) (string, error) {
	for key, v := range p.entry {
		p.entry[key] = escaped(v)
	}
	known, err := p.criteria()
	if err != nil {
		return "", err
	}
	if !isFile(p.config) {
		return "", loader.ExecErr(`Bad config file "%s"`, p.config)
	}
	text, err := readTable(p.config)
	if err != nil {
		return "", loader.ExecErr("Couldn't read from %s: %s", p.config, loader.Message(err))
	}
	out, state := p.edited(text, known)
	if state == "present" || p.test {
		return state, nil
	}
	if err := replace(p.config, out); err != nil {
		return "", loader.ExecErr("File not writable %s: %s", p.config, loader.Message(err))
	}
	return state, nil
}

// edited is the table with the entry.
func (p placing) edited(text string, known map[string]string) (out, state string) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		entry := p.columns(line)
		switch {
		case entry == nil || !matches(entry, known):
			b.WriteString(line)
		case p.keep || matches(entry, p.entry):
			b.WriteString(line)
			if state == "" {
				state = "present"
			}
		default:
			b.WriteString(p.print(p.entry))
			state = "change"
		}
	}
	if state == "" {
		if text != "" && !strings.HasSuffix(text, "\n") { // Unlike Salt, which would go on in the last line
			b.WriteByte('\n')
		}
		b.WriteString(p.print(p.entry))
		state = "new"
	}
	return b.String(), state
}

// criteria are the columns by which an entry is known.
func (p placing) criteria() (map[string]string, error) {
	var keys []string
	switch v := p.match.(type) {
	case []any:
		for _, key := range v {
			keys = append(keys, python.Str(key))
		}
	case string:
		keys = []string{v}
		if v == "auto" {
			keys = []string{"device"}
			if slices.Contains(p.special, p.entry["fstype"]) {
				keys = []string{"name"}
			}
		}
	default:
		return nil, loader.ExecErr("match_on must be a string or list of strings")
	}
	out := map[string]string{}
	for _, key := range keys {
		v, ok := p.entry[key]
		if !ok {
			return nil, loader.ExecErr(`Unrecognized keys in match_on: "%s"`, key)
		}
		out[key] = v
	}
	return out, nil
}

type ofAutomounter struct {
	Config string `arg:"config=/etc/auto_salt"`
}

func automaster(_ *loader.Call, a ofAutomounter) (*payload.Map, error) {
	out := payload.NewMap(0)
	if !isFile(a.Config) {
		return out, nil
	}
	text, err := readTable(a.Config)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if strings.HasPrefix(line, "#") || len(words) != 3 {
			continue
		}
		_, device, ok := strings.Cut(words[2], ":")
		if !ok {
			continue
		}
		device, _, _ = strings.Cut(device, ":")
		opts := payload.AnyList(strings.Split(words[1], ","))
		out.Set(strings.ReplaceAll(words[0], "/..", ""), payload.M("device", device, "fstype", opts[0], "opts", opts[1:]))
	}
	return out, nil
}
