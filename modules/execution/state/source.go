package state

import (
	"context"
	"strings"

	"brine/modules/fileclient"
	"brine/modules/loader"
	"brine/wire/payload"
)

// source has the SLS of the file server (run.Options).
type source struct {
	call   *loader.Call
	client *fileclient.Client
	opts   *payload.Map
}

// Envs lists the environments of the file server.
func (s *source) Envs(ctx context.Context) ([]string, error) {
	v, err := s.client.Envs(ctx)
	return payload.Texts(v), err
}

// States lists the SLS of an environment.
func (s *source) States(ctx context.Context, env string) ([]string, error) {
	return s.client.States(ctx, env)
}

// Find fetches the file of an SLS: a/b.sls, else a/b/init.sls.
func (s *source) Find(ctx context.Context, sls, env string) (file string, init bool, err error) {
	name := "salt://" + strings.ReplaceAll(sls, ".", "/")
	for _, url := range []string{name + ".sls", name + "/init.sls"} {
		path, found, err := s.client.GetFile(ctx, url, fileclient.Want{Env: env})
		if err != nil || found {
			return path, strings.HasSuffix(url, "/init.sls"), err
		}
	}
	return "", false, nil
}

// Render renders a file.
func (s *source) Render(ctx context.Context, file, sls, env string) (any, error) {
	inner := *s.call
	inner.Ctx = ctx
	return render(&inner, file, sls, env)
}

// Top renders the top file of an environment.
func (s *source) Top(ctx context.Context, env string) (any, bool, error) {
	path, found, err := s.client.GetFile(ctx, s.opts.Str("state_top"), fileclient.Want{Env: env})
	if err != nil || !found {
		return nil, false, err
	}
	v, err := s.Render(ctx, path, "", env)
	return v, true, err
}
