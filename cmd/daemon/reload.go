package daemon

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"brine/cmd/session"
	"brine/config"

	"golang.org/x/term"
)

// Reloader is a service that can change some options while it runs.
type Reloader interface {
	// Reload puts the new configuration in force. Only one goroutine at a time calls it, and fresh does not
	// change any more.
	Reload(fresh *session.Session)
}

// Chooser is a Reloader that shares its configuration with another daemon.
type Chooser interface {
	Reloader
	// Check returns an error if the service cannot use a configuration. Nothing is put in force then.
	Check(fresh *session.Session) error
	// Takes tells whether an option takes effect now, or at the next start. If both are false, the option is
	// not the service's.
	Takes(key string) (now, later bool)
}

// reloader loads the configuration again when its files change or SIGHUP arrives. A configuration with errors
// changes nothing.
type reloader struct {
	s   *session.Session
	svc Reloader

	mu    sync.Mutex
	first *config.Common   // the configuration at the start, to find changes that need a restart
	last  *session.Session // the configuration in force
	said  string           // the last error, which is logged once
}

// followFiles starts to watch the configuration files and SIGHUP, until ctx ends.
func followFiles(ctx context.Context, s *session.Session, svc Service) {
	takes, ok := svc.(Reloader)
	if !ok {
		return
	}
	hup := make(chan os.Signal, 1)
	if hangUpReloads(s) {
		signal.Notify(hup, syscall.SIGHUP)
	}
	r := &reloader{s: s, svc: takes, first: s.Common, last: s}
	go func() {
		for { // the signal stays caught after that, so that the daemon ends in order
			select {
			case <-hup:
				r.again(true)
			case <-ctx.Done():
				return
			}
		}
	}()
	go r.watch(ctx)
}

// watch loads the configuration again whenever its files change.
func (r *reloader) watch(ctx context.Context) {
	w, err := newWatcher()
	if err != nil {
		r.s.Log.Warn("changes of configuration files are not noticed; SIGHUP reads them anew", "err", err)
		return
	}
	defer w.close()
	folders, links := r.s.Common.Folders()
	for {
		for more := true; more; { // there was no event for changes before the directory was watched
			if _, err := w.want(folders, links); err != nil {
				r.s.Log.Warn("changes in a directory of the configuration are not noticed; SIGHUP reads them anew",
					"err", err)
			}
			folders, links = r.again(false)
			more, _ = w.want(folders, links)
		}
		if !w.changed(ctx) {
			return
		}
	}
}

// hangUpReloads tells whether SIGHUP reloads the configuration. A daemon in the foreground of a terminal ends
// with its terminal, like any program. With nohup, SIGHUP stays ignored.
func hangUpReloads(s *session.Session) bool {
	if signal.Ignored(syscall.SIGHUP) {
		return false
	}
	return s.Parent != nil || !term.IsTerminal(int(os.Stdin.Fd()))
}

// again loads the configuration and puts in force what may change. asked means that a user wants an answer in
// the log in any case. The results are the places where files of the configuration in force may be.
func (r *reloader) again(asked bool) (folders, links []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.load(asked)
	return r.last.Common.Folders()
}

func (r *reloader) load(asked bool) {
	fresh, err := r.s.LoadAgain()
	if err == nil {
		err = r.check(fresh)
	}
	var changes []config.Change
	if err == nil {
		changes, err = config.Changes(r.last.Common, fresh.Common)
		changes = chosen(r.svc, changes)
	}
	if err != nil {
		if asked || err.Error() != r.said {
			r.s.Log.Error(fmt.Sprintf("The configuration cannot be read anew, nothing has changed: %v", err))
		}
		r.said = err.Error()
		return
	}
	r.said = ""
	if len(changes) == 0 {
		if asked {
			r.s.Log.Info("The configuration was read anew: nothing has changed")
		}
		return
	}
	r.s.FollowLevels(fresh.Common)
	r.svc.Reload(fresh)
	r.tell(fresh, changes)
	r.last = fresh
}

func (r *reloader) check(fresh *session.Session) error {
	if c, ok := r.svc.(Chooser); ok {
		return c.Check(fresh)
	}
	return CheckStanding(fresh)
}

// chosen selects the changes that concern a service, and notes whether they take effect now.
func chosen(svc Reloader, changes []config.Change) []config.Change {
	c, ok := svc.(Chooser)
	if !ok { // options of salt-api are in the master's file
		return slices.DeleteFunc(changes, func(change config.Change) bool { return change.Foreign })
	}
	var own []config.Change
	for _, change := range changes {
		now, later := c.Takes(change.Key)
		if change.Live = now; now || later {
			own = append(own, change)
		}
	}
	return own
}

// tell logs which options have changed and which wait for the next start.
func (r *reloader) tell(fresh *session.Session, changes []config.Change) {
	var now []string
	for _, c := range changes {
		if c.Live {
			now = append(now, "'"+c.Key+"'")
		}
	}
	if len(now) > 0 {
		r.s.Log.Info("The configuration was read anew, in force are: " + strings.Join(now, ", "))
	}
	since, err := config.Changes(r.first, fresh.Common) // an option that was set back needs no restart
	if err != nil {
		return
	}
	waits := map[string]bool{}
	for _, c := range since {
		waits[c.Key] = true
	}
	for _, c := range changes {
		if !c.Live && !c.Own() && waits[c.Key] {
			r.s.Log.Warn(fmt.Sprintf("Config option '%s' has changed (%s) and takes effect when this daemon is "+
				"started again", c.Key, c.Origin))
		}
	}
	for _, n := range fresh.Unhonoured {
		if !containsNotice(r.last.Unhonoured, n) {
			r.s.Log.Log(context.Background(), n.Level, n.Text)
		}
	}
}

func containsNotice(list []config.Notice, n config.Notice) bool {
	for _, have := range list {
		if have.Text == n.Text {
			return true
		}
	}
	return false
}
