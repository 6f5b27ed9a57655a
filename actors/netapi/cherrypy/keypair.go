package cherrypy

import (
	"archive/tar"
	"bytes"
	"fmt"
	"mime"
	"net/http"

	"brine/modules/netapi"
	"brine/wire/payload"
)

// tarRecord is what the size of an archive is a multiple of, in bytes.
const tarRecord = 10240

// postKeys makes a pair of keys for a minion, accepts it, and answers with both in an archive. Every fault is a 500, as in Salt, but for a name
// that no minion can have.
func (c *call) postKeys(*any) error {
	creds, err := firstMap(c.body.Data)
	if err != nil {
		return err
	}
	low := creds.Clone().Set("client", netapi.Wheel).Set("fun", "key.gen_accept")
	if mid, ok := low.Get("mid"); ok {
		low.Delete("mid")
		low.Set("id_", mid)
	}
	id, ok := low.Value("id_").(string)
	if ok && !payload.ValidID(id) { // Unlike Salt: it writes below any name, "../x" too
		return netapi.BadRequest("Not a valid minion id: " + payload.Show(id))
	}
	list, err := c.lowstate([]any{low}, "", "")
	if err != nil || !ok {
		c.log.Info("no keys were made", "err", err)
		return &netapi.Error{Status: http.StatusInternalServerError}
	}
	answer, _ := list[0].(*payload.Map)
	pair, ok := answer.Map("data").Value("return").(*payload.Map)
	if !ok {
		return &netapi.Error{Status: http.StatusInternalServerError}
	}
	archive, err := tarOf([]string{"minion.pub", "minion.pem"}, []string{pair.Str("pub"), pair.Str("priv")})
	if err != nil {
		return err
	}
	c.head.Set("Content-Disposition", disposition("saltkeys-"+id+".tar"))
	c.head.Set("Cache-Control", "no-cache")
	c.write(http.StatusOK, "application/x-tar", archive)
	return nil
}

// disposition names a file to be saved.
func disposition(name string) string {
	for _, r := range name {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return mime.FormatMediaType("attachment", map[string]string{"filename": name})
		}
	}
	return `attachment; filename="` + name + `"`
}

// tarOf is an archive of some texts, as Python's tarfile makes it.
func tarOf(names, texts []string) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(texts[i])), Format: tar.FormatUSTAR}); err != nil {
			return nil, fmt.Errorf("archive of keys: %w", err)
		}
		if _, err := w.Write([]byte(texts[i])); err != nil {
			return nil, fmt.Errorf("archive of keys: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("archive of keys: %w", err)
	}
	if over := b.Len() % tarRecord; over > 0 {
		b.Write(make([]byte, tarRecord-over))
	}
	return b.Bytes(), nil
}
