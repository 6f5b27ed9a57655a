package archive

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"brine/modules/host/plainfile"
)

// Contents are the names in an archive, by what they are.
type Contents struct {
	Dirs, Files, Links []string
	// Harm is why the archive is not to be unpacked; nil: it may be.
	Harm error
	// Encrypted says that a password is needed.
	Encrypted bool

	linked map[string]bool // the links so far
}

// errForm means a file that is no archive of the form.
var errForm = errors.New("it is no such archive")

// errTruncated means a compressed file of which the end is missing; the text is Python's.
var errTruncated = errors.New("Compressed file ended before the end-of-stream marker was reached")

// Scan reads the names in a tar or zip archive.
func Scan(ctx context.Context, file, form string) (*Contents, error) {
	if form == "zip" {
		return scanZip(file)
	}
	s, err := openStream(ctx, file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	c := &Contents{}
	in, count := tar.NewReader(s), 0
	for {
		h, err := in.Next()
		switch {
		case err == io.EOF && count > 0:
			return c, nil
		case errors.Is(err, ErrHarm):
			c.Harm = err
			return c, nil
		case errors.Is(err, context.Canceled) || ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == io.EOF:
			return c, emptyTar(s)
		case errors.Is(err, io.ErrUnexpectedEOF) && s.packed:
			return nil, errTruncated
		case err != nil && count > 0 && !errors.Is(err, tar.ErrHeader) && !errors.Is(err, io.ErrUnexpectedEOF):
			return nil, err
		case err != nil:
			return nil, errForm
		}
		if count++; count > maxMembers {
			c.Harm = harm("it has more than %d members", maxMembers)
			return c, nil
		}
		c.addTar(h)
	}
}

// emptyTar tells an archive of nothing from a file of nothing: Python takes the one and not the other.
func emptyTar(s *stream) error {
	if b, ok := s.Reader.(*bounded); ok && b.left == allowed(b.size) {
		return errForm
	}
	return nil
}

// addTar adds a member of a tar archive.
func (c *Contents) addTar(h *tar.Header) {
	name := strings.TrimRight(h.Name, "/")
	if h.Name != "" && name == "" {
		name = h.Name
	}
	err := firstOf(checkName(name), func() error { return c.throughLink(name) })
	switch h.Typeflag {
	case tar.TypeSymlink:
		c.addLink(name)
		err = firstOf(err, func() error { return checkLink(name, h.Linkname) })
	case tar.TypeDir:
		c.Dirs = append(c.Dirs, name+"/")
	case tar.TypeLink:
		c.Files = append(c.Files, name)
		err = firstOf(err, func() error { return checkName(h.Linkname) })
	case tar.TypeReg, '\x00', '7', 'S':
		c.Files = append(c.Files, name)
	case tar.TypeXGlobalHeader:
		return
	default:
		c.Files = append(c.Files, name)
		err = firstOf(err, func() error { return harm("%q is a device, a pipe, or something unknown", name) })
	}
	c.Harm = firstOf(c.Harm, func() error { return err })
}

// addLink adds a link.
func (c *Contents) addLink(name string) {
	c.Links = append(c.Links, name)
	if c.linked == nil {
		c.linked = map[string]bool{}
	}
	c.linked[path.Clean(name)] = true
}

// throughLink refuses a name that goes through a link of the archive: where that leads only the disk knows.
func (c *Contents) throughLink(name string) error {
	name = path.Clean(name)
	for i := range name {
		if name[i] == '/' && c.linked[name[:i]] {
			return harm("the name %q goes through the link %q", name, name[:i])
		}
	}
	return nil
}

// firstOf is an error, or another one where there is none.
func firstOf(err error, next func() error) error {
	if err != nil {
		return err
	}
	return next()
}

func scanZip(file string) (*Contents, error) {
	z, err := openZip(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }()
	c, seen := &Contents{}, map[string]bool{}
	for _, f := range z.File {
		c.addZip(f, seen)
	}
	c.Harm = firstOf(c.Harm, z.check)
	for _, name := range slices.Clone(c.Files) {
		dir := name[:strings.LastIndexByte(name, '/')+1]
		if dir != "" {
			c.addDir(dir, seen)
			if i := slices.Index(c.Files, dir); i >= 0 {
				c.Files = slices.Delete(c.Files, i, i+1)
			}
		}
	}
	return c, nil
}

func (c *Contents) addDir(name string, seen map[string]bool) {
	if !seen[name] {
		seen[name] = true
		c.Dirs = append(c.Dirs, name)
	}
}

func (c *Contents) addZip(f *zip.File, dirs map[string]bool) {
	c.Encrypted = c.Encrypted || f.Flags&1 != 0
	switch mode := unixMode(f); {
	case mode&fs.ModeSymlink != 0:
		c.addLink(f.Name)
	case mode.IsDir():
		c.addDir(f.Name, dirs)
	default:
		c.Files = append(c.Files, f.Name)
	}
	c.Harm = firstOf(c.Harm, func() error { return checkName(strings.TrimRight(f.Name, "/")) })
	c.Harm = firstOf(c.Harm, func() error { return c.throughLink(f.Name) })
}

// unixMode is the mode that a member has in its upper bits, whoever has made the archive; 0: none.
func unixMode(f *zip.File) fs.FileMode {
	bits := f.ExternalAttrs >> 16
	mode := fs.FileMode(bits & 0o777)
	for bit, flag := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if bits&bit != 0 {
			mode |= flag
		}
	}
	switch bits & 0o170000 {
	case 0o120000:
		mode |= fs.ModeSymlink
	case 0o040000:
		mode |= fs.ModeDir
	case 0o010000, 0o020000, 0o060000, 0o140000:
		mode |= fs.ModeIrregular
	}
	return mode
}

// zipFile is a zip archive that is open.
type zipFile struct {
	*zip.Reader
	close func() error
	size  int64
}

func (z *zipFile) Close() error { return z.close() }

func openZip(file string) (*zipFile, error) {
	f, err := plainfile.Open(file)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r, err := zip.NewReader(f, info.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		_ = f.Close()
		return nil, fmt.Errorf("%w: %w", errForm, err)
	}
	return &zipFile{r, f.Close, info.Size()}, nil
}

// check refuses an archive of too many members, or of too much.
func (z *zipFile) check() error {
	if len(z.File) > maxMembers {
		return harm("it has more than %d members", maxMembers)
	}
	left := uint64(allowed(z.size))
	for _, f := range z.File {
		if f.UncompressedSize64 > left {
			return tooLarge(z.size)
		}
		left -= f.UncompressedSize64
		if unixMode(f)&fs.ModeIrregular != 0 {
			return harm("%q is a device or a pipe", f.Name)
		}
	}
	return nil
}
