package sqlstore

import (
	"context"
	"database/sql"
	"strings"

	"brine/modules/loader"
	"brine/wire/python"
)

// archive are the statements of clean_old_jobs. The parameters of keep and remove are the time.
type archive struct {
	stamp  string   // seconds: the time before which rows are old, as text
	make   []string // tables of the archive
	keep   []string // move rows there
	remove []string // or remove them
}

// keepSeconds is the default of keep_jobs_seconds.
const keepSeconds = 86400

// cleanOldJobs removes jobs, returns and events older than keep_jobs_seconds, with archive_jobs into tables of the
// archive. All of it happens or nothing; a job whose minions still return stays. Unlike Salt, which may copy rows twice
// when it fails in between, and tells its log only.
func (s *store) cleanOldJobs(c *loader.Call, _ struct{}) (any, error) {
	seconds := int64(keepSeconds)
	if v, ok := c.Opts().Get("keep_jobs_seconds"); ok {
		n, err := loader.ToInt(v)
		if err != nil {
			return nil, refuse("keep_jobs_seconds is no number of seconds")
		}
		seconds = n
	}
	if seconds <= 0 {
		return nil, nil
	}
	statements := s.archive.remove
	kept := python.Truth(c.Opts().Value("archive_jobs"))
	if kept {
		statements = s.archive.keep
	}
	return nil, s.with(c, nil, func(ctx context.Context, db *sql.DB) error {
		var stamp string
		if err := db.QueryRowContext(ctx, s.archive.stamp, seconds).Scan(&stamp); err != nil {
			return err
		}
		if kept {
			for _, text := range s.archive.make { // some databases end a transaction with it
				if _, err := db.ExecContext(ctx, text); err != nil {
					return err
				}
			}
		}
		return inTx(ctx, db, func(tx *sql.Tx) error {
			for _, text := range statements {
				if _, err := tx.ExecContext(ctx, text, stamps(text, stamp)...); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// stamps is the time for each place of a statement: places without numbers have one each.
func stamps(text, stamp string) []any {
	out := []any{stamp}
	for range strings.Count(text, "?") - 1 {
		out = append(out, stamp)
	}
	return out
}
