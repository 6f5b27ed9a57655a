//go:build interop

package returners

import (
	"errors"
	"testing"

	"brine/modules/redisdb"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// Real Salt leaves in a Redis server what is recorded (with BRINE_RECORD it is recorded), and it and brine read what
// the other has written.
func TestRedisBesideSalt(t *testing.T) {
	judge := realSalt(t)
	written := func(o redisdb.Options, call func(fun string, args ...any)) *payload.Map {
		redisFill(t, call)
		return redisDump(t, o)
	}
	theirs, ours := redisServerAt(t), redisServerAt(t)
	asks := func(opts *payload.Map) func(fun string, args ...any) any {
		return func(fun string, args ...any) any {
			v, failed := judge.call(t, opts, fun, args...)
			if failed != "" {
				t.Fatalf("Salt: %s: %s", fun, failed)
			}
			return v
		}
	}
	salts := asks(redisOpts(theirs))
	seen := payload.M("holds", written(redisdb.Options{Socket: theirs, DB: 1}, func(fun string, args ...any) {
		salts(fun, args...)
	}))
	seen.Set("reads", redisReads(salts))
	recorded := record(t, "redis.json", seen)
	if diff := cmp.Diff(sorted(t, recorded), sorted(t, seen)); diff != "" {
		t.Errorf("Salt (-recorded +now):\n%s", diff)
	}

	s := brine(t, redisOpts(ours))
	written(redisdb.Options{Socket: ours, DB: 1}, func(fun string, args ...any) { s.call(fun, args...) })
	want := sorted(t, seen.Value("reads"))
	if diff := cmp.Diff(want, sorted(t, redisReads(brine(t, redisOpts(theirs)).call))); diff != "" {
		t.Errorf("brine reads what Salt wrote (-Salt +brine):\n%s", diff)
	}
	if diff := cmp.Diff(want, sorted(t, redisReads(asks(redisOpts(ours))))); diff != "" {
		t.Errorf("Salt reads what brine wrote (-its own +brine's):\n%s", diff)
	}
}

// Real Salt posts to Slack what is recorded.
func TestSlackBesideSalt(t *testing.T) {
	judge := realSalt(t)
	r := newRecorder(t, slackAnswer)
	seen := slackCases(t, r, func(opts *payload.Map, fun string, arg any) error {
		if _, failed := judge.call(t, opts, fun, arg); failed != "" {
			return errors.New(failed)
		}
		return nil
	})
	compareSlack(t, record(t, "slack.json", seen).([]any), seen)
	compareSlack(t, seen, slackCases(t, r, brineSlack(t)))
}

// Real Salt sends the mails that are recorded.
func TestSMTPBesideSalt(t *testing.T) {
	judge := realSalt(t)
	s := newMailServer(t, &mailServer{kinds: "LOGIN"})
	seen := smtpCases(t, s, func(opts *payload.Map, fun string, arg any) error {
		if _, failed := judge.call(t, opts, fun, arg); failed != "" {
			return errors.New(failed)
		}
		return nil
	})
	compareMails(t, record(t, "smtp.json", seen).([]any), seen)
	compareMails(t, seen, smtpCases(t, s, brineSMTP(t)))
}

// Real Salt asks Elasticsearch for what is recorded.
func TestElasticBesideSalt(t *testing.T) {
	judge := realSalt(t)
	r := elasticServer(t)
	seen := elasticCases(t, r, func(opts *payload.Map, fun string, args ...any) error {
		if _, failed := judge.call(t, opts, fun, args...); failed != "" {
			return errors.New(failed)
		}
		return nil
	})
	compareElastic(t, record(t, "elasticsearch.json", seen).([]any), seen)
	compareElastic(t, seen, elasticCases(t, elasticServer(t), brineElastic(t)))
}

// Real Salt leaves in etcd what is recorded, and it and brine read what the other has written.
func TestEtcdBesideSalt(t *testing.T) {
	judge := realSalt(t)
	seen := payload.NewMap(0)
	theirs, ours := etcdServerAt(t), etcdServerAt(t)
	for _, kind := range etcdKinds {
		asks := func(opts *payload.Map) func(fun string, args ...any) any {
			return func(fun string, args ...any) any {
				v, failed := judge.call(t, opts, fun, args...)
				if failed != "" {
					t.Fatalf("Salt: %s: %s: %s", kind, fun, failed)
				}
				return v
			}
		}
		salts := asks(etcdOpts(theirs, kind))
		etcdFill(t, kind, func(fun string, args ...any) { salts(fun, args...) })
		reads := etcdReads(kind, salts)
		seen.Set(kind, payload.M("holds", etcdDump(t, etcdOpts(theirs, kind)), "reads", reads))
		s := brine(t, etcdOpts(ours, kind))
		etcdFill(t, kind, func(fun string, args ...any) { s.call(fun, args...) })
		if diff := cmp.Diff(sorted(t, reads),
			sorted(t, etcdReads(kind, brine(t, etcdOpts(theirs, kind)).call))); diff != "" {
			t.Errorf("%s: brine reads what Salt wrote (-Salt +brine):\n%s", kind, diff)
		}
		if diff := cmp.Diff(sorted(t, reads), sorted(t, etcdReads(kind, asks(etcdOpts(ours, kind))))); diff != "" {
			t.Errorf("%s: Salt reads what brine wrote (-its own +brine's):\n%s", kind, diff)
		}
	}
	if diff := cmp.Diff(sorted(t, record(t, "etcd.json", seen)), sorted(t, seen)); diff != "" {
		t.Errorf("Salt (-recorded +now):\n%s", diff)
	}
}
