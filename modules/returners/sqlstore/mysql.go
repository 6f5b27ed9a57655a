package sqlstore

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"net"
	"os"
	"slices"
	"strings"
	"unicode/utf16"

	"brine/modules/loader"
	"brine/modules/returners/options"
	"brine/wire/payload"

	"github.com/go-sql-driver/mysql"
)

// mySQL is the returner mysql, for MySQL and MariaDB.
func mySQL() *dialect {
	names := []string{"host", "user", "pass", "db", "port", "ssl_ca", "ssl_cert", "ssl_key"}
	return &dialect{
		name: "mysql", secret: "pass", wire: []string{"host", "port", "ssl_ca",
			"ssl_cert", "ssl_key"}, kept: true, wantsID: true,
		want: options.Lookup{Name: "mysql", Options: names,
			Defaults: options.Values{"host": "salt", "user": "salt", "pass": "salt", "db": "salt",
				"port": int64(3306)}},
		open: openMySQL, refuses: refusedByMySQL, row: mysqlRow, value: textJSON, narrow: narrowMySQL, filled: readJSON,
		archive: mysqlArchive(),
		sql: statements{
			ret: "INSERT INTO `salt_returns` (`fun`, `jid`, `return`, `id`, `success`, `full_ret`) VALUES (?, ?, " +
				"?, ?, ?, ?)",
			event: "INSERT INTO `salt_events` (`tag`, `data`, `master_id`) VALUES", eventRow: " (?, ?, ?)",
			load:    "INSERT INTO `jids` (`jid`, `load`) VALUES (?, ?) ON DUPLICATE KEY UPDATE `jid` = `jids`.`jid`",
			getLoad: "SELECT `jid`, `load` FROM `jids` WHERE `jid` = ?",
			getJID:  "SELECT `id`, `full_ret` FROM `salt_returns` WHERE `jid` = ? ORDER BY `alter_time`",
			getFun: "SELECT s.`id`, s.`full_ret` FROM `salt_returns` s JOIN (SELECT `id`, MAX(`jid`) AS `jid` FROM " +
				"`salt_returns` WHERE `fun` = ? GROUP BY `id`) latest " +
				"ON s.`id` = latest.`id` AND s.`jid` = latest.`jid` ORDER BY s.`alter_time`",
			getJIDs: "SELECT `jid`, `load` FROM `jids` ORDER BY `jid`",
			filtered: "SELECT `jid`, `load` FROM (SELECT `jid`, `load` FROM `jids` ORDER BY `jid` DESC LIMIT ?) " +
				"latest ORDER BY `jid`",
			unfound: "SELECT `jid`, `load` FROM (SELECT `jid`, `load` FROM `jids` WHERE `load` NOT LIKE '%\"fun\": " +
				"\"saltutil.find_job\"%' " +
				"ORDER BY `jid` DESC LIMIT ?) latest ORDER BY `jid`",
			minions: "SELECT DISTINCT `id`, NULL FROM `salt_returns`",
		},
	}
}

// openMySQL prepares connections. What does not fit into a column is an error, whatever the server does elsewhere: JSON
// that is cut is none.
func openMySQL(opt values) (*sql.DB, error) {
	port, err := opt.port()
	if err != nil {
		return nil, err
	}
	conf := mysql.NewConfig()
	conf.User, conf.Passwd, conf.DBName = opt.text("user"), opt.text("pass"), opt.text("db")
	conf.Net, conf.Addr = mysqlAddress(opt.text("host"), port)
	conf.Timeout = connectMost
	conf.MaxAllowedPacket = 0 // the server says it
	conf.Logger = &mysql.NopLogger{}
	conf.Params = map[string]string{"sql_mode": "concat(@@sql_mode, ',STRICT_ALL_TABLES')"}
	if conf.TLS, err = mysqlTLS(opt); err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(conf)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// mysqlAddress is where a server listens. localhost is the socket of a server of this machine, where that has one, as
// for the library of MySQL; only at places that its user alone may write to.
func mysqlAddress(host, port string) (network, address string) {
	if host == "localhost" {
		for _, path := range []string{os.Getenv("MYSQL_UNIX_PORT"), "/run/mysqld/mysqld.sock",
			"/var/lib/mysql/mysql.sock"} {
			if info, err := os.Stat(path); path != "" && err == nil && info.Mode().Type() == os.ModeSocket {
				return "unix", path
			}
		}
	}
	return "tcp", net.JoinHostPort(host, port)
}

// mysqlTLS is what protects a connection; nil without the options for it. With ssl_ca the name of the server is
// checked, too. Without it nothing is, as in Salt: the connection is hidden from who only listens.
func mysqlTLS(opt values) (*tls.Config, error) {
	ca, cert, key := opt.text("ssl_ca"), opt.text("ssl_cert"), opt.text("ssl_key")
	if ca == "" && cert == "" && key == "" {
		return nil, nil
	}
	conf := &tls.Config{ServerName: opt.text("host"), InsecureSkipVerify: ca == "", MinVersion: tls.VersionTLS12}
	if ca != "" {
		text, err := os.ReadFile(ca)
		if err != nil {
			return nil, err
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(text) {
			return nil, refuse("ssl_ca: %s holds no certificate", ca)
		}
	}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, err
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	return conf, nil
}

// mysqlRefusals are errors of values that the tables will never take: too long, no letters of the table's, NULL, out of
// range, larger than a packet, a violated constraint.
var mysqlRefusals = []uint16{1048, 1062, 1153, 1241, 1264, 1265, 1292, mysqlLetters, 1301, 1390, 1406, 1452, 3140, 3819,
	4025}

// mysqlLetters is the error of text that has letters which the table has not.
const mysqlLetters = 1366

// mysqlUnknown is the error that has no number of its own, among others of a parameter past max_allowed_packet.
const mysqlUnknown = 1105

// refusedByMySQL says whether the database will never take what it was given.
func refusedByMySQL(err error) bool {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		return errors.Is(err, mysql.ErrPktTooLarge)
	}
	tooLong := e.Number == mysqlUnknown && strings.Contains(e.Message, "'max_allowed_packet'")
	return tooLong || slices.Contains(mysqlRefusals, e.Number)
}

// mysqlRow are the values of statements.ret.
func mysqlRow(_ *loader.Call, ret *payload.Map) ([]any, error) {
	short, err := textJSON(ret.Value("return"))
	if err != nil {
		return nil, err
	}
	full, err := textJSON(ret)
	if err != nil {
		return nil, err
	}
	return []any{textField(ret, "fun"), textField(ret, "jid"), short, textField(ret, "id"), success(ret, false, "1",
		"0"), full}, nil
}

// narrowMySQL escapes, in columns that hold JSON, the letters that the character set utf8 of Salt's tables lacks: those
// of four bytes. JSON with escapes means the same. Unlike Salt, which loses the return for them.
func narrowMySQL(values []any, err error) ([]any, bool) {
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != mysqlLetters {
		return nil, false
	}
	out := slices.Clone(values)
	holding := []int{1} // jid, load; tag, data, master_id
	if len(values) == 6 {
		holding = []int{2, 5} // return, full_ret
	}
	for _, i := range holding {
		if text, ok := out[i].(string); ok {
			out[i] = escaped(text)
		}
	}
	return out, true
}

// escaped is JSON without letters of four bytes.
func escaped(text string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if r <= 0xffff {
			b.WriteRune(r)
			continue
		}
		for _, half := range utf16.AppendRune(nil, r) {
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(digits[half>>shift&15])
			}
		}
	}
	return b.String()
}

// mysqlArchive copies rows and removes them in one transaction.
// Unlike Salt, events get new numbers in the archive: a server that restarts with an empty table gives old ones again,
// with which the archive would take no more events, ever. A job that came again replaces the one in the archive.
func mysqlArchive() *archive {
	const (
		oldJobs = " FROM `jids` WHERE EXISTS (SELECT 1 FROM `salt_returns` r WHERE r.`jid` = `jids`.`jid` AND " +
			"r.`alter_time` < ?) " +
			"AND NOT EXISTS (SELECT 1 FROM `salt_returns` r WHERE r.`jid` = `jids`.`jid` AND NOT r.`alter_time` < ?)"
		oldReturns = " FROM `salt_returns` WHERE `alter_time` < ?"
		oldEvents  = " FROM `salt_events` WHERE `alter_time` < ?"
	)
	return &archive{
		stamp: "SELECT CAST(DATE_SUB(NOW(), INTERVAL ? SECOND) AS CHAR)",
		make: []string{"CREATE TABLE IF NOT EXISTS `jids_archive` LIKE `jids`",
			"CREATE TABLE IF NOT EXISTS `salt_returns_archive` LIKE `salt_returns`",
			"CREATE TABLE IF NOT EXISTS `salt_events_archive` LIKE `salt_events`"},
		keep: []string{"REPLACE INTO `jids_archive` SELECT *" + oldJobs, "INSERT INTO `salt_returns_archive` SELECT *" +
			oldReturns,
			"INSERT INTO `salt_events_archive` (`tag`, `data`, `alter_time`, `master_id`) SELECT `tag`, `data`, " +
				"`alter_time`, `master_id`" + oldEvents,
			"DELETE" + oldJobs, "DELETE" + oldReturns, "DELETE" + oldEvents},
		remove: []string{"DELETE" + oldJobs, "DELETE" + oldReturns, "DELETE" + oldEvents},
	}
}
