package archive

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"time"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
)

// stream is an archive as it is uncompressed.
type stream struct {
	io.Reader
	packed bool // it is compressed
	close  []func() error
}

// Close ends the program that uncompresses, and closes the file. Its error is that of the program.
func (s *stream) Close() error {
	var err error
	for _, f := range s.close {
		if e := f(); err == nil {
			err = e
		}
	}
	return err
}

// program is how a form is uncompressed that Go does not read.
var programs = []struct {
	magic string
	argv  []string
}{
	{"\xfd7zXZ\x00", []string{"xz", "--decompress", "--stdout"}},
	{"\x5d\x00\x00", []string{"xz", "--decompress", "--stdout", "--format=lzma"}},
	{"\x28\xb5\x2f\xfd", []string{"zstd", "--decompress", "--stdout", "--quiet"}},
}

// openStream opens an archive of whatever compression. c bounds the program that is run for it.
func openStream(ctx context.Context, file string) (s *stream, err error) {
	f, err := plainfile.Open(file)
	if err != nil {
		return nil, err
	}
	s = &stream{close: []func() error{f.Close}}
	defer func() {
		if err != nil {
			_ = s.Close()
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(f, 1<<16)
	head, _ := in.Peek(6)
	s.Reader, s.packed = in, true
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		if s.Reader, err = gzip.NewReader(in); err != nil {
			return nil, err
		}
	case bytes.HasPrefix(head, []byte("BZh")):
		s.Reader = bzip2.NewReader(in)
	default:
		s.packed = false
		for _, p := range programs {
			if bytes.HasPrefix(head, []byte(p.magic)) {
				if err := s.through(ctx, append(p.argv[:len(p.argv):len(p.argv)], "--", file)); err != nil {
					return nil, err
				}
				s.packed = true
				break
			}
		}
	}
	s.Reader = &bounded{from: s.Reader, left: allowed(info.Size()), size: info.Size()}
	return s, nil
}

// patience is how long a program that uncompresses may take to end once it is told to.
const patience = 2 * time.Second

// through reads what a program writes.
func (s *stream) through(ctx context.Context, argv []string) error {
	if program.Which(argv[0]) == "" {
		return fmt.Errorf("the program %s is needed to uncompress it", argv[0])
	}
	live, err := program.Open(ctx, program.Spec{Argv: argv})
	if err != nil {
		return err
	}
	_ = live.Input.Close()
	stop := context.AfterFunc(ctx, live.Interrupt)
	go func() { _, _ = io.Copy(io.Discard, live.Errors) }()
	s.Reader = bufio.NewReaderSize(live.Output, 1<<16)
	s.close = append(s.close, func() error {
		stop()
		select {
		case <-live.Exited():
		default:
			live.Interrupt()
		}
		if code := live.Close(patience); code > 0 {
			return fmt.Errorf("%s ended with the code %d", argv[0], code)
		}
		return nil
	})
	return nil
}
