package admin

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"brine/cmd/display"
	"brine/cmd/optparse"
	"brine/cmd/tool"
	"brine/cmd/top"
	"brine/modules/outputters"
	"brine/supervisor/stats"
	"brine/wire/control"
	"brine/wire/payload"
)

// bundlePatience bounds the time for collecting a bundle, beyond the seconds in which the daemon is observed.
const bundlePatience = time.Minute

// Bundle collects in one file what a daemon knows about itself.
func Bundle(c *tool.Call) error {
	a, err := openAdmin(c, adminWord{
		words: " FILE", least: 1, most: 1, want: "Requires the name of the file to write",
		description: "Collect in FILE (tar.gz) what somebody who was not there needs: the actors, looks at them " +
			"over some seconds, deaths, profiles, " +
			"jobs, limits, and the configuration without its secrets.",
		options: []optparse.Option{{Flags: []string{"--seconds"}, Dest: "look_seconds", Metavar: "N",
			Kind: optparse.Int, Default: 10,
			Help: "How long to look, at most 120. Default: %default."}},
	})
	if err != nil {
		return err
	}
	seconds := min(max(a.Opt.Int("look_seconds"), 0), 120)
	path := a.Opt.Args[0]
	if _, err := ask(a, control.GetHelp{}); err != nil { // before the long wait
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return tool.Exit(tool.ExitGeneric, "brine: %s is there already", path)
	}
	if err != nil {
		return tool.Exit(tool.ExitGeneric, "brine: %v", err)
	}
	files, err := askWithin(context.Background(), a, control.GetBundle{Seconds: int64(seconds)},
		time.Duration(seconds)*time.Second+bundlePatience)
	if err == nil {
		err = writeBundle(f, bundleFiles(files), time.Now())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path)) // half a bundle is of no use
	}
	if a.Opt.Bool("as_json") {
		return a.asJSON(payload.M("path", path))
	}
	return display.Emit(a.Session, fmt.Sprintf("%s holds what %s knows of itself. Look through it before you pass "+
		"it on.\n", path, a.Common.ID))
}

// bundleFile is one file of a bundle.
type bundleFile struct {
	name string
	body []byte
}

// bundleFiles turns the daemon's answer into files: bytes as they are, values as JSON, trees as text as well.
func bundleFiles(answer *payload.Map) []bundleFile {
	var files []bundleFile
	add := func(name string, body []byte) { files = append(files, bundleFile{name, body}) }
	for k, v := range answer.All() {
		name, _ := k.(string)
		switch x := v.(type) {
		case []byte:
			add(name, x)
		case string:
			add(name, []byte(x))
		default:
			add(name+".json", indented(x))
		}
	}
	if tree := answer.Map("tree"); tree != nil {
		add("tree.txt", []byte(top.Tree(stats.ParseChild(tree), time.Now(), 0)))
	}
	if looks := answer.List("tops"); len(looks) > 0 {
		add("tops.txt", []byte(looksText(looks)))
	}
	slices.SortFunc(files, func(a, b bundleFile) int { return strings.Compare(a.name, b.name) })
	return files
}

// indented returns a value as JSON that people can read.
func indented(v any) []byte {
	text, err := outputters.Format("json", v, outputters.FromOpts(payload.M()))
	if err != nil || !json.Valid([]byte(text)) {
		return []byte(outputters.JSON(fmt.Sprint(v)))
	}
	return []byte(text + "\n")
}

// looksText shows the looks one after another.
func looksText(looks []any) string {
	var b strings.Builder
	for _, v := range looks {
		look, _ := v.(*payload.Map)
		at, err := time.Parse(stats.StampForm, look.Str("time"))
		if err != nil {
			continue
		}
		fmt.Fprintf(&b, "%s  %s\n\n", at.Format("2006-01-02 15:04:05 MST"),
			strings.Join(processFacts(control.Read[control.Process](look.Map("process"))), "  "))
		b.WriteString(top.Tree(stats.ParseChild(look.Map("tree")), at, 0) + "\n")
	}
	return b.String()
}

// writeBundle packs files into a directory of an archive.
func writeBundle(w io.Writer, files []bundleFile, now time.Time) error {
	zip := gzip.NewWriter(w)
	pack := tar.NewWriter(zip)
	dir := "brine-" + now.UTC().Format("20060102-150405") + "/"
	for _, f := range files {
		head := &tar.Header{Name: dir + f.name, Mode: 0o600, Size: int64(len(f.body)), ModTime: now,
			Format: tar.FormatPAX}
		if err := pack.WriteHeader(head); err != nil {
			return fmt.Errorf("write bundle: %w", err)
		}
		if _, err := pack.Write(f.body); err != nil {
			return fmt.Errorf("write bundle: %w", err)
		}
	}
	if err := errors.Join(pack.Close(), zip.Close()); err != nil {
		return fmt.Errorf("write bundle: %w", err)
	}
	return nil
}
