package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/options"
	"brine/wire/payload"
	"brine/wire/python"
)

// dialect is what one kind of database has of its own.
type dialect struct {
	name   string // of the returner: "postgres"
	want   options.Lookup
	secret string   // the option that holds the password, "" for none
	wire   []string // options that say where a connection goes and how it is protected
	kept   bool     // connections are kept for a while; otherwise opened for a call

	sql     statements
	archive *archive // nil: there is no clean_old_jobs

	open    func(values) (*sql.DB, error)                   // makes, but connects nothing
	refuses func(error) bool                                // whether the database will never take what it was given
	row     func(*loader.Call, *payload.Map) ([]any, error) // the values of statements.ret
	value   func(v any) (string, error)                     // JSON for a column
	// other values that mean the same, for a table that lacks letters; nil: none
	narrow  func([]any, error) ([]any, bool)
	filled  func(full string) any // what get_jid and get_fun give of the column full_ret
	wantsID bool                  // a standalone return (jid "req") gets an id and a load of its own
}

// statements are SQL with places for parameters.
type statements struct {
	ret      string // a return; its values are those of dialect.row
	event    string // the head of an insert of events; "" where there is no event_return
	eventRow string // the values of one, "($%d, $%d, $%d)"; without verbs for a database whose places have no numbers
	load     string // jid, load
	getLoad  string // jid: load
	getJID   string // jid: id, full_ret
	getFun   string // fun, fun: id, full_ret
	getJIDs  string // jid, load
	filtered string // count: jid, load, of the latest jobs; "" where there is no get_jids_filter
	unfound  string // the same without those of saltutil.find_job
	minions  string // id
}

// values are the options of one call.
type values map[string]any

// text is an option as text; "" for none. So is None, in which Salt's documentation says that an option is not used.
func (o values) text(name string) string {
	v := o[name]
	if v == nil || v == "None" || v == "none" {
		return ""
	}
	return python.Str(v)
}

// port is the option of that name, as text.
func (o values) port() (string, error) {
	n, err := loader.ToInt(o["port"])
	if err != nil || n < 1 || n > 65535 {
		return "", refuse("the option port is no port: %s", python.Repr(o["port"]))
	}
	return strconv.FormatInt(n, 10), nil
}

// refused is an error of what was asked for: a value or an option that makes no sense.
type refused struct{ error }

func (r refused) Unwrap() error { return r.error }

func isRefused(err error) bool {
	var r refused
	return errors.As(err, &r)
}

func refuse(format string, values ...any) error { return refused{fmt.Errorf(format, values...)} }

// with hands the database of a call to f. Options of ret come before those of the configuration; ret may be nil.
func (s *store) with(c *loader.Call, ret *payload.Map, f func(ctx context.Context, db *sql.DB) error) (err error) {
	read, err := s.want.Read(c, ret)
	if err != nil {
		return err
	}
	opt := values(read)
	if err := s.guard(ret); err != nil {
		return err
	}
	if !s.kept {
		db, err := s.opened(opt)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, db.Close()) }()
		return f(c.Ctx, db)
	}
	db, release, err := s.pool.get(keyOf(opt), func() (*sql.DB, error) { return s.opened(opt) })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	return f(c.Ctx, db)
}

// opened makes the connections of some options. It reaches no server yet: what is wrong is wrong with the options.
func (s *store) opened(opt values) (*sql.DB, error) {
	db, err := s.open(opt)
	if err != nil {
		return nil, returners.Misset("%s", err)
	}
	return db, nil
}

// guard refuses to bring the password of the configuration to a place that the job names, or there in a way that it
// names: who may publish test.ping is not for that one who may know the password. Unlike Salt, which connects to any
// host of ret_kwargs with it.
func (s *store) guard(ret *payload.Map) error {
	given := ret.Map(payload.FieldRetKwargs)
	if s.secret == "" || given.Str(s.secret) != "" {
		return nil
	}
	for _, name := range s.wire {
		if given.Has(name) {
			return refuse("ret_kwargs name %s, but no %s: the password of the configuration goes nowhere else (use "+
				"ret_config)", name, s.secret)
		}
	}
	return nil
}

// inTx runs f in a transaction.
func inTx(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}

// ignoreDone forgets that a transaction has ended already, as it does with its context.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}
