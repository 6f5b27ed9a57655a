package archive

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"brine/modules/host/safefile"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// updated are the changes that tell of other owners.
func updated() *payload.Map { return payload.M("updated ownership", true) }

// owners are who is to own what was unpacked.
type owners struct {
	*extraction
	wrong   []string // paths that somebody else owns, or another group
	missing []string
	failed  []string
}

func (e *extraction) owners() *owners { return &owners{extraction: e} }

// look finds what has another owner.
func (o *owners) look() error {
	if o.uid < 0 && o.gid < 0 {
		return nil
	}
	top := append(o.contents.TopDirs(), append(o.contents.Top(o.contents.Files),
		o.contents.Top(o.contents.Links)...)...)
	if python.Truth(o.OwnershipOn) {
		top = []string{python.Str(o.OwnershipOn)}
	}
	for _, name := range top {
		path := name
		if !filepath.IsAbs(name) {
			path = o.dir + name
		}
		if _, err := os.Lstat(strings.TrimRight(path, "/")); err != nil {
			o.missing = append(o.missing, path)
			if !strings.HasSuffix(name, "/") {
				o.failed = append(o.failed, path)
			}
			continue
		}
		err := filepath.WalkDir(strings.TrimRight(path, "/"), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			if st, ok := info.Sys().(*syscall.Stat_t); ok &&
				(o.uid >= 0 && int(st.Uid) != o.uid || o.gid >= 0 && int(st.Gid) != o.gid) {
				o.wrong = append(o.wrong, path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// give gives what is wrong to its owner.
func (o *owners) give() error {
	if len(o.wrong) == 0 {
		return nil
	}
	root, err := safefile.OpenRoot(o.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, path := range o.wrong {
		name, err := filepath.Rel(o.dir, path)
		if err == nil {
			err = root.Lchown(name, o.uid, o.gid)
		}
		if err != nil {
			o.failed = append(o.failed, path)
		} else {
			o.changes.Set("updated ownership", true)
		}
	}
	return nil
}

// told is a success, but for what could not be given to its owner.
func (o *owners) told(text string) states.Done {
	done := states.Done{Result: true, Changes: o.changes}
	if len(o.missing) > 0 {
		if !python.Truth(o.IfMissing) {
			done.Result = false
		}
		text += "\n\nWhile trying to enforce user/group ownership, the following paths were missing:\n\n- " +
			strings.Join(o.missing, "\n- ")
	}
	if len(o.failed) > 0 {
		done.Result = false
		text += "\n\nWhile trying to enforce user/group ownership, Salt was unable to change ownership on the " +
			"following " +
			"paths:\n\n- " + strings.Join(o.failed, "\n- ")
	}
	done.Comment = text
	return done
}
