package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// These are the amounts to serve: one large file to three minions, and many small files to one.
const (
	largeFile      = 1 << 30
	largeFileQuick = 64 << 20
	smallFiles     = 10000
	smallQuick     = 1000
	mebibyte       = 1 << 20
)

// served measures a master that serves files to three minions of its own kind.
func (t *turn) served(ctx context.Context) error {
	large, small := int64(largeFile), smallFiles
	if t.opt.Quick {
		large, small = largeFileQuick, smallQuick
	}
	srv := filepath.Join(t.dir, "srv")
	if err := makeFiles(srv, large, small); err != nil {
		return err
	}
	if err := t.configureMaster(); err != nil {
		return err
	}
	more := fmt.Sprintf("file_roots: {base: [%s]}\npillar_roots: {base: [%s]}\n", srv, filepath.Join(t.dir, "nopillar"))
	if err := appendTo(filepath.Join(t.masterDir(), "master"), more); err != nil {
		return err
	}
	if _, err := t.startMaster(ctx); err != nil {
		return err
	}
	for _, id := range trio {
		if err := t.startMinion(id); err != nil {
			return err
		}
	}
	err := t.await(ctx, 2*time.Minute, time.Second, func() error { return t.tell(ctx, "test.ping", "", len(trio)) })
	if err != nil {
		return fmt.Errorf("first answer of three minions: %w", err)
	}
	if err := pause(ctx, 5*time.Second); err != nil { // until the minions are idle
		return err
	}
	return errors.Join(t.largeToAll(ctx, large), t.smallToOne(ctx))
}

// makeFiles makes the files to serve.
func makeFiles(dir string, large int64, small int) error {
	text := make([]byte, mebibyte)
	random := rand.NewChaCha8([32]byte{3})
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make files: %w", err)
	}
	f, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		return fmt.Errorf("make files: %w", err)
	}
	for n := int64(0); n < large && err == nil; n += int64(len(text)) {
		if _, err = random.Read(text); err == nil {
			_, err = f.Write(text)
		}
	}
	err = errors.Join(err, f.Close())
	for i := 0; i < small && err == nil; i++ {
		err = write(filepath.Join(dir, "small", fmt.Sprint(i%100), fmt.Sprint("f", i)), fmt.Sprint("file ", i, "\n"))
	}
	return err
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("change file: %w", err)
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// tell runs a function with salt on the first n of the minions. It passes one argument, or none if arg is "".
func (t *turn) tell(ctx context.Context, fun, arg string, n int) error {
	words := []string{"-c", t.masterDir(), "-t", "900", "--out=txt", "-L", strings.Join(trio[:n], ","), fun}
	if arg != "" {
		words = append(words, arg)
	}
	_, out, err := runLong(ctx, 15*time.Minute, t.env(), t.c.tool("salt"), words...)
	for _, id := range trio[:n] {
		if err == nil && (!strings.Contains(out, id+": ") || strings.Contains(out, "Traceback") ||
			strings.Contains(out, "did not return")) {
			err = fmt.Errorf("salt %s: no answer of %s: %.300q", fun, id, out)
		}
	}
	return err
}

// largeToAll lets three minions fetch one file at the same time.
func (t *turn) largeToAll(ctx context.Context, size int64) error {
	if !t.rec.wantsAny([]string{rowLarge, rowLargeMaster, rowLargeMinion}) {
		return nil
	}
	rest := make([]float64, 1+len(t.minions))
	all := append([]*process{t.master}, t.minions...)
	for i, p := range all {
		rest[i], _ = p.memory()
		p.forgetPeak()
	}
	defer t.profile(t.master, "large-master")()
	defer t.profile(t.minions[0], "large-minion")()
	defer t.account(rowLarge)()
	start := time.Now()
	if err := t.tell(ctx, "cp.cache_file", "salt://large", len(trio)); err != nil {
		return err
	}
	took := time.Since(start)
	for _, id := range trio {
		info, err := os.Stat(filepath.Join(t.dir, id, "var/cache/salt/minion/files/base/large"))
		if err != nil || info.Size() != size {
			return fmt.Errorf("%s did not fetch the file: %w", id, err)
		}
	}
	t.add(rowLarge, float64(size)*float64(len(trio))/mebibyte/took.Seconds())
	t.add(rowLargeMaster, max(t.master.peak()-rest[0], 0))
	for i, m := range t.minions {
		t.add(rowLargeMinion, max(m.peak()-rest[i+1], 0))
	}
	return nil
}

// smallToOne lets one minion list and fetch many files.
func (t *turn) smallToOne(ctx context.Context) error {
	if !t.rec.wants(rowSmall) {
		return nil
	}
	defer t.account(rowSmall)()
	start := time.Now()
	if err := t.tell(ctx, "cp.cache_dir", "salt://small", 1); err != nil {
		return err
	}
	t.addTime(rowSmall, time.Since(start))
	return nil
}
