package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"brine/cmd/optparse"
	"brine/modules/outputters"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// controlSocket is the name of a daemon's control socket in its sock_dir.
const controlSocket = "brine.ipc"

// askTimeout bounds a question to a daemon.
const askTimeout = 5 * time.Second

// adminTool asks a running daemon on its control socket.
type adminTool struct {
	*session
	path string
}

// openAdmin reads the command line of an admin word: words says what it takes, extra declares more options.
func (c *call) openAdmin(words, description string, extra ...optparse.Option) (*adminTool, error) {
	p := c.parser("%prog [options]"+words, description)
	addConfigDir(p)
	addLogging(p, true, "log_file", "/var/log/salt/master")
	p.Add(
		optparse.Option{Flags: []string{"--minion"}, Kind: optparse.Flag, Dest: "of_minion",
			Help: "Ask the minion of this configuration directory instead of the master."},
		optparse.Option{Flags: []string{"--json"}, Kind: optparse.Flag, Help: "Print the answer as JSON."},
	)
	p.Add(extra...)
	v, err := p.Parse(c.args)
	if err != nil {
		return nil, err
	}
	o := opening{role: roleMaster}
	if v.Bool("of_minion") {
		o.role = roleMinion
	}
	s, err := c.open(p, o)
	if err != nil {
		return nil, err
	}
	return &adminTool{session: s, path: filepath.Join(s.common.SockDir, controlSocket)}, nil
}

// ask sends one command and returns its result.
func (a *adminTool) ask(request *payload.Map) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	reply, err := ipc.NewControlClient(a.path).Do(ctx, request)
	var remote *ipc.RemoteError
	switch {
	case errors.As(err, &remote):
		return nil, exit(exitGeneric, "brine: %s", strings.TrimPrefix(remote.Text, "admin: "))
	case err != nil:
		return nil, exit(exitUnavailable, "brine: no daemon answers on %s: %v", a.path, err)
	}
	return reply.Value("result"), nil
}

// asJSON prints a result as one JSON document.
func (a *adminTool) asJSON(v any) error {
	text, err := outputters.Format("json", v, outputters.FromOpts(a.common.Raw))
	if err == nil && !json.Valid([]byte(text)) {
		err = errors.New("the answer has no JSON form")
	}
	if err != nil {
		return err
	}
	return a.emit(text + "\n")
}

// adminTree shows every actor of a daemon, or one with what is below it.
func adminTree(c *call) error {
	a, err := c.openAdmin(" [ACTOR]", "Show the actors of a running daemon.")
	if err != nil {
		return err
	}
	request := payload.M("cmd", "tree")
	if len(a.opt.Args) > 0 {
		request.Set("name", a.opt.Args[0])
	}
	v, err := a.ask(request)
	if err != nil {
		return err
	}
	if a.opt.Bool("json") {
		return a.asJSON(v)
	}
	root, _ := v.(*payload.Map)
	return a.emit(treeText(root, time.Now()))
}

// treeText is a tree as a table, children indented below their supervisors.
func treeText(root *payload.Map, now time.Time) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ACTOR\tSTATE\tAGE\tRESTARTS\tMAILBOX\tMESSAGES\tFAILED\tBUSY\tLAST DEATH")
	treeRows(w, root, "", "", now)
	_ = w.Flush() // into memory
	return b.String()
}

func treeRows(w *tabwriter.Writer, m *payload.Map, own, below string, now time.Time) {
	n := func(k string) int64 { v, _ := m.Int(k); return v }
	busy, _ := m.Value("busy").(float64)
	fmt.Fprintf(w, "%s%s\t%s\t%s\t%d\t%d\t%d\t%d\t%.0f%%\t%s\n", own, m.Str("name"), m.Str("state"), age(m.Str("since"), now),
		n("restarts"), n("mailbox"), n("received"), n("failed"), busy*100, deathText(m.Map("last_death"), now))
	children := m.List("children")
	for i, c := range children {
		child, _ := c.(*payload.Map)
		branch, rest := "├─ ", "│  "
		if i == len(children)-1 {
			branch, rest = "└─ ", "   "
		}
		treeRows(w, child, below+branch, below+rest, now)
	}
}

// stampForm is how the admin actor writes times.
const stampForm = "2006-01-02T15:04:05.999999"

func age(since string, now time.Time) string {
	t, err := time.Parse(stampForm, strings.TrimSuffix(strings.TrimSuffix(since, "Z"), "+00:00"))
	if err != nil {
		return "-"
	}
	d := now.Sub(t)
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", max(0, d.Seconds()))
	}
	return d.Round(time.Second).String()
}

func deathText(m *payload.Map, now time.Time) string {
	if m.Len() == 0 {
		return ""
	}
	text := age(m.Str("time"), now) + " ago: " + m.Str("reason")
	if msg := m.Str("message"); msg != "" {
		text += " (on " + msg + ")"
	}
	return text
}

// adminHistory shows the last deaths of a daemon's actors.
func adminHistory(c *call) error {
	a, err := c.openAdmin(" [ACTOR]", "Show the last deaths of a running daemon's actors, oldest first.")
	if err != nil {
		return err
	}
	v, err := a.ask(payload.M("cmd", "history"))
	if err != nil {
		return err
	}
	list, _ := v.([]any)
	if len(a.opt.Args) > 0 {
		list = ofActor(list, a.opt.Args[0])
	}
	if a.opt.Bool("json") {
		return a.asJSON(list)
	}
	var b strings.Builder
	for _, d := range list {
		m, _ := d.(*payload.Map)
		fmt.Fprintf(&b, "%s  %s  %s\n", m.Str("time"), m.Str("path"), deathText(m, time.Now()))
	}
	return a.emit(b.String())
}

func ofActor(deaths []any, name string) []any {
	out := []any{}
	for _, d := range deaths {
		if m, ok := d.(*payload.Map); ok && (m.Str("name") == name || strings.HasSuffix(m.Str("path"), "/"+name) || m.Str("path") == name) {
			out = append(out, d)
		}
	}
	return out
}

// adminRestart ends an actor and starts it again.
func adminRestart(c *call) error {
	a, err := c.openAdmin(" ACTOR", "End an actor of a running daemon and start it again.")
	if err != nil {
		return err
	}
	if len(a.opt.Args) != 1 {
		return a.parser.Errorf("Requires one actor, see brine tree")
	}
	_, err = a.ask(payload.M("cmd", "restart", "name", a.opt.Args[0]))
	return err
}

// adminCrash harms an actor on purpose, where the configuration says chaos: True.
func adminCrash(c *call) error {
	a, err := c.openAdmin(" ACTOR", "Harm an actor of a running daemon on purpose (chaos: True).",
		optparse.Option{Flags: []string{"--how"}, Kind: optparse.Choice, Choices: []string{"panic", "exit", "hang"}, Default: "panic",
			Help: "panic, exit or hang. Default: %default."})
	if err != nil {
		return err
	}
	if len(a.opt.Args) != 1 {
		return a.parser.Errorf("Requires one actor, see brine tree")
	}
	_, err = a.ask(payload.M("cmd", "crash", "name", a.opt.Args[0], "how", a.opt.Str("how")))
	return err
}
