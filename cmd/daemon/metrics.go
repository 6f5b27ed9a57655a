package daemon

import (
	"fmt"

	"brine/actors/metrics"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/supervisor"
)

// MetricSet makes the metrics that a daemon shows to Prometheus, or nil if the configuration does not ask for
// them. groups are the children that come and go, see metrics.SetOptions.
func MetricSet(s *session.Session, daemon string, groups ...string) (*metrics.Set, error) {
	switch opt := s.Common.MetricsOptions(); {
	case !opt.Enabled:
		return nil, nil
	case opt.Exporter != config.ExporterPrometheus:
		s.Log.Error(fmt.Sprintf("Unknown metrics exporter '%s'; metrics will be a no-op", opt.Exporter), "known",
			config.ExporterPrometheus)
		return nil, nil
	}
	return metrics.NewSet(metrics.SetOptions{Daemon: daemon, Program: tool.Version, Version: tool.SaltVersion,
		Groups: groups})
}

// AddMetrics starts the listener. If the port is in use, the daemon still starts, and the listener tries again.
func AddMetrics(s *session.Session, top *supervisor.Supervisor, set *metrics.Set) error {
	if set == nil {
		return nil
	}
	opt := s.Common.MetricsOptions()
	set.Watch(top)
	_, err := top.Add(metrics.Listener(metrics.ListenerOptions{Host: opt.Host, Port: opt.Port, Set: set,
		Logger: s.Log}))
	return err
}
