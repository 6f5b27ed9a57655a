package minion

import (
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"brine/actors/daemon"
	"brine/config"
	"brine/modules/loader"
	"brine/supervisor"
	"brine/wire/auth"
	"brine/wire/payload"
)

// linkOptions are what the configuration says of every master. How long it may take to answer is in times, which a
// reload changes.
type linkOptions struct {
	id            string        // of this minion
	startDelay    time.Duration // random_startup_delay: the first sign-in comes at random within it; 0: at once
	wait, waitMax time.Duration // acceptance_wait_time and its _max: between attempts, growing
	reauthDelay   time.Duration // random_reauth_delay: at most so much is added, at random
	pendingMost   int           // auth_retries: answers "pending" in one attempt; 0: any number
	retryDNS      time.Duration // retry_dns: between attempts to find the address of a master; 0: that is a failure
	lookupsMost   int           // retry_dns_count of these; 0: for ever
	filtering     bool          // zmq_filtering: the master sends only what this minion is meant by
	publishPort   int           // publish_port, where it is set to another than the usual one; 0: as the master says
}

// link is one master as the actors of its connection share it: the sign-in state and the way to the master.
// It outlives their restarts. Everything in it may be used by many goroutines.
type link struct {
	opt    linkOptions
	times  *latestTimes
	master config.MasterAddr
	twin   bool // another link has a master on the same host
	auth   *auth.Minion
	wire   carrier
	meter  *meter
	clock  supervisor.Clock
	log    *slog.Logger

	authenticator *supervisor.Ref // told when a request shows that the session has ended
	subscriber    *supervisor.Ref
	sender        *supervisor.Ref // the ReturnSender

	sessions    atomic.Int64 // sign-ins that were accepted
	publishPort atomic.Int64 // of the last of them
	connected   atomic.Bool  // the publish port is connected
	ready       atomic.Bool  // once signed in, connected, and given a pillar; jobs are taken from then on
	delayed     atomic.Bool  // random_startup_delay is over
	brine       atomic.Bool  // the master is brine: it may be told what Salt's do not know
	topic       atomic.Pointer[string]

	coming *daemon.Bound // publications
	asking *daemon.Bound // requests for others
	gauges linkGauges

	facts      *linkFacts
	pillarData atomic.Pointer[payload.Map]
	env        *loader.Env // what its jobs run in
}

// name is the master in file names and actor names.
func (l *link) name() string { return fmt.Sprintf("%s_%d", plainName(l.master.Host), l.master.Port) }

// named is the topic of the publish port by which the master knows this minion; "": there is none.
func (l *link) named() string {
	if t := l.topic.Load(); t != nil {
		return *t
	}
	return ""
}

// queueName is the master as Salt names the directory of its queue.
func (l *link) queueName() string {
	if l.twin {
		return l.name()
	}
	return plainName(l.master.Host)
}

// plainName makes a host a file name, as Salt does.
func plainName(host string) string {
	out := []byte(host)
	for i, c := range out {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '_' || c == '-') {
			out[i] = '_'
		}
	}
	return string(out)
}

// up tells whether the master can be expected to answer.
func (l *link) up() bool { return l.ready.Load() && l.connected.Load() }

// returnTimeout is the time one attempt to deliver a return may take: a random value, so that a fleet does not
// come back at one moment.
func (l *link) returnTimeout() time.Duration {
	now := l.times.Load()
	return daemon.Between(now.returnRetryTimer, now.returnRetryTimerMax)
}
