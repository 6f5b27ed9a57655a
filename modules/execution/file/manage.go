package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"brine/modules/fileclient"
	"brine/modules/host/pypath"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

// Sight is what Look found: what stands, and how it differs from what should.
type Sight struct {
	There   bool // a file, or a link
	Link    bool // it is a link that is to be replaced by a file
	Differs bool // the content does
	Diff    string
	Counts  bool // the difference counts, as the Leniency has it
	Perms   PermChanges
	real    string // what the name leads to
	now     Standing
}

// Any tells whether something would change.
func (s *Sight) Any() bool { return !s.There || s.Link || s.Differs || s.Perms.Any() }

// Look compares what stands with what should. Get came before. wrong is a comment, where the source is not what it
// should be.
func (m *Managing) Look(c *loader.Call) (s *Sight, wrong string, err error) {
	s = &Sight{real: m.Name}
	info, err := os.Lstat(m.Name)
	if err == nil && !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0 {
		return nil, "", loader.ExecErr("%s is no plain file, and is not replaced", m.Name)
	}
	s.There = err == nil
	if err := m.keptMode(c); err != nil {
		return nil, "", err
	}
	if !s.There {
		wrong, err := m.lookNew(c, s)
		return s, wrong, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		s.Link = !m.Follow
		if m.Follow {
			s.real = pypath.Real(m.Name)
		}
	}
	if m.content != nil {
		if wrong, err := m.compare(c, s); wrong != "" || err != nil {
			return s, wrong, err
		}
	}
	s.now, err = standing(m.Name, m.Follow || s.Link)
	if s.now.Link { // it leads nowhere
		s.now = beginning(m.Name)
	}
	if err == nil {
		s.Perms, err = m.Perms.Differ(c, s.now)
	}
	return s, "", err
}

// keptMode takes the mode of the source, if that is wanted.
func (m *Managing) keptMode(c *loader.Call) error {
	if scheme := schemeOf(m.found.URL); !m.KeepMode || m.found.URL == "" || m.remote || scheme != "" &&
		scheme != "salt" && scheme != "file" {
		return nil
	}
	source := m.found.URL
	if schemeOf(source) == "file" {
		source = localPath(source)
	}
	client, err := fileclient.For(c)
	if err != nil {
		return err
	}
	url, env := fileclient.SplitEnv(source)
	if env == "" {
		env = m.Saltenv
	}
	stat, err := client.Stat(c.Ctx, url, env)
	if err != nil || len(stat) == 0 {
		return nil // the mode stays as it is, as with Salt
	}
	if bits, ok := whole(stat[0]); ok {
		m.Mode = NormalMode(fmt.Sprintf("%o", bits&0o7777))
	}
	return nil
}

// lookNew looks at a file that is to be made.
func (m *Managing) lookNew(c *loader.Call, s *Sight) (wrong string, err error) {
	s.Differs, s.Counts = true, true
	if m.content == nil {
		return "", nil
	}
	if m.remote || m.NewFileDiff {
		if wrong, err := m.verified(c); wrong != "" || err != nil {
			return wrong, err
		}
	}
	if m.NewFileDiff && m.Show {
		data, err := m.content.Bytes()
		if err != nil {
			return "", err
		}
		s.Diff = Diff(nil, data)
	}
	return "", nil
}

// compare compares contents, and makes the diff.
func (m *Managing) compare(c *loader.Call, s *Sight) (wrong string, err error) {
	same, err := m.content.heldBy(c.Ctx, s.real)
	if err != nil || same {
		return "", err
	}
	if wrong, err := m.verified(c); wrong != "" || err != nil {
		return wrong, err
	}
	s.Differs, s.Counts = true, !m.Lenient.Any()
	switch {
	case obfuscated(c) && (m.Contents == nil || m.Show):
		s.Diff = Obfuscated
		return "", nil
	case !m.Show && !m.Lenient.Any():
		s.Diff = Hidden
		return "", nil
	}
	was, err := readWhole(s.real)
	if err != nil {
		return "", err
	}
	is, err := m.content.Bytes()
	if err != nil {
		return "", err
	}
	s.Diff = Diff(was, is)
	if m.Lenient.Any() {
		s.Counts = m.Lenient.Counts(s.Diff)
	}
	if !m.Show {
		s.Diff = Hidden
	}
	return "", nil
}

// Changes is what test mode tells.
func (m *Managing) Changes(c *loader.Call, s *Sight) (*payload.Map, error) {
	changes := payload.NewMap(0)
	if !s.There {
		if s.Diff == "" {
			return changes.Set("newfile", m.Name), nil
		}
		return changes.Set("diff", s.Diff), nil
	}
	if s.Differs {
		changes.Set("diff", s.Diff)
	} else if s.Link {
		changes.Set("diff", replacedLink)
	}
	s.Perms.Show(m.Perms, changes)
	if python.Truth(m.Attrs) {
		_, add, remove, known, err := attrsDiffer(c, m.Name, m.Attrs)
		if err != nil {
			return nil, err
		}
		if known && (add != "" || remove != "") {
			changes.Set("attrs", m.Attrs)
		}
	}
	return changes, nil
}

const replacedLink = "Replace symbolic link with regular file"

// Apply makes the file what it should be. ret collects what has changed; an error is one that ends a state.
func (m *Managing) Apply(c *loader.Call, s *Sight, ret *Ret) error {
	if s.There {
		return m.change(c, s, ret)
	}
	return m.create(c, s, ret)
}

// change changes a file that is there.
func (m *Managing) change(c *loader.Call, s *Sight, ret *Ret) error {
	if s.Differs || s.Link {
		if err := m.backup(c, s.real); err != nil {
			return err
		}
		if err := m.write(s.attrs(), m.Follow); err != nil {
			ret.Fail("Failed to commit change: " + loader.Message(err))
			return nil
		}
		relabel(c, m.Name)
		if s.Diff != "" {
			ret.Changes.Set("diff", s.Diff)
		} else if s.Link {
			ret.Changes.Set("diff", replacedLink)
		}
	}
	if err := s.Perms.settle(c, m.Name, m.Perms, ret); err != nil {
		return err
	}
	now, err := standing(m.Name, m.Follow)
	if err == nil {
		err = m.Perms.attributes(c, m.Name, now, ret, false)
	}
	if err != nil {
		return err
	}
	switch {
	case ret.Changes.Len() > 0:
		ret.Comment = "File " + m.Name + " updated"
	case ret.Result == true:
		ret.Comment = "File " + m.Name + " is in the correct state"
	}
	return nil
}

// attrs are owner and mode of the file that is written. One that takes the place of a link has those of what that leads
// to.
func (s *Sight) attrs() safefile.Attrs {
	a := s.Perms.Attrs
	if !s.Link {
		return a
	}
	own := safefile.Owner{UID: s.now.UID, GID: s.now.GID}
	if o := a.Owner; o != nil && o.UID >= 0 {
		own.UID = o.UID
	}
	if o := a.Owner; o != nil && o.GID >= 0 {
		own.GID = o.GID
	}
	a.Owner = &own
	if a.Mode == nil {
		a.Mode = &s.now.Mode
	}
	return a
}

// backup keeps what is to be replaced.
func (m *Managing) backup(c *loader.Call, name string) error {
	if m.Backup != "minion" && m.Backup != "both" || !exists(name) {
		return nil
	}
	_, err := safefile.Backup(name, c.Opts().Str("cachedir"), time.Now())
	return err
}

// BackupMode is the argument backup, or the option that stands for it.
func BackupMode(c *loader.Call, v any) string {
	if python.Truth(v) {
		return python.Str(v)
	}
	return c.Opts().Str("backup_mode")
}

// write writes the content with what is to change of owner and mode. A process that may not give files away writes it
// all the same, closed to others, and the permissions tell what is left.
func (m *Managing) write(a safefile.Attrs, follow bool) error {
	err := m.writeAs(a, follow)
	if errors.Is(err, syscall.EPERM) && a.Owner != nil {
		a.Owner = nil
		err = m.writeAs(a, follow)
	}
	return err
}

func (m *Managing) writeAs(a safefile.Attrs, follow bool) error {
	in, err := m.content.open()
	if err != nil {
		return err
	}
	defer in.Close()
	return safefile.WriteFrom(m.Name, in, a, follow)
}

// create makes a new file. It has its owner and its mode before others can read it; the changes are told as Salt tells
// them, which begins with a file of its own.
func (m *Managing) create(c *loader.Call, s *Sight, ret *Ret) error {
	if wrong, err := m.parent(c); wrong != "" || err != nil {
		ret.Fail(wrong)
		return err
	}
	if m.content != nil && !m.remote {
		if wrong, err := m.verified(c); wrong != "" || err != nil {
			ret.Fail(wrong)
			return err
		}
	}
	p := m.Perms
	begin := beginning(m.Name)
	if p.Mode == nil {
		p.Mode = Standing{Mode: begin.Mode}.mode()
	}
	if m.Contents == nil && m.found.URL != "" || python.Truth(m.Perms.Mode) {
		begin.Mode = 0o600 // what Salt's temporary file has
	}
	d, err := p.Differ(c, begin)
	if err != nil {
		return err
	}
	if bits, ok := ModeBits(python.Str(p.Mode)); ok {
		d.Attrs.Mode = &bits
	}
	empty := m.content == nil
	if empty {
		m.content = Data(nil)
	}
	if err := m.write(d.Attrs, true); err != nil {
		return err
	}
	relabel(c, m.Name)
	switch {
	case empty:
		ret.Changes.Set("new", "file "+m.Name+" created")
		ret.Comment = "Empty file"
	case s.Diff != "":
		ret.Changes.Set("diff", s.Diff)
	default:
		ret.Changes.Set("diff", "New file")
	}
	if err := d.settle(c, m.Name, p, ret); err != nil {
		return err
	}
	if err := p.attributes(c, m.Name, Standing{}, ret, false); err != nil {
		return err
	}
	if ret.Comment == "" {
		ret.Comment = "File " + m.Name + " updated"
	}
	return nil
}

// WriteAside writes the content into a file of the caller's, which has owner and mode of the file itself.
func (m *Managing) WriteAside(c *loader.Call, name string) error {
	content := m.content
	if content == nil {
		content = Data(nil)
	}
	in, err := content.open()
	if err != nil {
		return err
	}
	defer in.Close()
	now, err := standing(name, true)
	if err != nil {
		return err
	}
	d, err := m.Perms.Differ(c, now)
	if err != nil {
		return err
	}
	return safefile.WriteFrom(name, in, d.Attrs, false)
}

// Forget removes the source from the cache (keep_source: False).
func (m *Managing) Forget(c *loader.Call) {
	client, err := fileclient.For(c)
	if err != nil || m.found.URL == "" || strings.HasPrefix(m.found.URL, "/") || schemeOf(m.found.URL) == "file" {
		return
	}
	if at := client.IsCached(m.found.URL, m.Saltenv); at != "" {
		_ = os.Remove(at)
	}
}

// beginning is what a new file has of the system: the user of this process, the group of it or of the directory, and
// what the umask leaves.
func beginning(name string) Standing {
	s := Standing{UID: os.Geteuid(), GID: os.Getegid(), Mode: 0o666 &^ umask()}
	var st unix.Stat_t
	if unix.Stat(pypath.Dir(name), &st) == nil && st.Mode&unix.S_ISGID != 0 {
		s.GID = int(st.Gid)
	}
	return s
}

// parent makes the directory that a new file is in, if that is wanted.
func (m *Managing) parent(c *loader.Call) (wrong string, err error) {
	if isDir(pypath.Dir(m.Name)) {
		return "", nil
	}
	if !m.MakeDirs {
		return "Parent directory not present", nil
	}
	mode := m.DirMode
	if mode == nil && m.Mode != nil {
		mode = DirModeFor(python.Str(m.Mode))
	}
	return "", MakeDirs(c, m.Name, m.User, m.Group, mode)
}

// DirModeFor is the mode of directories for files of a mode: who may do something with these may enter those.
func DirModeFor(mode string) string {
	digits := []byte(mode[max(0, len(mode)-3):])
	for i, d := range digits {
		if d != '0' && '0' <= d && d <= '7' {
			digits[i] = d | 1
		}
	}
	return string(digits)
}

// relabel gives a file the label that the policy of SELinux has for it, where one is enforced.
func relabel(c *loader.Call, name string) {
	if on, err := os.ReadFile("/sys/fs/selinux/enforce"); err == nil && strings.TrimSpace(string(on)) == "1" {
		_, _ = c.Call("cmd.run_all", []any{[]any{"restorecon", name}}, payload.M("python_shell", false))
	}
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
