package archive

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/host/plainfile"
	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// makeZip packs files. Unlike Salt: the archive is in its place when it is whole, a link is packed as one, and what
// cannot be read is an error (Salt 3008.3 keeps silent about all errors).
func makeZip(c *loader.Call, a struct {
	File     string `arg:"zip_file"`
	Sources  any    `arg:"sources"`
	Template any    `arg:"template=None"`
	Cwd      any    `arg:"cwd=None"`
	RunAs    any    `arg:"runas=None"`
	Zip64    bool   `arg:"zip64=False"` // it is used where it is needed
}) ([]any, error) {
	if python.Truth(a.Template) {
		return nil, loader.ExecErr("The argument 'template' of archive.zip is not supported on this minion")
	}
	as, err := ownerOf(a.RunAs)
	if err != nil {
		return nil, err
	}
	cwd, files := loader.Text(a.Cwd), sources(a.Sources)
	if cwd != "" && !filepath.IsAbs(cwd) {
		return nil, loader.InvocErr("cwd must be absolute")
	}
	for _, name := range files {
		if cwd == "" && !filepath.IsAbs(name) {
			return nil, loader.InvocErr("Relative paths require the 'cwd' parameter")
		}
	}
	if as != nil && as.uid != os.Geteuid() {
		return nil, loader.ExecErr("The argument 'runas' of archive.zip is not supported on this minion: use " +
			"archive.cmd_zip")
	}
	in, out := io.Pipe()
	p := &packer{zip: zip.NewWriter(out), cwd: cwd}
	go func() { out.CloseWithError(p.pack(files)) }()
	mode := uint32(0o666 &^ umask())
	err = safefile.WriteFrom(a.File, &stoppable{c.Ctx, in}, safefile.Attrs{Mode: &mode}, true)
	in.CloseWithError(errors.New("the archive cannot be written"))
	if err != nil {
		return nil, loader.ExecErr("Exception encountered creating zipfile: %s", osText(err))
	}
	return payload.AnyList(p.names), nil
}

// packer packs files into a zip archive.
type packer struct {
	zip   *zip.Writer
	cwd   string
	names []string
}

func (p *packer) pack(files []string) error {
	for _, name := range files {
		if p.cwd != "" && !filepath.IsAbs(name) {
			name = filepath.Join(p.cwd, name)
		}
		info, err := os.Stat(name)
		if err != nil {
			continue // as in Salt
		}
		if !info.IsDir() {
			err = p.add(name, info)
		} else {
			err = filepath.WalkDir(name, func(path string, d fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := d.Info()
				if err != nil {
					return err
				}
				return p.add(path, info)
			})
		}
		if err != nil {
			return err
		}
	}
	return p.zip.Close()
}

// add packs one file, link or directory.
func (p *packer) add(path string, info fs.FileInfo) error {
	root := "/"
	if p.cwd != "" && strings.HasPrefix(path, p.cwd) {
		root = p.cwd
	}
	name, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	h, err := zip.FileInfoHeader(info)
	if err != nil {
		return err
	}
	h.Name, h.Method = name, zip.Deflate
	if info.IsDir() {
		h.Name, h.Method = name+"/", zip.Store
	}
	w, err := p.zip.CreateHeader(h)
	if err != nil {
		return err
	}
	p.names = append(p.names, h.Name)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		if err == nil {
			_, err = io.WriteString(w, to)
		}
		return err
	case !info.Mode().IsRegular():
		return nil
	}
	f, err := plainfile.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}
