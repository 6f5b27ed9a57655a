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

// The size of an archive is a multiple of tarRecord, in bytes.
const tarRecord = 10240

// postKeys makes a pair of keys for a minion, accepts the public key, and answers with both keys in an archive.
// Every fault is a 500, as in Salt, except a name that no minion can have.
func (c *call) postKeys(*any) error {
	creds, err := firstMap(c.body.Data)
	if err != nil {
		return err
	}
	low := genAccept(creds)
	id, ok := low.Value("id_").(string)
	if ok && !payload.ValidID(id) { // Unlike Salt: it writes below any name, even "../x"
		return netapi.BadRequest("Not a valid minion id: " + payload.Show(id))
	}
	list, err := c.lowstate([]any{low}, "", "")
	if err != nil || !ok {
		c.log.Info("no keys were made", "from", c.remote(), "err", err)
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

// genAccept is the chunk that makes the keys. Unlike Salt: only the arguments of the function are taken from
// the request. Other fields are dropped.
func genAccept(said *payload.Map) *payload.Map {
	low := payload.M("client", netapi.Wheel, "fun", "key.gen_accept")
	for field, arg := range map[string]string{"id_": "id_", "mid": "id_", "keysize": "keysize", "force": "force"} {
		if v, ok := said.Get(field); ok && (field != "id_" || !said.Has("mid")) {
			low.Set(arg, v)
		}
	}
	low.Update(payload.NewCredentials(said).Shown())
	return low
}

// disposition is a header that names a file to save.
func disposition(name string) string {
	for _, r := range name {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return mime.FormatMediaType("attachment", map[string]string{"filename": name})
		}
	}
	return `attachment; filename="` + name + `"`
}

// tarOf makes an archive of texts as Python's tarfile does.
func tarOf(names, texts []string) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i, name := range names {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(texts[i])),
			Format: tar.FormatUSTAR}); err != nil {
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
