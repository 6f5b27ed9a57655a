package mount

import (
	"slices"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/re"
)

// invisible are options that the kernel does not show, and invisibleKeys those that have values.
const (
	invisible = "_netdev actimeo bg comment defaults delay_connect direct-io-mode intr loop nointr nobootwait nofail " +
		"password reconnect retry soft auto users bind nonempty transform_symlinks port backup-volfile-servers"
	invisibleKeys = "actimeo comment credentials direct-io-mode password port retry secretfile"
)

// showing says how options look once they are mounted.
type showing struct {
	invisible []string
	keys      []string
	ignored   []string // keys for which this file system is not mounted again
	translate map[string]string
	active    []string
	size      bool // the file system that is mounted has a size
}

func (p *place) showing() showing {
	s := showing{invisible: strings.Fields(invisible), keys: strings.Fields(invisibleKeys),
		translate: map[string]string{"tcp": "proto=tcp", "udp": "proto=udp"},
		active:    append(words(p.here.Value("opts")), words(p.here.Value("superopts"))...)}
	s.invisible = append(append(s.invisible, texts(p.Invisible)...), words(p.Hidden)...)
	s.keys = append(s.keys, texts(p.InvisibleK)...)
	if p.fstype == "ramfs" {
		s.ignored = []string{"size"}
	}
	if more, ok := p.IgnoreFS.(*payload.Map); ok && more.Has(p.fstype) {
		s.ignored = texts(more.Value(p.fstype))
	}
	if more, ok := p.Translate.(*payload.Map); ok {
		for key, v := range more.All() {
			s.translate[python.Str(key)] = python.Str(v)
		}
	}
	for _, opt := range words(p.here.Value("superopts")) {
		s.size = s.size || inKilobytes(opt) != opt || strings.HasPrefix(opt, "size=") && strings.HasSuffix(opt, "k")
	}
	return s
}

// texts are a list of texts, or one text.
func texts(v any) []string {
	if text, ok := v.(string); ok {
		return []string{text}
	}
	return loader.StringList(v)
}

// changedOptions are the wanted options that what is mounted does not show, sorted. As in Salt, the options of a file
// system that has a size do not count.
func (p *place) changedOptions() ([]string, error) {
	s := p.showing()
	if s.size {
		return nil, nil
	}
	var out []string
	for _, opt := range p.opts {
		shown, err := p.shownAs(opt, s)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(slices.Concat(s.active, s.invisible, s.ignored, s.keys), shown) {
			out = append(out, shown)
		}
	}
	slices.Sort(out)
	return out, nil
}

// shownAs is an option as the kernel shows it.
func (p *place) shownAs(opt string, s showing) (string, error) {
	if other, ok := s.translate[opt]; ok {
		opt = other
	}
	key, v, hasValue := strings.Cut(opt, "=")
	if slices.Contains(s.keys, key) {
		return key, nil
	}
	opt = inKilobytes(opt)
	if p.fstype == "cifs" && key == "user" {
		return "username=" + v, nil
	}
	if slices.Contains(s.ignored, key) {
		return key, nil
	}
	fun := map[string]string{"uid": "user.info", "gid": "group.info"}[key]
	if fun == "" || !hasValue {
		return opt, nil
	}
	if _, err := strconv.ParseUint(v, 10, 32); err == nil {
		return opt, nil
	}
	found, err := p.c.Salt(fun, nil, v)
	if info, _ := found.(*payload.Map); info.Has(key) {
		opt = key + "=" + python.Str(info.Value(key))
	}
	return opt, err
}

// inKilobytes is a size as the kernel shows it.
func inKilobytes(opt string) string {
	size, ok := strings.CutPrefix(opt, "size=")
	if !ok || size == "" {
		return opt
	}
	unit, ok := map[byte]int64{'k': 1, 'm': 1 << 10, 'g': 1 << 20}[size[len(size)-1]]
	n, err := strconv.ParseInt(size[:len(size)-1], 10, 40)
	if !ok || err != nil {
		return opt
	}
	return "size=" + strconv.FormatInt(n*unit, 10) + "k"
}

func matchesStart(pattern, text string) (bool, error) {
	p, err := re.Compile(pattern)
	if err != nil {
		return false, loader.Raise("re.error", "%s", err)
	}
	return p.Match(text)
}
