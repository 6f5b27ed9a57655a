package archive

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Untar unpacks a tar archive below a directory, and gives the names in it. Members get owner, mode and time of the
// archive. It refuses what Scan calls harm.
func Untar(ctx context.Context, file string, root *os.Root) (names []string, err error) {
	s, err := openStream(ctx, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	t, who := &target{ctx: ctx, root: root}, newOwners(ctx)
	defer func() { err = errors.Join(err, t.finish()) }()
	for in := tar.NewReader(s); len(names) <= maxMembers; {
		h, err := in.Next()
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return names, err
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		name := strings.TrimRight(h.Name, "/")
		if err := checkName(name); err != nil {
			return names, err
		}
		if err := t.member(in, h, name, who); err != nil {
			return names, err
		}
		names = append(names, name)
	}
	return names, harm("it has more than %d members", maxMembers)
}

// member unpacks one member.
func (t *target) member(in io.Reader, h *tar.Header, name string, who *owners) error {
	a := attrs{mode: h.FileInfo().Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky),
		time: h.ModTime}
	if os.Geteuid() == 0 {
		a.owner = who.of(h.Uname, h.Gname, h.Uid, h.Gid)
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return t.directory(name, a)
	case tar.TypeSymlink:
		return t.symlink(name, h.Linkname, a)
	case tar.TypeLink:
		if err := checkName(h.Linkname); err != nil {
			return err
		}
		return t.link(name, func(place string) error { return t.root.Link(clean(h.Linkname), place) })
	case tar.TypeReg, '\x00', '7', 'S':
		return t.file(name, in, a)
	}
	return harm("%q is a device, a pipe, or something unknown", name)
}
