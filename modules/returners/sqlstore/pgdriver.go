package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Connections to PostgreSQL for database/sql, on pgconn alone: what pgx has for it brings all types of the database, of
// which none but text is used here, and 3 MB. Statements have no names, so that proxies which share connections
// (PgBouncer) do not matter; values go and come as text, of the types that the server finds.
type (
	pgConnector struct{ conf *pgconn.Config }

	pgConn struct {
		conn *pgconn.PgConn
		used time.Time
	}
	pgTx   struct{ conn *pgConn }
	pgRows struct{ reader *pgconn.ResultReader }
	pgTag  pgconn.CommandTag
)

// endMost is how long a transaction may take to end: driver.Tx has no context for it.
const endMost = time.Minute

// Connect opens a connection.
func (c pgConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := pgconn.ConnectConfig(ctx, c.conf)
	if err != nil {
		return nil, err
	}
	return &pgConn{conn: conn, used: time.Now()}, nil
}

// Driver is asked for by nobody here.
func (c pgConnector) Driver() driver.Driver { return c }

// Open belongs to a driver that has connection strings.
func (pgConnector) Open(string) (driver.Conn, error) {
	return nil, errors.New("connections have options, no name")
}

// Close ends the connection, in the background if the server does not listen.
func (c *pgConn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return c.conn.Close(ctx)
}

// IsValid says whether the connection may be used once more.
func (c *pgConn) IsValid() bool { return !c.conn.IsClosed() }

// ResetSession looks whether a connection that rested still has a server.
func (c *pgConn) ResetSession(ctx context.Context) error {
	if c.conn.IsClosed() {
		return driver.ErrBadConn
	}
	if time.Since(c.used) > time.Second && c.conn.Ping(ctx) != nil {
		return driver.ErrBadConn
	}
	return nil
}

// Ping asks the server for a sign of life.
func (c *pgConn) Ping(ctx context.Context) error { return c.conn.Ping(ctx) }

// Prepare is not used: database/sql calls ExecContext and QueryContext.
func (c *pgConn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("statements are not prepared")
}

// Begin begins a transaction.
func (c *pgConn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a transaction of the server's default kind.
func (c *pgConn) BeginTx(ctx context.Context, opt driver.TxOptions) (driver.Tx, error) {
	if opt.Isolation != 0 || opt.ReadOnly {
		return nil, errors.New("transactions have no options")
	}
	if _, err := c.ExecContext(ctx, "BEGIN", nil); err != nil {
		return nil, err
	}
	return pgTx{c}, nil
}

// Commit ends the transaction. One that failed before cannot be committed, and PostgreSQL calls that no error.
func (t pgTx) Commit() error {
	tag, err := t.end("COMMIT")
	if err == nil && tag != "COMMIT" {
		err = errors.New("the transaction had failed and is rolled back")
	}
	return err
}

// Rollback undoes the transaction.
func (t pgTx) Rollback() error {
	_, err := t.end("ROLLBACK")
	return err
}

func (t pgTx) end(text string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), endMost)
	defer cancel()
	result, err := t.conn.ExecContext(ctx, text, nil)
	if err != nil {
		return "", err
	}
	return pgconn.CommandTag(result.(pgTag)).String(), nil
}

// ExecContext runs a statement; several at once when there are no parameters.
func (c *pgConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	defer c.touch()
	if len(args) == 0 {
		results, err := c.conn.Exec(ctx, query).ReadAll()
		if err != nil || len(results) == 0 {
			return pgTag{}, retryable(err)
		}
		return pgTag(results[len(results)-1].CommandTag), nil
	}
	values, err := pgValues(args)
	if err != nil {
		return nil, err
	}
	tag, err := c.conn.ExecParams(ctx, query, values, nil, nil, nil).Close()
	return pgTag(tag), retryable(err)
}

// QueryContext runs a statement whose rows are read one after the other.
func (c *pgConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	defer c.touch()
	values, err := pgValues(args)
	if err != nil {
		return nil, err
	}
	return pgRows{c.conn.ExecParams(ctx, query, values, nil, nil, nil)}, nil
}

func (c *pgConn) touch() { c.used = time.Now() }

// retryable tells database/sql of an error before anything was sent, so that it takes another connection.
func retryable(err error) error {
	if err != nil && pgconn.SafeToRetry(err) {
		return driver.ErrBadConn
	}
	return err
}

// pgValues are parameters as text; nil is NULL.
func pgValues(args []driver.NamedValue) ([][]byte, error) {
	out := make([][]byte, len(args))
	for i, a := range args {
		switch v := a.Value.(type) {
		case nil:
		case string:
			out[i] = []byte(v)
		case int64:
			out[i] = strconv.AppendInt(nil, v, 10)
		default:
			return nil, fmt.Errorf("a parameter is of type %T", v)
		}
	}
	return out, nil
}

// Columns are the names of the columns; none when the statement failed, which Next tells.
func (r pgRows) Columns() []string {
	fields := r.reader.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Next is the next row, as text.
func (r pgRows) Next(dest []driver.Value) error {
	if !r.reader.NextRow() {
		if _, err := r.reader.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	for i, v := range r.reader.Values() {
		dest[i] = nil
		if v != nil {
			dest[i] = string(v)
		}
	}
	return nil
}

// Close reads what is left.
func (r pgRows) Close() error {
	_, err := r.reader.Close()
	return err
}

// LastInsertId is something that PostgreSQL does not have.
func (pgTag) LastInsertId() (int64, error) { return 0, errors.New("there is no such id") }

// RowsAffected is the number of rows that a statement wrote.
func (t pgTag) RowsAffected() (int64, error) { return pgconn.CommandTag(t).RowsAffected(), nil }
