package main

import (
	"fmt"

	"brine/actors/metrics"
	"brine/config"
	"brine/supervisor"
)

// metricSet makes what a daemon shows to Prometheus; nil unless the configuration asks for it. Groups are the
// children that come and go, see metrics.SetOptions.
func (s *session) metricSet(daemon string, groups ...string) (*metrics.Set, error) {
	switch opt := s.common.MetricsOptions(); {
	case !opt.Enabled:
		return nil, nil
	case opt.Exporter != config.ExporterPrometheus:
		s.log.Error(fmt.Sprintf("Unknown metrics exporter '%s'; metrics will be a no-op", opt.Exporter), "known", config.ExporterPrometheus)
		return nil, nil
	}
	return metrics.NewSet(metrics.SetOptions{Daemon: daemon, Program: version, Version: saltVersion, Groups: groups})
}

// addMetrics starts the listener. A port that is taken keeps the daemon from nothing: the listener tries again.
func (s *session) addMetrics(top *supervisor.Supervisor, set *metrics.Set) error {
	if set == nil {
		return nil
	}
	opt := s.common.MetricsOptions()
	set.Watch(top)
	_, err := top.Add(metrics.Listener(metrics.ListenerOptions{Host: opt.Host, Port: opt.Port, Set: set, Logger: s.log}))
	return err
}
