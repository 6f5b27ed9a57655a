package yumpkg

import (
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

type twoVersions struct {
	One         any          `arg:"pkg1"`
	Other       any          `arg:"pkg2"`
	IgnoreEpoch bool         `arg:"ignore_epoch=False"`
	KW          *payload.Map `arg:"**kwargs"`
}

func versionCmp(_ *loader.Call, a twoVersions) (int64, error) {
	return int64(compare(python.Str(a.One), python.Str(a.Other), a.IgnoreEpoch)), nil
}

// evr is a version in its parts.
type evr struct {
	epoch            int64
	version, release string
}

func evrOf(text string, ignoreEpoch bool) evr {
	epoch, rest, has := strings.Cut(text, ":")
	if !has {
		epoch, rest = "0", text
	}
	n, err := strconv.ParseInt(strings.TrimSpace(epoch), 10, 64)
	if err != nil || ignoreEpoch {
		n = 0
	}
	version, release, _ := strings.Cut(rest, "-")
	return evr{n, version, release}
}

// compare orders versions as rpm does. A release counts where both have one.
func compare(one, other string, ignoreEpoch bool) int {
	a, b := evrOf(one, ignoreEpoch), evrOf(other, ignoreEpoch)
	switch {
	case a.epoch < b.epoch:
		return -1
	case a.epoch > b.epoch:
		return 1
	}
	if order := segments(a.version, b.version); order != 0 || a.release == "" || b.release == "" {
		return order
	}
	return segments(a.release, b.release)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// segments orders texts by runs of digits and of letters. A tilde comes before everything, a caret after the end only.
func segments(a, b string) int {
	separator := func(r rune) bool {
		c := byte(r)
		return r > 0x7f || !isDigit(c) && !isLetter(c) && c != '~' && c != '^'
	}
	for a != "" || b != "" {
		a, b = strings.TrimLeftFunc(a, separator), strings.TrimLeftFunc(b, separator)
		if order, decided, again := marks(&a, &b); decided {
			return order
		} else if again {
			continue
		}
		if a == "" || b == "" {
			break
		}
		of, numbers := isLetter, isDigit(a[0])
		if numbers {
			of = isDigit
		}
		one, other := head(&a, of), head(&b, of)
		if other == "" { // numbers are newer than letters
			return map[bool]int{true: 1, false: -1}[numbers]
		}
		if numbers {
			one, other = strings.TrimLeft(one, "0"), strings.TrimLeft(other, "0")
			if len(one) != len(other) {
				return map[bool]int{true: 1, false: -1}[len(one) > len(other)]
			}
		}
		if order := strings.Compare(one, other); order != 0 {
			return order
		}
	}
	switch {
	case a == "" && b == "":
		return 0
	case a == "":
		return -1
	}
	return 1
}

// marks looks at a tilde or a caret at the beginning.
func marks(a, b *string) (order int, decided, again bool) {
	for _, mark := range []string{"~", "^"} {
		one, other := strings.HasPrefix(*a, mark), strings.HasPrefix(*b, mark)
		switch {
		case !one && !other:
			continue
		case one && other:
			*a, *b = (*a)[1:], (*b)[1:]
			return 0, false, true
		case mark == "^" && *a == "":
			return -1, true, false
		case mark == "^" && *b == "":
			return 1, true, false
		case one:
			return -1, true, false
		}
		return 1, true, false
	}
	return 0, false, false
}

// head cuts off what is of one kind.
func head(text *string, of func(byte) bool) string {
	i := 0
	for i < len(*text) && of((*text)[i]) {
		i++
	}
	out := (*text)[:i]
	*text = (*text)[i:]
	return out
}

// arches are what rpm knows as architectures; of one of several words it is one.
var arches = " x86_64 x86_64_v2 athlon amd64 ia32e ia64 geode i386 i486 i586 i686 ppc ppc64 ppc64le ppc64iseries " +
	"ppc64pseries s390 s390x alpha alphaev4 alphaev45 alphaev5 alphaev56 alphapca56 alphaev6 alphaev67 alphaev68 " +
	"alphaev7 armv5tel armv5tejl armv6l armv6hl armv7l armv7hl armv7hnl aarch64 sh3 sh4 sh4a "

func isArch(word string) bool { return word != "" && strings.Contains(arches, " "+word+" ") }

func is32(arch string) bool {
	return strings.Contains(" i386 i486 i586 i686 ", " "+arch+" ")
}

func isARM32(arch string) bool { return strings.HasPrefix(arch, "armv") }

func isX86(arch string) bool { return arch == "x86_64" || arch == "x86_64_v2" }

// resolve is the name of a package, with its architecture where that is not the host's.
func resolve(name, arch, own string) string {
	same := is32(arch) && is32(own) || isARM32(arch) && isARM32(own) || isX86(arch) && isX86(own)
	if same || arch == own || arch == "noarch" {
		return name
	}
	return name + "." + arch
}

// splitArch splits a name at its last dot, if an architecture follows.
func splitArch(name string) (short, arch string) {
	i := strings.LastIndex(name, ".")
	if i < 0 || !isArch(name[i+1:]) && name[i+1:] != "noarch" {
		return name, ""
	}
	return name[:i], name[i+1:]
}

type named struct {
	Name string `arg:"name"`
}

func ownArch(c *loader.Call) string {
	v, _ := c.Grain("osarch")
	return loader.Text(v)
}

func normalizeName(c *loader.Call, a named) (string, error) {
	short, arch := splitArch(a.Name)
	if arch != "" && resolve(short, arch, ownArch(c)) == short {
		return short, nil
	}
	return a.Name, nil
}

func parseArch(_ *loader.Call, a named) (*payload.Map, error) {
	short, arch := splitArch(a.Name)
	if arch == "" {
		return payload.M("name", short, "arch", nil), nil
	}
	return payload.M("name", short, "arch", arch), nil
}
