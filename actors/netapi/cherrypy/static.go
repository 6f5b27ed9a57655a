package cherrypy

import (
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"brine/modules/netapi"
)

// wantsPage tells whether to answer a request with the page of the app, whatever its address.
func (c *call) wantsPage() bool {
	if c.conf.App == "" || strings.HasPrefix(c.path, c.conf.AppPath) || strings.HasPrefix(c.path, c.conf.StaticPath) ||
		c.accept() == "*/*" {
		return false
	}
	_, err := netapi.Negotiate(c.accept(), "text/html")
	return err == nil
}

// static serves a file below static_path. It returns false for any other path.
func (c *call) static() bool {
	if c.path == "/favicon.ico" && c.conf.Favicon != "" {
		c.crossOrigin()
		c.serveFile(c.conf.Favicon)
		return true
	}
	rest, ok := strings.CutPrefix(c.path, c.conf.StaticPath+"/")
	if c.conf.Static == "" || !ok {
		return false
	}
	if c.crossOrigin() {
		c.write(http.StatusOK, "", nil)
		return true
	}
	if rest = strings.Trim(rest, "/"); rest != "" && !filepath.IsLocal(filepath.FromSlash(rest)) { // leaves the folder
		c.fail(&netapi.Error{Status: http.StatusForbidden})
		return true
	}
	root, err := os.OpenRoot(c.conf.Static)
	if err != nil {
		c.log.Error("static files cannot be served", "err", err)
		c.notFound()
		return true
	}
	defer root.Close()
	f, err := root.Open(filepath.FromSlash(rest))
	if err != nil {
		c.notFound()
		return true
	}
	defer f.Close()
	c.sendFile(f)
	return true
}

func (c *call) notFound() {
	c.fail(&netapi.Error{Status: http.StatusNotFound, Message: "The path '" + c.r.URL.Path + "' was not found."})
}

// serveFile serves a file of the configuration.
func (c *call) serveFile(path string) {
	f, err := os.Open(path)
	if err != nil {
		c.log.Error("a file of rest_cherrypy cannot be served", "err", err)
		c.notFound()
		return
	}
	defer f.Close()
	c.sendFile(f)
}

// sendFile sends an open file, or the requested part of it.
func (c *call) sendFile(f *os.File) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || (c.r.Method != http.MethodGet && c.r.Method != http.MethodHead &&
		c.conf.App == "") {
		c.notFound()
		return
	}
	kind, _, _ := strings.Cut(mime.TypeByExtension(filepath.Ext(f.Name())), ";")
	switch kind {
	case "":
		kind = "text/plain"
	case "text/html":
		kind = "text/html;charset=utf-8"
	}
	c.head.Set("Content-Type", kind)
	r := c.r.Clone(c.ctx)
	if r.Method != http.MethodHead {
		r.Method = http.MethodGet
	}
	http.ServeContent(c.w, r, "", info.ModTime(), f)
}
