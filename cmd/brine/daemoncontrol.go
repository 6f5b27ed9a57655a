package main

import (
	"path/filepath"

	"brine/actors/admin"
	"brine/config"
	"brine/supervisor"
	"brine/wire/payload"
)

// addControl lets a daemon answer on its control socket: about its actors, and what opt adds.
func (s *session) addControl(top *supervisor.Supervisor, opt admin.Options) error {
	opt.Path, opt.Mode = filepath.Join(s.common.SockDir, controlSocket), s.common.ControlMode
	opt.Tree, opt.Logger, opt.Version = top, s.log, version
	opt.Config = func() *payload.Map { return config.Redacted(s.common.Raw) }
	_, err := top.Add(admin.Spec(opt))
	return err
}

// mapOrNil keeps a map that is not there from becoming an empty one.
func mapOrNil(m *payload.Map, err error) (any, error) {
	if m == nil {
		return nil, err
	}
	return m, err
}
