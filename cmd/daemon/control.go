package daemon

import (
	"path/filepath"

	"brine/actors/admin"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/supervisor"
	"brine/wire/control"
	"brine/wire/payload"
)

// AddControl lets a daemon answer on its control socket, about its actors and about the subjects in opt.
func AddControl(s *session.Session, top *supervisor.Supervisor, opt admin.Options) error {
	opt.Path, opt.Mode = control.At(s.Common.SockDir).Path(), s.Common.ControlMode
	opt.Tree, opt.Logger, opt.Version = top, s.Log, tool.Version
	opt.Config = func() *payload.Map { return config.Redacted(s.Common.Raw) }
	opt.Crashes = func() []string { return reports(filepath.Join(s.Common.CacheDir, crashFolder)) }
	_, err := top.Add(admin.Spec(opt))
	return err
}

// MapOrNil turns a nil map into a plain nil, which is not encoded as an empty map.
func MapOrNil(m *payload.Map, err error) (any, error) {
	if m == nil {
		return nil, err
	}
	return m, err
}
