package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/modules/host/pypath"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// backups are the functions for what was kept of files that were replaced (backup: minion).
func backups() []loader.Func {
	return []loader.Func{
		loader.Fn("list_backups", listBackups, "List the backups of a file, the newest one first.",
			"file.list_backups /foo/bar/baz.txt"),
		loader.Fn("list_backups_dir", listBackupsDir, "List the backups of the files in a directory.",
			"file.list_backups_dir /foo/bar/baz/"),
		loader.Fn("restore_backup", restoreBackup, "Put a backup in the place of a file, which is kept as one more.",
			"file.restore_backup /foo/bar/baz.txt 0"),
		loader.Fn("delete_backup", deleteBackup, "Remove a backup.", "file.delete_backup /var/cache/salt/minion/file_backup/"+
			"home/foo/bar/baz.txt 0"),
		loader.Fn("remove_backup", deleteBackup, "Remove a backup.", "file.delete_backup /var/cache/salt/minion/file_backup/"+
			"home/foo/bar/baz.txt 0"),
	}
}

type backed struct {
	location
	Limit any `arg:"limit=None"`
}

// kept is one backup.
type kept struct {
	at   time.Time
	path string
	size int64
}

// stampForm is the time in the name of a backup.
const stampForm = "Mon_Jan_2_15:04:05_2006"

// keptOf reads the time in the name of a backup of a file.
func keptOf(base, name string) (time.Time, bool) {
	rest, ok := strings.CutPrefix(name, base+"_")
	parts := strings.Split(rest, "_")
	if !ok || len(parts) != 6 {
		return time.Time{}, false
	}
	at, err := time.ParseInLocation(stampForm, strings.Join(slices.Delete(slices.Clone(parts), 4, 5), "_"), time.UTC)
	if err != nil {
		return time.Time{}, false
	}
	var micros int
	if n, err := fmt.Sscanf(parts[4], "%6d", &micros); n != 1 || err != nil {
		return time.Time{}, false
	}
	for range 6 - len(parts[4]) {
		micros *= 10
	}
	return at.Add(time.Duration(micros) * time.Microsecond), true
}

// backupsIn lists those in a directory that are backups of a file.
func backupsIn(dir, base string) []kept {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var out []kept
	for _, e := range entries {
		at, ok := keptOf(base, e.Name())
		info, err := e.Info()
		if ok && err == nil && info.Mode().IsRegular() {
			out = append(out, kept{at, filepath.Join(dir, e.Name()), info.Size()})
		}
	}
	slices.SortFunc(out, func(a, b kept) int { return b.at.Compare(a.at) })
	return out
}

func backupDir(c *loader.Call, of string) string {
	return pypath.Join(c.Opts().Str("cachedir"), safefile.BackupDir, strings.TrimPrefix(of, "/"))
}

// shown is a list of backups, of which at most so many are wanted.
func shown(list []kept, limit any) *payload.Map {
	if limit != nil {
		if n, err := loader.ToInt(limit); err == nil && n >= 0 && int(n) < len(list) {
			list = list[:n]
		}
	}
	out := payload.NewMap(len(list))
	for i, k := range list {
		out.Set(int64(i), payload.M("Backup Time", k.at.Format("Mon Jan 02 2006 15:04:05.000000"), "Size", k.size,
			"Location", k.path))
	}
	return out
}

func listBackups(c *loader.Call, a backed) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	dir, base := pypath.Split(name)
	return shown(backupsIn(backupDir(c, dir), base), a.Limit), nil
}

func listBackupsDir(c *loader.Call, a backed) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	dir := backupDir(c, pypath.Dir(name))
	out := payload.NewMap(0)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return out, nil
	}
	for _, e := range entries {
		base, _, _ := strings.Cut(e.Name(), "_")
		if !out.Has(base) {
			out.Set(base, shown(backupsIn(dir, base), a.Limit))
		}
	}
	return out, nil
}

type oneBackup struct {
	location
	ID any `arg:"backup_id"`
}

// find is the backup of a number; wrong is the comment where there is none.
func (a oneBackup) find(c *loader.Call) (name string, k kept, wrong string, err error) {
	if name, err = path(c, a.Path); err != nil {
		return "", k, "", err
	}
	n, err := loader.ToInt(a.ID)
	if err != nil || fmt.Sprint(n) != python.Str(a.ID) {
		return name, k, fmt.Sprintf("Invalid backup_id '%s'", python.Str(a.ID)), nil
	}
	dir, base := pypath.Split(name)
	list := backupsIn(backupDir(c, dir), base)
	if n < 0 || int(n) >= len(list) {
		return name, k, fmt.Sprintf("backup_id '%s' does not exist for %s", python.Str(a.ID), name), nil
	}
	return name, list[n], "", nil
}

func restoreBackup(c *loader.Call, a oneBackup) (any, error) {
	name, k, wrong, err := a.find(c)
	if err != nil || wrong != "" {
		return payload.M("result", false, "comment", wrong), err
	}
	if _, err := safefile.Backup(name, c.Opts().Str("cachedir"), time.Now()); err != nil {
		return nil, err
	}
	in, err := os.Open(k.path)
	if err == nil {
		defer in.Close()
		err = safefile.WriteFrom(name, in, safefile.Attrs{}, true)
	}
	if err != nil {
		return payload.M("result", false, "comment", fmt.Sprintf("Unable to restore %s to %s: %s", k.path, name,
			loader.Message(err))), nil
	}
	return payload.M("result", true, "comment", fmt.Sprintf("Successfully restored %s to %s", k.path, name)), nil
}

func deleteBackup(c *loader.Call, a oneBackup) (any, error) {
	_, k, wrong, err := a.find(c)
	if err != nil || wrong != "" {
		return payload.M("result", false, "comment", wrong), err
	}
	if err := os.Remove(k.path); err != nil {
		return payload.M("result", false, "comment", fmt.Sprintf("Unable to remove %s: %s", k.path,
			loader.Message(err))), nil
	}
	return payload.M("result", true, "comment", "Successfully removed "+k.path), nil
}
