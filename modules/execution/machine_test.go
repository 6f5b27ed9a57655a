package execution_test

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/wire/payload"
)

const (
	machineCalls   = "testdata/machine.txt"
	machineAnswers = "testdata/machine_3008.json"
)

// furnish makes what the calls of machine.txt look at.
func furnish(t *testing.T, dir string) {
	t.Helper()
	t.Setenv("BRINE_T_SET", "here")
	m := filepath.Join(dir, "m")
	for name, text := range map[string]string{"a.txt": "one\ntwo words\r\nthree\n", "empty": "", "latin": "caf\xe9\n",
		"bin": "a\x00b\x01", "grüße.txt": "Straße\n",
		"sub/deep/b.log": "error: 5\n", "sub/.hidden": "h\n", "sub/c.LOG": "warning\n",
		"big":      strings.Repeat("0123456789\n", 40_000) + "the end\n",
		"one/only": "x", "s1.yaml": "a: {b: [1, 2], c: old}\nplain: text\n", "s2.yaml": "a: {c: new, b: [2, 3]}\n",
		"s3.yaml": "- list\n", "s4.yaml": "a: b: c\n",
		"../root/etc/salt/pki/master/minions/web2": "k", "../root/etc/salt/pki/master/minions/Web1": "k",
		"../root/etc/salt/pki/master/minions/.hidden": "k",
		"../root/etc/salt/pki/master/minions_pre/new": "k"} {
		path := filepath.Join(m, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err == nil {
			err = os.Chtimes(path, time.Unix(1700000000, 0), time.Unix(1600000000, 0))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	conf, err := os.OpenFile(filepath.Join(dir, "minion"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conf.Close()
	_, err = fmt.Fprintf(conf,
		"osenv: {driver: env}\nnosuch: {driver: vault}\nnodriver: {a: b}\nfiles: {driver: yaml, files: "+
			"[%[1]s/s1.yaml, %[1]s/none.yaml, "+
			"%[1]s/s2.yaml]}\nlists: {driver: yaml, files: [%[1]s/s1.yaml, %[1]s/s2.yaml], merge: {merge_lists: "+
			"true}}\nfirst: {driver: yaml, files: [%[1]s/s1.yaml, "+
			"%[1]s/s2.yaml], merge: {strategy: overwrite}}\nwrong: {driver: yaml, files: [%[1]s/s1.yaml, "+
			"%[1]s/s3.yaml]}\nbad: {driver: yaml, files: [%[1]s/s4.yaml]}\n"+
			"odd: {driver: yaml, files: [%[1]s/s1.yaml], merge: {nosuch: 1}}\nnone: {driver: yaml}\n", m)
	err = errors.Join(err, os.Symlink("a.txt", m+"/link"), os.Symlink("nowhere", m+"/broken"), os.Symlink("sub",
		m+"/linkdir"), os.Symlink("loop", m+"/loop"),
		os.Link(m+"/sub/c.LOG", m+"/hard"), syscall.Mkfifo(m+"/fifo", 0o600), os.Chmod(m+"/bin", 0o4711),
		os.Chown(m+"/empty", 12345, 23456))
	if err != nil {
		t.Fatal(err)
	}
}

// TestRecordedMachine runs testdata/machine.txt and compares with what Salt 3008.3 answered.
func TestRecordedMachine(t *testing.T) {
	if u, err := user.Current(); err != nil || u.Uid != "0" {
		t.Skip("the answers were taken as root")
	}
	t.Setenv("HOME", "/root")
	dir := confDir(t)
	furnish(t, dir)
	env, log := ownEnv(t, dir, func(*payload.Map) *payload.Map { return recordedGrains(t, dir) })
	compareRecorded(t, env, log, dir, machineCalls, machineAnswers)
}
