package mount

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"brine/modules/loader"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// form is how the lines of a table of file systems look.
type form struct {
	keys    []string
	least   int    // columns that must be there; the others are "0"
	line    string // as fmt has it
	special []string
}

// fstab is the form of Linux. Special file systems are known by their place, the others by their device.
func fstab() form {
	return form{keys: []string{"device", "name", "fstype", "opts", "dump", "pass_num"}, least: 4,
		line: "%s\t\t%s\t%s\t%s\t%s %s\n", special: strings.Fields("none tmpfs sysfs proc fusectl debugfs securityfs " +
			"devtmpfs cgroup nfs nfs4 glusterfs btrfs ceph")}
}

func vfstab() form {
	return form{keys: []string{"device", "device_fsck", "name", "fstype", "pass_fsck", "mount_at_boot", "opts"}, least: 7,
		line: "%-11s %-3s %-19s %-8s %-3s %-6s %s\n", special: strings.Fields("devfs proc ctfs objfs sharefs fs tmpfs")}
}

// columns are those of a line; nil where it is a comment, or no entry.
func (f form) columns(line string) map[string]string {
	words := strings.Fields(line)
	if strings.HasPrefix(line, "#") || len(words) < f.least || len(words) > len(f.keys) {
		return nil
	}
	out := map[string]string{}
	for i, key := range f.keys {
		out[key] = "0"
		if i < len(words) {
			out[key] = words[i]
		}
	}
	return out
}

// print is an entry as a line.
func (f form) print(entry map[string]string) string {
	values := make([]any, len(f.keys))
	for i, key := range f.keys {
		values[i] = entry[key]
	}
	return fmt.Sprintf(f.line, values...)
}

// matches tells whether a line has these values; the order of options does not count.
func matches(line, wanted map[string]string) bool {
	for key, v := range wanted {
		if key == "opts" && sortedWords(line[key]) == sortedWords(v) {
			continue
		}
		if line[key] != v {
			return false
		}
	}
	return line != nil
}

func sortedWords(opts string) string {
	words := strings.Split(opts, ",")
	slices.Sort(words)
	return strings.Join(words, ",")
}

// escaped is a value as it stands in a table. Unlike Salt, where a blank or a line end in a value spoils the table.
func escaped(v string) string {
	return strings.NewReplacer(`\ `, `\040`, " ", `\040`, "\t", `\011`, "\n", `\012`, "\r", `\015`).Replace(v)
}

type inTable struct {
	Config string `arg:"config=/etc/fstab"`
}

func listTable(_ *loader.Call, a inTable) (*payload.Map, error) { return list(a.Config) }

type inVTable struct {
	Config string `arg:"config=/etc/vfstab"`
}

func listVTable(_ *loader.Call, a inVTable) (*payload.Map, error) { return list(a.Config) }

func list(config string) (*payload.Map, error) {
	out := payload.NewMap(0)
	if !isFile(config) {
		return out, nil
	}
	text, err := readTable(config)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		entry := fstab().columns(line)
		if entry == nil {
			continue
		}
		name := entry["name"]
		for out.Has(name) {
			name += "_"
		}
		out.Set(name, payload.M("device", entry["device"], "fstype", entry["fstype"], "opts",
			payload.AnyList(strings.Split(entry["opts"], ",")), "dump", entry["dump"], "pass", entry["pass_num"]))
	}
	return out, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

type entryGone struct {
	Name   any    `arg:"name"`
	Device any    `arg:"device"`
	Config string `arg:"config=/etc/fstab"`
}

func removeEntry(_ *loader.Call, a entryGone) (bool, error) { return drop(a, fstab()) }

type vEntryGone struct {
	Name   any    `arg:"name"`
	Device any    `arg:"device"`
	Config string `arg:"config=/etc/vfstab"`
}

func removeVEntry(_ *loader.Call, a vEntryGone) (bool, error) { return drop(entryGone(a), fstab()) }

// drop takes out the entries of a place, and of a device where one is given. It says True whatever it found, as Salt.
func drop(a entryGone, f form) (bool, error) {
	wanted := map[string]string{}
	for key, v := range map[string]any{"name": a.Name, "device": a.Device} {
		if v != nil {
			wanted[key] = escaped(loader.Text(v))
		}
	}
	text, err := readTable(a.Config)
	if err != nil {
		return false, loader.ExecErr("Couldn't read from %s: %s", a.Config, loader.Message(err))
	}
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if entry := f.columns(line); entry == nil || !matches(entry, wanted) {
			kept.WriteString(line)
		}
	}
	if kept.Len() == len(text) {
		return true, nil
	}
	if err := replace(a.Config, kept.String()); err != nil {
		return false, loader.ExecErr("Couldn't write to %s: %s", a.Config, loader.Message(err))
	}
	return true, nil
}

// replace writes a table whole, with the mode and the owner that it has. A link to it stays where nobody else could have
// put it there.
func replace(path, text string) error {
	how := wholefile.Options{Mode: 0o644, KeepMode: true, Sync: true}
	if info, err := os.Stat(filepath.Dir(path)); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			const othersWrite = 0o022
			own := st.Uid == 0 || int(st.Uid) == os.Geteuid()
			how.Follow = own && info.Mode().Perm()&othersWrite == 0
		}
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 && !how.Follow {
		return errors.New("it is a symbolic link in a folder of others")
	}
	return wholefile.Write(path, []byte(text), how)
}
