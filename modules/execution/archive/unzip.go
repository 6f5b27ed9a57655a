package archive

import (
	"archive/zip"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"brine/modules/host/program"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

type unzipArgs struct {
	File     string `arg:"zip_file"`
	Dest     string `arg:"dest"`
	Excludes any    `arg:"excludes=None"`
	Options  any    `arg:"options=None"`
	how
	Trim     any  `arg:"trim_output=False"`
	Password any  `arg:"password=None"`
	Perms    bool `arg:"extract_perms=True"`
}

func unzip(c *loader.Call, a unzipArgs) ([]any, error) { return unzipped(c, a) }

func unzipped(c *loader.Call, a unzipArgs) ([]any, error) {
	if python.Truth(a.Template) {
		return nil, loader.ExecErr("The argument 'template' of archive.unzip is not supported on this minion")
	}
	as, err := ownerOf(a.RunAs)
	if err != nil {
		return nil, err
	}
	z, err := openZip(a.File)
	if err == nil {
		err = z.Close() // one that is none makes no directory
	}
	if err != nil {
		return nil, unpackFailed(err)
	}
	if err := os.MkdirAll(a.Dest, 0o777); err != nil {
		return nil, unpackFailed(err)
	}
	root, err := safefile.OpenRoot(a.Dest)
	if err != nil {
		return nil, unpackFailed(err)
	}
	defer root.Close()
	names, err := Unzip(c.Ctx, a.File, root, ZipOptions{Excludes: words(a.Excludes), Password: loader.Text(a.Password),
		Modes: a.Perms, as: as})
	if err != nil {
		return nil, unpackFailed(err)
	}
	return trimmed(payload.AnyList(names), a.Trim), nil
}

func unpackFailed(err error) error {
	if errors.Is(err, errForm) {
		return loader.ExecErr("Exception encountered unpacking zipfile: File is not a zip file")
	}
	return loader.ExecErr("Exception encountered unpacking zipfile: %s", osText(err))
}

// osText is an error in Python's words, where it is one of the system.
func osText(err error) string {
	var path *fs.PathError
	var number syscall.Errno
	if errors.As(err, &path) && errors.As(err, &number) {
		return loader.OSErrorText(number, path.Path)
	}
	return err.Error()
}

// ownerOf is the user that files are made for, nil for this process's own.
func ownerOf(user any) (*owner, error) {
	if !python.Truth(user) {
		return nil, nil
	}
	name := python.Str(user)
	account, err := program.LookupAccount(name, "")
	switch {
	case errors.Is(err, program.ErrNoUser):
		return nil, loader.InvocErr("User '%s' does not exist", name)
	case err != nil || account.Credential == nil:
		return nil, err
	}
	return &owner{int(account.Credential.Uid), int(account.Credential.Gid)}, nil
}

// ZipOptions say how a zip archive is unpacked.
type ZipOptions struct {
	Excludes []string
	Password string
	Modes    bool // files get the modes of the archive
	as       *owner
}

// Unzip unpacks a zip archive below a directory, and gives the names in it. What Scan calls harm is refused before
// anything is written.
func Unzip(ctx context.Context, file string, root *os.Root, o ZipOptions) (names []string, err error) {
	z, err := openZip(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = z.Close() }()
	if err := z.check(); err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if err := checkName(strings.TrimRight(f.Name, "/")); err != nil {
			return nil, err
		}
	}
	t := &target{ctx: ctx, root: root, as: o.as}
	left := &bounded{left: allowed(z.size), size: z.size}
	defer func() { err = errors.Join(err, t.finish()) }()
	for _, f := range z.File {
		if slices.Contains(o.Excludes, f.Name) {
			continue
		}
		if err := t.unzip(f, o, left); err != nil {
			return names, err
		}
		names = append(names, f.Name)
	}
	return names, nil
}

// unzip unpacks one member.
func (t *target) unzip(f *zip.File, o ZipOptions, left *bounded) error {
	mode := unixMode(f)
	a := attrs{mode: mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky), owner: o.as}
	isDir := strings.HasSuffix(f.Name, "/")
	if !o.Modes || f.ExternalAttrs>>16 == 0 {
		a.mode = 0o666 &^ umask()
		if isDir {
			a.mode = 0o777 &^ umask()
		}
	}
	if isDir {
		return t.directory(f.Name, a)
	}
	from, err := openMember(f, o.Password)
	if err != nil {
		return err
	}
	defer from.Close()
	left.from = from
	if mode&fs.ModeSymlink == 0 {
		return t.file(f.Name, left, a)
	}
	to, err := io.ReadAll(io.LimitReader(left, maxName+1))
	if err == nil {
		err = t.symlink(f.Name, string(to), a)
	}
	return err
}

// umask is what modes are made without.
func umask() fs.FileMode {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0o022
	}
	var mask uint32
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "Umask: %o", &mask); err == nil {
			return fs.FileMode(mask)
		}
	}
	return 0o022
}

// openMember opens a member, with a password where it needs one.
func openMember(f *zip.File, password string) (io.ReadCloser, error) {
	if f.Flags&1 == 0 {
		return f.Open()
	}
	if password == "" {
		return nil, fmt.Errorf("File %s is encrypted, password required for extraction", python.Repr(f.Name))
	}
	raw, err := f.OpenRaw()
	if err != nil {
		return nil, err
	}
	plain, err := decrypted(raw, f, password)
	if err != nil {
		return nil, err
	}
	switch f.Method {
	case zip.Store:
	case zip.Deflate:
		plain = flate.NewReader(plain)
	default:
		return nil, zip.ErrAlgorithm
	}
	return io.NopCloser(&checked{from: plain, want: f.CRC32}), nil
}

// checked reads what has to have a sum.
type checked struct {
	from      io.Reader
	sum, want uint32
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.sum = crc32.Update(c.sum, crc32.IEEETable, p[:n])
	if err == io.EOF && c.sum != c.want {
		return n, zip.ErrChecksum
	}
	return n, err
}

// keys are the state of the old cipher of zip (APPNOTE 6.1), which is the one that Python reads.
type keys [3]uint32

func newKeys(password string) *keys {
	k := &keys{0x12345678, 0x23456789, 0x34567890}
	for i := range len(password) {
		k.update(password[i])
	}
	return k
}

func crcByte(crc uint32, b byte) uint32 { return crc32.IEEETable[byte(crc)^b] ^ crc>>8 }

func (k *keys) update(b byte) {
	k[0] = crcByte(k[0], b)
	k[1] = (k[1]+k[0]&0xff)*134775813 + 1
	k[2] = crcByte(k[2], byte(k[1]>>24))
}

func (k *keys) decrypt(p []byte) {
	for i, b := range p {
		mix := k[2] | 2
		p[i] = b ^ byte(mix*(mix^1)>>8)
		k.update(p[i])
	}
}

// decrypted reads what was encrypted. The last byte of its head tells whether the password is right.
func decrypted(raw io.Reader, f *zip.File, password string) (io.Reader, error) {
	k, head := newKeys(password), make([]byte, 12)
	if _, err := io.ReadFull(raw, head); err != nil {
		return nil, err
	}
	k.decrypt(head)
	want := byte(f.CRC32 >> 24)
	if f.Flags&8 != 0 {
		want = byte(f.ModifiedTime >> 8)
	}
	if head[11] != want {
		return nil, fmt.Errorf("Bad password for file %s", python.Repr(f.Name))
	}
	return &decrypting{raw, k}, nil
}

type decrypting struct {
	from io.Reader
	keys *keys
}

func (d *decrypting) Read(p []byte) (int, error) {
	n, err := d.from.Read(p)
	d.keys.decrypt(p[:n])
	return n, err
}
