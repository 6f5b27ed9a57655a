package mount

import (
	"slices"
	"strings"

	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// apply mounts what is to be mounted, and puts it into the table.
func (p *place) apply() (states.Done, error) {
	changes := payload.NewMap(0)
	done, more, err := p.applyMount(changes)
	if err != nil || !more || !python.Truth(p.Persist) {
		return done, err
	}
	state, err := p.persist(false)
	if err != nil {
		return states.Done{}, err
	}
	if p.cached() {
		kw := payload.M("mkmnt", p.Mkmnt, "fstype", p.fstype, "mount_opts", payload.AnyList(p.opts))
		if _, err := call(p.c, "write_mount_cache", kw, p.real, p.device); err != nil {
			return states.Done{}, err
		}
	}
	comment := python.Str(done.Comment)
	switch state {
	case "present":
		comment += ". Entry already exists in the fstab."
	case "new":
		changes.Set("persist", "new")
		comment += ". Added new entry to the fstab."
	case "change":
		changes.Set("persist", "update")
		comment += ". Updated the entry in the fstab."
	}
	done.Comment, done.Changes = comment, changes
	return done, nil
}

// cached tells whether the options are kept for the next time: those of what was mounted.
func (p *place) cached() bool { return python.Truth(p.Mount) && !slices.Equal(p.before, p.opts) }

// applyMount does what would tells; more is false where the table is not to be touched any more.
func (p *place) applyMount(changes *payload.Map) (done states.Done, more bool, err error) {
	done = states.Done{Result: true, Comment: "", Changes: changes}
	if p.here != nil && !python.Truth(p.Mount) {
		return done, true, nil
	}
	if p.here == nil {
		return p.mountNew(done)
	}
	if opts := slices.Concat(p.remount, p.dropped); len(opts) > 0 {
		if why, err := p.mountAgain(changes, strings.Join(opts, ",")); err != nil || why != "" {
			done.Result, done.Comment = false, why
			return done, false, err
		}
	}
	switch p.mismatch {
	case "":
		done.Comment = "Target was already mounted"
		return done, true, nil
	case "other":
		return p.mountOther(done)
	}
	done.Comment = ignoredMismatch + p.mismatch
	return done, true, nil
}

// mountNew mounts where nothing is mounted, or only makes the directory.
func (p *place) mountNew(done states.Done) (states.Done, bool, error) {
	switch there := exists(p.name); {
	case !python.Truth(p.Mount) && there:
		done.Comment = p.name + " not mounted"
		return done, true, nil
	case !python.Truth(p.Mount) && python.Truth(p.Mkmnt):
		_, err := p.c.Salt("file.mkdir", payload.M("user", p.User), p.name)
		done.Comment = p.name + " was created, not mounted"
		return done, true, err
	case !python.Truth(p.Mount):
		done.Comment = p.name + " not present and not mounted"
		return done, true, nil
	case !there && !python.Truth(p.Mkmnt):
		done.Result, done.Comment = false, "Mount directory is not present"
		return done, false, nil
	}
	v, err := call(p.c, "mount", payload.M("user", p.User), p.name, p.device, p.Mkmnt, p.fstype, payload.AnyList(p.opts))
	if err != nil {
		return done, false, err
	}
	if v != true {
		done.Result, done.Comment = false, v
		return done, false, nil
	}
	now, err := active(p.c)
	if now.Has(p.at) {
		done.Comment = "Target was successfully mounted"
		done.Changes.Set("mount", true)
	}
	return done, true, err
}

// mountAgain mounts with other options, for some file systems by unmounting first; why is that it cannot be.
func (p *place) mountAgain(changes *payload.Map, opts string) (why string, err error) {
	kw := payload.M("mkmnt", p.Mkmnt, "fstype", p.fstype, "opts", payload.AnyList(p.opts))
	if p.fstype != "nfs" && p.fstype != "cvfs" && !strings.HasPrefix(p.fstype, "fuse") {
		changes.Set("umount", "Forced remount because options ("+opts+") changed")
		v, err := call(p.c, "remount", kw, p.real, p.device)
		return failure(v), err
	}
	changes.Set("umount", "Forced unmount and mount because options ("+opts+") changed")
	v, err := call(p.c, "umount", nil, p.real)
	if err == nil && v != true {
		changes.Set("umount", "Forced a lazy unmount and mount because the previous unmount failed and because the "+
			"options ("+opts+") changed")
		v, err = call(p.c, "umount", payload.M("lazy", true), p.real)
	}
	if err != nil || v != true {
		return "Unable to unmount " + p.real + ": " + python.Str(v) + ".", err
	}
	v, err = call(p.c, "mount", kw, p.real, p.device)
	return failure(v), err
}

// failure is what a program wrote as its error. Unlike Salt, where it becomes the result of the state.
func failure(v any) string {
	if v == true {
		return ""
	}
	return python.Str(v)
}

// mountOther mounts another device than the one that is mounted.
func (p *place) mountOther(done states.Done) (states.Done, bool, error) {
	text := "Forced unmount because devices don't match. Wanted: " + p.device
	if len(p.wanted) > 0 && p.wanted[0] != p.device {
		text += " (" + p.wanted[0] + ")"
	}
	done.Changes.Set("umount", text+", current: "+strings.Join(p.devices(), ", "))
	if _, err := call(p.c, "umount", payload.M("user", p.User), p.real); err != nil {
		return done, false, err
	}
	now, err := active(p.c)
	if err != nil || now.Has(p.at) {
		done.Result, done.Comment = false, "Unable to unmount"
		return done, false, err
	}
	return p.mountNew(done)
}
