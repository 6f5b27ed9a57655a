package pillar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"brine/config/yaml"
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// webParams are the arguments of http_json and http_yaml (salt/pillar/http_json.py and http_yaml.py of 3007; 3008 has
// them in an extension).
var webParams = []loader.Param{loader.Req("url"), loader.Opt("with_grains", false), loader.Opt("header_dict", nil),
	loader.Opt("auth", nil), loader.Opt("username", nil), loader.Opt("password", nil)}

// Bounds of one answer. Salt waits for an hour, and has no bound.
const (
	webPatience = time.Minute
	webMost     = 16 << 20 // bytes
)

// grainInURL is <NAME> in a URL.
var grainInURL = pattern.New(`<(.*?)>`)

// webURL puts the minion's id in place of %s, and values of grains in place of <NAME>. ok is false when there is no
// such grain.
//
// Unlike Salt: minions say what their grains are, so no value is more than one step of a path.
func (e *extCall) webURL() (string, bool, error) {
	at, ok := e.args["url"].(string)
	if !ok {
		return "", false, noAttribute(e.args["url"], "replace")
	}
	at = strings.ReplaceAll(at, "%s", url.PathEscape(e.q.ID))
	if !python.Truth(e.args["with_grains"]) {
		return at, true, nil
	}
	for _, found := range grainInURL.FindAllStringSubmatch(at, -1) {
		v, _ := dicts.Traverse(e.grains(), found[1], ":")
		if !python.Truth(v) || v == any(".") || v == any("..") {
			e.log(slog.LevelError, "Unable to get minion '%s' grain: %s", e.q.ID, found[1])
			return "", false, nil
		}
		at = strings.ReplaceAll(at, found[0], url.PathEscape(python.Str(v)))
	}
	return at, true, nil
}

// web is an external pillar over HTTP; what cannot be had is logged and gives nothing, and what cannot be read is an
// error, as in Salt.
func web(decode func(text []byte) (any, error)) func(e *extCall) (any, error) {
	return func(e *extCall) (any, error) {
		at, ok, err := e.webURL()
		if err != nil || !ok {
			return payload.NewMap(0), err
		}
		if python.Truth(e.args["auth"]) {
			return nil, loader.ExecErr("brine does not have the argument auth yet")
		}
		text, err := e.get(at)
		if err != nil {
			e.log(slog.LevelError, "Error on minion '%s' http query: %s", e.q.ID, err)
			return payload.NewMap(0), nil
		}
		v, err := decode(text)
		if err != nil {
			return nil, err
		}
		if name := e.args["namespace"]; python.Truth(name) {
			return payload.M(name, v), nil
		}
		return v, nil
	}
}

// get fetches a URL.
func (e *extCall) get(at string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(e.ctx, webPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, hideSecrets(err)
	}
	headers, _ := e.args["header_dict"].(*payload.Map)
	for key, value := range headers.All() {
		req.Header.Set(python.Str(key), python.Str(value))
	}
	if name := e.args["username"]; python.Truth(name) {
		req.SetBasicAuth(python.Str(name), python.Str(e.args["password"]))
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, hideSecrets(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, webMost+1))
	if err == nil && len(text) > webMost {
		err = fmt.Errorf("more than %d bytes", webMost)
	}
	return text, err
}

// hideSecrets leaves the URL out of an error: it may hold a password.
func hideSecrets(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		return ue.Err
	}
	return err
}

func decodeJSON(text []byte) (any, error) { return pyjson.Load(string(text)) }

func decodeYAML(text []byte) (any, error) {
	v, err := yaml.Load(text)
	var bad *yaml.Error
	if errors.As(err, &bad) {
		return nil, loader.ExecErr("%s", bad.Python())
	}
	return v, err
}
