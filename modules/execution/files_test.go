package execution_test

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"testing"

	"brine/wire/payload"
)

const (
	fileCalls   = "testdata/files.txt"
	fileAnswers = "testdata/files_3008.json"
)

// serveFiles makes a tree of files in a configuration directory, and has the minion there serve them to itself.
func serveFiles(t *testing.T, dir string) {
	t.Helper()
	for name, text := range map[string]string{
		"srv/base/a.txt": "one\n", "srv/base/empty": "", "srv/base/odd?name": "odd\n",
		"srv/base/web/run.sh":   "#!/bin/sh\necho \"script $1\"\nexit 3\n",
		"srv/base/web/t.jinja":  "{{ 1 + 1 }} {{ grains.id }} {{ name | default('nobody') }} {{ saltenv }}\n",
		"srv/base/web/init.sls": "{}\n", "srv/base/web/sub/deep.sls": "{}\n", "srv/base/website/no.sls": "{}\n",
		"srv/base/top.sls": "{}\n", "srv/dev/a.txt": "other\n", "srv/dev/run.sh": "#!/bin/sh\necho dev\n",
		"srv/dev/x/y.sls": "{}\n", "srv/base/web/t.sh": "#!/bin/sh\necho {{ name }} {{ grains.id }}\n",
		"srv/base/web/lib.jinja":     "{% macro twice(n) %}{{ 2 * n }}{% endmacro %}\n",
		"srv/base/web/imports.jinja": "{% from 'web/lib.jinja' import twice %}{{ twice(21) }} {% include 'a.txt' %}\n",
		"secret":                     "hidden\n",
		"srv/base/web/map.jinja": "{% import_yaml 'web/defaults.yaml' as d %}{% set web = d %}{% do " +
			"web.update({'id': grains.id, 'none': none, 'half': 0.5}) %}\n",
		"srv/base/web/defaults.yaml":  "web:\n  port: 80\n  names: [a, b]\n  on: yes\n",
		"srv/base/web/data.json":      `{"b": 1, "a": {"c": [1.5, null]}}`,
		"srv/base/json/defaults.json": `{"x": {"y": "z"}}`, "srv/base/none/defaults.yaml": "",
		"srv/base/bad/defaults.yaml": "a: b: c\n",
	} {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	err := os.Symlink("a.txt", filepath.Join(dir, "srv/base/link"))
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "srv/base/web/hollow"), 0o755)
	}
	if err == nil {
		err = os.Chmod(filepath.Join(dir, "srv/base/web/run.sh"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(dir, "minion")
	text, err := os.ReadFile(conf)
	if err == nil {
		err = os.WriteFile(conf, fmt.Appendf(text, "file_roots:\n  base: [%s/srv/base]\n  dev: [%s/srv/dev]\n", dir,
			dir), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRecordedFiles runs testdata/files.txt and compares with what Salt 3008.3 answered.
func TestRecordedFiles(t *testing.T) {
	if u, err := user.Current(); err != nil || u.Uid != "0" {
		t.Skip("the answers were taken as root")
	}
	dir := confDir(t)
	serveFiles(t, dir)
	env, log := ownEnv(t, dir, func(*payload.Map) *payload.Map { return recordedGrains(t, dir) })
	compareRecorded(t, env, log, dir, fileCalls, fileAnswers)
}
