// Package syslog_return is the returner syslog: it writes returns, as JSON, to the log of the system. Answers to
// salt/returners/syslog_return.py.
package syslog_return

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/returners"
	"brine/modules/returners/functions"
	"brine/modules/returners/options"
	"brine/wire/payload"
	"brine/wire/python"
)

// wanted are where the returner syslog finds its options.
var wanted = options.Lookup{Name: "syslog", Options: []string{"level", "facility", "tag", "options"},
	Defaults: options.Values{"level": "LOG_INFO", "facility": "LOG_USER", "options": []any{}}}

// levels and facilities have the numbers of syslog(3).
var (
	levels = map[string]int{"LOG_EMERG": 0, "LOG_ALERT": 1, "LOG_CRIT": 2, "LOG_ERR": 3, "LOG_WARNING": 4,
		"LOG_NOTICE": 5, "LOG_INFO": 6, "LOG_DEBUG": 7}

	facilities = map[string]int{"LOG_KERN": 0, "LOG_USER": 8, "LOG_MAIL": 16, "LOG_DAEMON": 24, "LOG_AUTH": 32,
		"LOG_SYSLOG": 40, "LOG_LPR": 48, "LOG_NEWS": 56, "LOG_UUCP": 64, "LOG_CRON": 72, "LOG_AUTHPRIV": 80,
		"LOG_LOCAL0": 128, "LOG_LOCAL1": 136, "LOG_LOCAL2": 144, "LOG_LOCAL3": 152, "LOG_LOCAL4": 160,
		"LOG_LOCAL5": 168, "LOG_LOCAL6": 176, "LOG_LOCAL7": 184}

	optionWords = map[string]bool{"LOG_PID": true, "LOG_CONS": true, "LOG_NDELAY": true, "LOG_ODELAY": true,
		"LOG_NOWAIT": true, "LOG_PERROR": true}
)

// mostTag is the longest tag in characters.
const mostTag = 32

// Module is the returner syslog.
func Module(o returners.Options) loader.Module {
	socket := o.Syslog
	if socket == "" {
		socket = "/dev/log"
	}
	return loader.Module{File: "syslog_return", Name: "syslog", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{functions.Returner("syslog", "Write the return, as JSON, to the log of the system.",
			func(c *loader.Call, ret *payload.Map) error { return take(c, socket, ret) })}
	}}
}

func take(c *loader.Call, socket string, ret *payload.Map) error {
	opt, err := wanted.Read(c, ret)
	if err != nil {
		return err
	}
	head, words, err := headOf(opt, time.Now())
	if err != nil {
		return &returners.Unusable{Err: err}
	}
	text, ok := outputters.DumpJSON(ret, outputters.JSONOptions{Indent: -1})
	if !ok {
		return returners.Refuse("syslog: a key of the return has no form in JSON")
	}
	if words["LOG_PERROR"] {
		fmt.Fprintln(os.Stderr, text)
	}
	return send(c, socket, head+text)
}

// headOf is what stands before the text: priority, time, tag and, with LOG_PID, the process. It also gives the
// words of the option options. An unknown level, facility or word, or a tag that is too long, is an error; Salt logs
// it.
func headOf(opt options.Values, now time.Time) (string, map[string]bool, error) {
	level, ok := levels[opt.Text("level")]
	facility, known := facilities[opt.Text("facility")]
	if !ok || !known {
		return "", nil, fmt.Errorf("syslog: level %s or facility %s is none", opt.Text("level"), opt.Text("facility"))
	}
	list, ok := opt["options"].([]any)
	if !ok {
		return "", nil, errors.New("syslog: options is no list")
	}
	words := map[string]bool{}
	for _, v := range list {
		if !optionWords[python.Str(v)] {
			return "", nil, fmt.Errorf("syslog: there is no option %s", python.Str(v))
		}
		words[python.Str(v)] = true
	}
	tag := filepath.Base(os.Args[0])
	if v, ok := opt["tag"]; ok {
		if tag, ok = v.(string); !ok {
			return "", nil, errors.New("syslog: tag must be a string")
		}
	}
	if utf8.RuneCountInString(tag) > mostTag || strings.ContainsAny(tag, "\n\x00") {
		return "", nil, fmt.Errorf("syslog: a tag has one line of at most %d characters", mostTag)
	}
	if words["LOG_PID"] {
		tag += "[" + strconv.Itoa(os.Getpid()) + "]"
	}
	return fmt.Sprintf("<%d>%s %s: ", facility|level, now.Format(time.Stamp), tag), words, nil
}

// send sends one message to the socket, which is one of datagrams or, with some loggers, a stream.
func send(c *loader.Call, socket, message string) (err error) {
	var d net.Dialer
	conn, err := d.DialContext(c.Ctx, "unixgram", socket)
	if err != nil {
		if conn, err = d.DialContext(c.Ctx, "unix", socket); err != nil {
			return fmt.Errorf("syslog: %w", err)
		}
		message += "\x00"
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if deadline, ok := c.Ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return fmt.Errorf("syslog: %w", err)
		}
	}
	if _, err := conn.Write([]byte(message)); err != nil {
		if strings.Contains(err.Error(), "message too long") {
			return &returners.Unusable{Err: fmt.Errorf("syslog: %w", err)}
		}
		return fmt.Errorf("syslog: %w", err)
	}
	return nil
}
