package mount

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type entered struct {
	Name      any `arg:"name"`
	File      any `arg:"fs_file"`
	VFSType   any `arg:"fs_vfstype"`
	Mntops    any `arg:"fs_mntops=defaults"`
	Freq      any `arg:"fs_freq=0"`
	Passno    any `arg:"fs_passno=0"`
	MountBy   any `arg:"mount_by=None"`
	Config    any `arg:"config=/etc/fstab"`
	Mount     any `arg:"mount=True"`
	MatchOn   any `arg:"match_on=auto"`
	NotChange any `arg:"not_change=False"`
	FSMount   any `arg:"fs_mount=True"` // is for AIX
}

func fstabPresent(c *states.Call, a entered) (states.Plan, error) {
	file := trimmed(a.File)
	spec, err := convert(c, python.Str(a.Name), a.MountBy)
	if err != nil {
		return states.Plan{}, err
	}
	if spec == "" {
		return states.Wrong([]any{"Device " + python.Str(a.Name) + " cannot be converted to " +
			python.Str(a.MountBy)}), nil
	}
	state, err := a.put(c, file, spec, true)
	if err != nil {
		return states.Plan{}, err
	}
	config := python.Str(a.Config)
	apply := func() (states.Done, error) { return a.apply(c, file, spec) }
	switch state {
	case "present":
		p := states.Plan{Result: true, Comment: []any{file + " entry was already in " + config + "."}}
		if c.Test {
			p.Comment = []any{file + " entry is already in " + config + "."}
		}
		return p, nil
	case "new":
		comment := []any{file + " entry will be written in " + config + "."}
		if python.Truth(a.Mount) {
			comment = append(comment, "Will mount "+python.Str(a.Name)+" on "+file)
		}
		return states.Would(comment, nil, apply), nil
	}
	return states.Would([]any{file + " entry will be updated in " + config + "."}, nil, apply), nil
}

// put puts the entry into the table, or tells what that would come to.
func (a entered) put(c *states.Call, file, spec string, test bool) (string, error) {
	v, err := call(c, "set_fstab", payload.M("name", file, "device", spec, "fstype", a.VFSType, "opts", a.Mntops,
		"dump", a.Freq, "pass_num", a.Passno, "config", a.Config, "match_on", a.MatchOn, "not_change", a.NotChange,
		"test", test))
	return loader.Text(v), err
}

func (a entered) apply(c *states.Call, file, spec string) (states.Done, error) {
	state, err := a.put(c, file, spec, false)
	if err != nil {
		return states.Done{}, err
	}
	config, changes := python.Str(a.Config), payload.M("persist", state)
	if state != "new" {
		return states.Changed([]any{file + " entry updated in " + config + "."}, changes)
	}
	comment := []any{file + " entry added in " + config + "."}
	if !python.Truth(a.Mount) {
		return states.Changed(comment, changes)
	}
	v, err := call(c, "mount", nil, file)
	if err != nil {
		return states.Done{}, err
	}
	if text, ok := v.(string); ok {
		_, why, found := strings.Cut(text, ":")
		if !found {
			why = " " + text
		}
		return states.Failed(append(comment, "Error while mounting "+why), changes)
	}
	return states.Changed(append(comment, "Mounted "+python.Str(a.Name)+" on "+file), changes)
}

// trimmed is a place without slashes at its end.
func trimmed(v any) string {
	if file := python.Str(v); file == "/" {
		return file
	}
	return strings.TrimRight(python.Str(v), "/")
}

// convert is a device by another of its names: device, uuid, label, partuuid, partlabel. "" is none.
func convert(c *states.Call, device string, to any) (string, error) {
	by := strings.ToUpper(loader.Text(to))
	if by == "" || to == "device" && strings.HasPrefix(device, "/") || strings.HasPrefix(device, by+"=") {
		return device, nil
	}
	kw := payload.M("device", device)
	if !strings.HasPrefix(device, "/") {
		kw = payload.M("token", device)
	}
	v, err := c.Salt("disk.blkid", kw)
	all, _ := v.(*payload.Map)
	if err != nil || all.Len() != 1 {
		return "", err
	}
	for name, info := range all.All() {
		if to == "device" {
			return python.Str(name), nil
		}
		tags, _ := info.(*payload.Map)
		if v, ok := tags.Get(by); ok { // Unlike Salt, which ends in a KeyError without it
			return by + "=" + python.Str(v), nil
		}
	}
	return "", nil
}

type dropped struct {
	Name    any `arg:"name"`
	File    any `arg:"fs_file"`
	MountBy any `arg:"mount_by=None"`
	Config  any `arg:"config=/etc/fstab"`
}

func fstabAbsent(c *states.Call, a dropped) (states.Plan, error) {
	file, config := trimmed(a.File), python.Str(a.Config)
	spec, err := convert(c, python.Str(a.Name), a.MountBy)
	if err != nil {
		return states.Plan{}, err
	}
	all, err := table(c, a.Config)
	if err != nil {
		return states.Plan{}, err
	}
	if !all.Has(file) {
		p := states.Correct([]any{file + " entry is already missing in " + config + "."})
		if c.Test {
			p.Result = nil // as in Salt
		}
		return p, nil
	}
	return states.Would([]any{file + " entry will be removed from " + config + "."}, nil, func() (states.Done, error) {
		v, err := call(c, "rm_fstab", payload.M("name", file, "device", spec, "config", a.Config))
		if err == nil && v != true {
			return states.Failed([]any{file + " entry failed when removing from " + config + "."}, nil)
		}
		return states.Done{Result: true, Comment: []any{file + " entry removed from " + config + "."},
			Changes: payload.M("persist", "removed")}, err
	}), nil
}
