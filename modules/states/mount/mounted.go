package mount

import (
	"path"
	"slices"
	"strings"

	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type mounting struct {
	Name        any          `arg:"name"`
	Device      any          `arg:"device"`
	FSType      any          `arg:"fstype"`
	Mkmnt       any          `arg:"mkmnt=False"`
	Opts        any          `arg:"opts=defaults"`
	Dump        any          `arg:"dump=0"`
	PassNum     any          `arg:"pass_num=0"`
	Config      any          `arg:"config=/etc/fstab"`
	Persist     any          `arg:"persist=True"`
	Mount       any          `arg:"mount=True"`
	User        any          `arg:"user=None"`
	MatchOn     any          `arg:"match_on=auto"`
	DeviceRegex any          `arg:"device_name_regex=None"`
	Invisible   any          `arg:"extra_mount_invisible_options=None"`
	InvisibleK  any          `arg:"extra_mount_invisible_keys=None"`
	IgnoreFS    any          `arg:"extra_mount_ignore_fs_keys=None"`
	Translate   any          `arg:"extra_mount_translate_options=None"`
	Hidden      any          `arg:"hidden_opts=None"`
	CopyActive  any          `arg:"bind_mount_copy_active_opts=True"`
	KW          *payload.Map `arg:"**kwargs"`
}

// place is where, with what shall be mounted there, and what is.
type place struct {
	mounting
	c        *states.Call
	name     string // without slashes at the end
	real     string // behind links
	at       string // as the tables of the kernel write it
	device   string
	fstype   string
	opts     []string
	wanted   []string     // names of the device, any of which may be mounted
	active   *payload.Map // what is mounted, by its place
	here     *payload.Map // what is mounted at this place; nil: nothing
	mismatch string       // "other", or the device that is let through
	remount  []string     // options for which it is mounted again
	before   []string     // options that a state before had
	dropped  []string     // of them those that this one has not
}

func mounted(c *states.Call, a mounting) (states.Plan, error) {
	for _, must := range []struct {
		value any
		what  string
	}{{a.Name, "name"}, {a.Device, "device"}, {a.FSType, "fstype"}} {
		if !python.Truth(must.value) {
			return states.Wrong("Must provide " + must.what + " to mount.mounted"), nil
		}
	}
	p := &place{mounting: a, c: c, device: python.Str(a.Device), fstype: python.Str(a.FSType), opts: words(a.Opts)}
	if p.name = python.Str(a.Name); p.name != "/" {
		p.name = strings.TrimRight(p.name, "/")
	}
	p.real = pypath.Real(p.name)
	p.at = strings.ReplaceAll(p.real, " ", `\040`)
	if wrong, err := p.look(); wrong != "" || err != nil {
		return states.Wrong(wrong), err
	}
	plan, err := p.would()
	plan.Apply = p.apply
	return plan, err
}

// words are a list of texts, or a text with commas.
func words(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return strings.Split(v, ",")
	}
	return loader.StringList(v)
}

// look finds out what is mounted; wrong is why the device cannot be known.
func (p *place) look() (wrong string, err error) {
	if p.active, err = active(p.c); err != nil {
		return "", err
	}
	p.here, _ = p.active.Value(p.at).(*payload.Map)
	if wrong, err = p.lookDevice(); wrong != "" || err != nil {
		return wrong, err
	}
	if p.here == nil || !python.Truth(p.Mount) {
		return "", nil
	}
	if p.remount, err = p.changedOptions(); err != nil {
		return "", err
	}
	v, err := call(p.c, "read_mount_cache", nil, p.real)
	before, _ := v.(*payload.Map)
	p.before = words(before.Value("opts"))
	for _, opt := range p.before {
		if !slices.Contains(p.opts, opt) {
			p.dropped = append(p.dropped, opt)
		}
	}
	if err != nil {
		return "", err
	}
	return "", p.lookMismatch()
}

// lookDevice finds the names under which the kernel may show the device.
func (p *place) lookDevice() (wrong string, err error) {
	upper := strings.ToUpper(p.device)
	_, tag, _ := strings.Cut(p.device, "=")
	real := p.device
	switch {
	case strings.HasPrefix(p.device, "/") && slices.Contains(p.opts, "bind") && p.here != nil:
		if real, err = p.boundDevice(); err != nil {
			return "", err
		}
	case strings.HasPrefix(p.device, "/"):
		real = pypath.Real(p.device)
	case strings.HasPrefix(upper, "UUID="):
		real = strings.ToLower(strings.Trim(tag, `"`))
	case strings.HasPrefix(upper, "LABEL="):
		return p.labelled(tag)
	case strings.HasPrefix(upper, "PARTUUID="), strings.HasPrefix(upper, "PARTLABEL="):
		key, _, _ := strings.Cut(strings.ToLower(p.device), "=")
		real = pypath.Real("/dev/disk/by-" + key + "/" + strings.Trim(tag, `"`))
	}
	if vg, lv, ok := strings.Cut(strings.TrimPrefix(p.device, "/dev/"), "/"); ok && !strings.Contains(lv, "/") &&
		strings.HasPrefix(p.device, "/dev/") && vg != "" && lv != "" {
		mapper := "/dev/mapper/" + strings.ReplaceAll(vg, "-", "--") + "-" + strings.ReplaceAll(lv, "-", "--")
		if exists(mapper) {
			real = mapper
		}
	}
	if kind, name, ok := strings.Cut(p.device, "#"); ok && isWord(kind) && name != "" {
		real = name // of a file system in user space, whose kind is not shown
	}
	p.wanted = []string{real}
	return "", nil
}

func isWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
}

// labelled are the devices with a label.
func (p *place) labelled(label string) (wrong string, err error) {
	v, err := p.c.Salt("cmd.run_all", payload.M("python_shell", false), []any{"blkid", "-t", "LABEL=" + label})
	ran, _ := v.(*payload.Map)
	if code, _ := ran.Int("retcode"); err != nil || code > 0 {
		return "Unable to find device with label " + label + ".", err
	}
	for line := range strings.Lines(ran.Str("stdout")) {
		if device, _, ok := strings.Cut(line, ":"); ok {
			p.wanted = append(p.wanted, device)
		}
	}
	return "", nil
}

// boundDevice is the device of a folder that is mounted a second time. The options of the first time count for it, too.
func (p *place) boundDevice() (string, error) {
	shown := p.here.Str("device")
	device := strings.ReplaceAll(p.device, " ", `\040`)
	from, _ := p.active.Value(device).(*payload.Map)
	for strings.HasPrefix(shown, "/") && from == nil && device != "/" {
		device = path.Dir(strings.ReplaceAll(device, `\040`, " "))
		from, _ = p.active.Value(device).(*payload.Map)
	}
	p.here = p.here.Clone().Set("opts", append(p.here.List("opts"), "bind"))
	if from == nil {
		return shown, nil
	}
	if python.Truth(p.CopyActive) {
		p.opts = append(append(p.opts, words(from.Value("opts"))...), words(from.Value("superopts"))...)
		slices.Sort(p.opts)
		p.opts = slices.Compact(p.opts)
	}
	if strings.HasPrefix(shown, "/") {
		return from.Str("device"), nil
	}
	return shown, nil
}

// devices are the names of the device that is mounted.
func (p *place) devices() []string {
	shown := p.here.Str("device")
	out := []string{shown}
	if strings.HasPrefix(shown, "/") {
		out = append(out, pypath.Real(shown))
	}
	for _, key := range []string{"alt_device", "device_uuid", "device_label"} {
		if name := p.here.Str(key); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// lookMismatch finds out whether another device is mounted.
func (p *place) lookMismatch() error {
	devices := p.devices()
	for _, name := range p.wanted {
		if slices.Contains(devices, name) {
			return nil
		}
	}
	p.mismatch = "other"
	for _, pattern := range loader.StringList(p.DeviceRegex) {
		for _, device := range devices {
			ok, err := matchesStart(pattern, device)
			if err != nil {
				return err
			}
			if ok {
				p.mismatch = device
			}
		}
	}
	return nil
}

// would tells what test mode shows, in the order in which Salt looks.
func (p *place) would() (states.Plan, error) {
	comment, done := "", false
	var result any = true
	switch {
	case len(p.remount) > 0:
		return states.Plan{Comment: "Remount would be forced because options (" + strings.Join(p.remount, ",") +
			") changed"}, nil
	case len(p.dropped) > 0:
		return states.Plan{Comment: "Remount would be forced because options (" + strings.Join(p.dropped, ",") +
			")changed"}, nil
	case p.here == nil:
		if comment, result, done = p.wouldMount(); done {
			return states.Plan{Comment: comment}, nil
		}
	case !python.Truth(p.Mount):
	case p.mismatch == "other":
		result, comment = nil, "An umount would have been forced because devices do not match.  Watched: "+p.device
	case p.mismatch != "":
		comment = ignoredMismatch + p.mismatch
	default:
		comment = "Target was already mounted"
	}
	if !python.Truth(p.Persist) {
		return states.Plan{Result: result, Comment: comment}, nil
	}
	state, err := p.persist(true)
	switch {
	case err != nil:
		return states.Plan{}, err
	case state == "present":
		return states.Plan{Result: result, Comment: comment + ". Entry already exists in the fstab."}, nil
	}
	return states.Plan{Comment: comment + ". " + p.wouldPersist(state)}, nil
}

const ignoredMismatch = "An umount will not be forced because device matched device_name_regex: "

// wouldMount is what test mode shows where nothing is mounted; done says that there is no more to show.
func (p *place) wouldMount() (comment string, result any, done bool) {
	there, makes := exists(p.name), python.Truth(p.Mkmnt)
	switch {
	case python.Truth(p.Mount) && there:
		return p.name + " would be mounted", nil, true
	case python.Truth(p.Mount) && makes:
		return p.name + " would be created and mounted", nil, true
	case python.Truth(p.Mount):
		return p.name + " does not exist and would not be created", nil, true
	case there:
		return p.name + " would not be mounted", true, false
	case makes:
		return p.name + " would be created, but not mounted", nil, false
	}
	return p.name + " does not exist and would neither be created nor mounted", nil, false
}

func (p *place) wouldPersist(state string) string {
	isMounted := python.Truth(p.Mount)
	switch {
	case state == "new" && isMounted:
		return p.name + " is mounted, but needs to be written to the fstab in order to be made persistent."
	case state == "new":
		return p.name + " needs to be written to the fstab in order to be made persistent."
	case isMounted:
		return p.name + " is mounted, but its fstab entry must be updated."
	}
	return "The " + p.name + " fstab entry must be updated."
}

// persist puts the entry into the table, or tells what that would come to.
func (p *place) persist(test bool) (string, error) {
	v, err := call(p.c, "set_fstab", payload.M("match_on", p.MatchOn, "test", test), p.name, p.device, p.fstype,
		payload.AnyList(p.opts), p.Dump, p.PassNum, p.Config)
	return loader.Text(v), err
}
