package configtool

import (
	"log/slog"

	"brine/config"
	"brine/modules/fileserver"
	"brine/modules/fileserver/gitfs"
	"brine/modules/tops"
	"brine/wire/python"
)

// rehearse asks the parts of a master that read their own options when it starts: what they would not start with is a
// fault, what they would leave out a notice.
func rehearse(m *config.Master) (faults config.Faults, notices []config.Notice) {
	ends := func(key string, err error) {
		o := m.Origin(key)
		faults = append(faults, &config.Error{File: o.File, Line: o.Line, Key: key, Code: config.ExitGeneric, Err: err})
	}
	warns := func(text string) { notices = append(notices, config.Notice{Level: slog.LevelWarn, Text: text}) }
	if _, err := tops.New(m.Raw.Map("master_tops")); err != nil {
		ends("master_tops", err)
	}
	switch server, err := fileserver.Configured(m.Raw, gitfs.Kind()); {
	case err != nil && server == nil:
		ends("fileserver_backend", err)
	case err != nil:
		warns("The file server leaves something out: " + err.Error())
	}
	_, err := gitfs.NewPillars(m.Raw, func(_ slog.Level, text string) { warns(text) })
	switch checked := m.Raw.Value("git_pillar_verify_config"); {
	case err != nil && (checked == nil || python.Truth(checked)):
		ends("ext_pillar", err)
	case err != nil:
		warns("Git external pillars are not there: pillars will say so: " + err.Error())
	}
	return faults, notices
}
