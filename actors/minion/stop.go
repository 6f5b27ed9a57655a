package minion

import (
	"errors"
	"time"

	"brine/supervisor"
)

// Stop ends the minion: running jobs are ended and answered for, no publications are taken any more, the returns go
// out, and the actors are stopped.
func (m *Minion) Stop(within time.Duration) (supervisor.Report, error) {
	m.top.StopRestarting()
	m.reactions.halt()
	ended := m.jobs.Stop(within)
	report := m.top.Stop(within - ended.Took)
	report.Phases = append([]supervisor.Phase{ended}, report.Phases...)
	report.Took += ended.Took
	if err := m.reactions.close(); err != nil {
		m.log.Error("the Reactor's backlog was not closed", "err", err)
	}
	if len(report.Abandoned) > 0 {
		return report, errors.New("not all actors stopped in time")
	}
	for _, l := range m.links {
		l.Close()
	}
	return report, nil
}
