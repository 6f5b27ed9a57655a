// Package fileserver finds, lists, hashes and reads the files that minions ask a master for by salt:// and an
// environment. Backends hold the files: roots takes them from directories of the master, minionfs from what minions
// have pushed. The package knows neither sockets nor who asks: every minion may have every file, as with Salt. Answers
// to salt/fileserver/__init__.py.
package fileserver

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Backend is one source of files. Its methods may be called by many goroutines. It may be an Updater, too, and a Paced
// one, and have a way of its own with prefixes (Selector).
type Backend interface {
	Name() string
	// Envs lists the environments, in order.
	Envs() []string
	// Find tells where a file is; ok is false when the environment or the file is not there. query holds what stands
	// behind the question mark of a path (salt://a?index=1).
	Find(env, path string, query map[string]string) (f File, ok bool)
	// Open opens what Find has found. What is not a regular file of this backend any more is an error.
	Open(env string, f File) (*os.File, error)
	// Lists returns all names of an environment; an unknown one has none. The lists are shared: only read them.
	Lists(env string) (*Lists, error)
	// Remembered are the environments of which lists are remembered, in order. Forget drops those of one and tells
	// whether there were any.
	Remembered() []string
	Forget(env string) bool
}

// File is a file that a backend has found. Its zero value is none.
type File struct {
	Path string  // on this machine, absolute
	Rel  string  // below the root of the environment
	Back string  // name of the backend
	Err  error   // why it cannot be served; nil for most
	Stat []int64 // mode, inode, device, links, uid, gid, size, and the seconds of access, modification and change
}

// Lists are the names of an environment, relative to its roots, each list in order.
type Lists struct {
	Files, Dirs, EmptyDirs []string
	Links                  map[string]string // what each link that may be told of leads to, as it stands in the link
}

// Options of a Server.
type Options struct {
	Backends []Backend // the first that knows a file has it
	HashType string    // one of md5, sha1, sha224, sha256, sha384, sha512
	Buffer   int       // most bytes of one piece of a file (file_buffer_size)
	// Pace is the time from one update of a backend to the next where it does not say one itself; none: a minute.
	Pace map[string]time.Duration
}

// Server answers for the files of all backends. It is safe for concurrent use.
type Server struct {
	opt    Options
	hashes *hashes
}

// New returns a server; an unknown type of hash is an error.
func New(opt Options) (*Server, error) {
	h, err := newHashes(opt.HashType)
	if err != nil {
		return nil, err
	}
	if opt.Buffer <= 0 {
		return nil, fmt.Errorf("fileserver: file_buffer_size is %d, and must be above 0", opt.Buffer)
	}
	return &Server{opt: opt, hashes: h}, nil
}

// backends are those that were asked for: all (nil, ""), names, short ones too, or, where all names begin with "-", all
// but those.
func (s *Server) backends(want []string) (out []Backend) {
	want = slices.Clone(want)
	for i, name := range want {
		want[i] = fullName(name)
	}
	without := len(want) > 0 && !slices.ContainsFunc(want, func(name string) bool {
		return !strings.HasPrefix(name, "-")
	})
	for _, b := range s.opt.Backends {
		if len(want) == 0 || without && !slices.Contains(want, "-"+b.Name()) || !without &&
			slices.Contains(want, b.Name()) {
			out = append(out, b)
		}
	}
	return out
}

// Envs lists the environments of some backends, nil for all, in order.
func (s *Server) Envs(back []string) []string {
	var out []string
	for _, b := range s.backends(back) {
		out = append(out, b.Envs()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Find looks for a file in all backends. A path may say its environment (a?saltenv=dev) unless it begins with "|". The
// environment that counts is returned. What would leave the roots is not found.
func (s *Server) Find(path, env string) (f File, in string, ok bool) {
	path, env, query := split(path, env)
	if path == "" || strings.HasPrefix(path, "/") || strings.Contains(path, "../") || strings.Contains(path, "\x00") {
		return File{}, env, false
	}
	for _, b := range s.opt.Backends {
		if f, ok := b.Find(env, path, query); ok {
			f.Back = b.Name()
			return f, env, true
		}
	}
	return File{}, env, false
}

// errGone means that a file went, or became something else, between two looks.
var errGone = errors.New("fileserver: the file is not there any more")

// open opens a file that was found, together with what it is.
func (s *Server) open(env string, f File) (*os.File, os.FileInfo, error) {
	if f.Err != nil {
		return nil, nil, f.Err
	}
	for _, b := range s.opt.Backends {
		if b.Name() != f.Back {
			continue
		}
		file, err := b.Open(env, f)
		if err != nil {
			return nil, nil, err
		}
		info, err := file.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = errGone
		}
		if err != nil {
			return nil, nil, errors.Join(err, file.Close())
		}
		return file, info, nil
	}
	return nil, nil, errGone
}

// Piece is a part of a file.
type Piece struct {
	Data []byte // nothing: the end of the file, or behind it
	Dest string // the file below the root of its environment; "": there is no such file
	Gzip int    // the level by which Data is compressed; 0: it is not
}

// Serve reads one piece of a file, compressed on its own if a level is given (1 to 9).
func (s *Server) Serve(path, env string, offset int64, level int) (Piece, error) {
	o, err := s.openPiece(path, env, offset, level)
	if err != nil || o.file == nil {
		return Piece{}, err
	}
	p := Piece{Data: make([]byte, o.size), Dest: o.rel}
	if err := o.read(p.Data); err != nil {
		return Piece{}, err
	}
	if level > 0 && o.size > 0 {
		p.Gzip = level
		p.Data, err = compress(p.Data, level)
	}
	return p, err
}

// openedPiece is a piece that is still to be read.
type openedPiece struct {
	file   *os.File // nil: there is no such file
	rel    string
	offset int64
	size   int
}

func (s *Server) openPiece(path, env string, offset int64, level int) (openedPiece, error) {
	f, env, ok := s.Find(path, env)
	if !ok {
		return openedPiece{}, nil
	}
	if offset < 0 || level < 0 || level > 9 {
		return openedPiece{}, fmt.Errorf("fileserver: no offset %d, or no level %d of gzip", offset, level)
	}
	file, info, err := s.open(env, f)
	if err != nil {
		return openedPiece{}, err
	}
	size := min(max(info.Size()-offset, 0), int64(s.opt.Buffer))
	return openedPiece{file: file, rel: f.Rel, offset: offset, size: int(size)}, nil
}

// read reads the piece, once. A file that has become shorter since is an error.
func (o openedPiece) read(room []byte) error {
	n, err := o.file.ReadAt(room, o.offset)
	if n == len(room) {
		err = nil
	}
	return errors.Join(err, o.file.Close())
}

// Hash is the hash of a file with its type; ok is false when there is no such file.
func (s *Server) Hash(path, env string) (sum string, f File, ok bool, err error) {
	f, env, ok = s.Find(path, env)
	if !ok || f.Err != nil {
		return "", File{}, false, f.Err
	}
	sum, err = s.hashes.of(f.Path, func() (*os.File, os.FileInfo, error) { return s.open(env, f) })
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, errGone) {
		return "", File{}, false, nil
	}
	return sum, f, true, err
}

// HashType is the type of the hashes, as hash_type names it.
func (s *Server) HashType() string { return s.hashes.name }
