package cron

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

func setters() []loader.Func {
	return []loader.Func{
		loader.Fn("write_cron_file", writeFile, "Install a file as the table of a user.",
			"cron.write_cron_file root /tmp/new_cron"),
		loader.Fn("write_cron_file_verbose", writeFileVerbose, "Install a file as the table of a user, and show what "+
			"crontab said.", "cron.write_cron_file_verbose root /tmp/new_cron"),
		loader.Fn("set_job", setJob, "Let a command run at a time.",
			"cron.set_job root '*' '*' '*' '*' 1 /usr/local/weekly"),
		loader.Fn("set_special", setSpecial, "Let a command run at a special moment.",
			"cron.set_special root @hourly 'echo foobar'"),
		loader.Fn("rm_job", removeJob, "Remove a command that runs at a time.", "cron.rm_job root /usr/local/weekly"),
		loader.Fn("rm", removeJob, "Remove a command that runs at a time.", "cron.rm root /usr/local/weekly"),
		loader.Fn("rm_special", removeSpecial, "Remove a command that runs at a special moment.",
			"cron.rm_special root /usr/bin/foo"),
		loader.Fn("set_env", setEnv, "Set a variable for the commands of a user.", "cron.set_env root MAILTO user@example.com"),
		loader.Fn("rm_env", removeEnv, "Remove a variable from the table of a user.", "cron.rm_env root MAILTO"),
	}
}

type fromFile struct {
	User string `arg:"user"`
	Path string `arg:"path"`
}

func writeFile(c *loader.Call, a fromFile) (bool, error) {
	out, err := crontab(c, a.User, nil, a.Path)
	return err == nil && out.Code == 0, err
}

func writeFileVerbose(c *loader.Call, a fromFile) (*payload.Map, error) {
	out, err := crontab(c, a.User, nil, a.Path)
	return payload.M("pid", int64(0), "retcode", out.Code, "stdout", out.Stdout, "stderr", out.Stderr), err
}

type newJob struct {
	User       string `arg:"user"`
	Minute     any    `arg:"minute"`
	Hour       any    `arg:"hour"`
	DayMonth   any    `arg:"daymonth"`
	Month      any    `arg:"month"`
	DayWeek    any    `arg:"dayweek"`
	Cmd        string `arg:"cmd"`
	Commented  any    `arg:"commented=False"`
	Comment    any    `arg:"comment=None"`
	Identifier any    `arg:"identifier=None"`
}

type newSpecial struct {
	User       string `arg:"user"`
	Special    string `arg:"special"`
	Cmd        string `arg:"cmd"`
	Commented  any    `arg:"commented=False"`
	Comment    any    `arg:"comment=None"`
	Identifier any    `arg:"identifier=None"`
}

func setJob(c *loader.Call, a newJob) (string, error) {
	when := []string{}
	for _, v := range []any{a.Minute, a.Hour, a.DayMonth, a.Month, a.DayWeek} {
		when = append(when, strings.ToLower(python.Str(v)))
	}
	return set(c, a.User, wish{when: when, cmd: a.Cmd, commented: a.Commented, comment: a.Comment,
		identifier: a.Identifier})
}

func setSpecial(c *loader.Call, a newSpecial) (string, error) {
	return set(c, a.User, wish{special: a.Special, cmd: a.Cmd, commented: a.Commented, comment: a.Comment,
		identifier: a.Identifier})
}

// set puts a line into a table, in the place of one that it matches. Unlike Salt: the table is written once, so that the
// command is in it all the time.
func set(c *loader.Call, user string, w wish) (string, error) {
	if err := oneLine(append([]string{w.cmd, w.special, loader.Text(w.identifier)}, w.when...)...); err != nil {
		return "", err
	}
	t, err := load(c, user)
	if err != nil {
		return "", err
	}
	answer := "new"
	if old := t.match(w); old != nil {
		if !w.differs(old) {
			return "present", nil
		}
		t.remove(old)
		w.keep(old)
		answer = "updated"
	}
	if err := t.add(w); err != nil {
		return "", err
	}
	return t.save(c, user, answer)
}

// oneLine refuses ends of lines: what stands behind one would be a line of its own. Unlike Salt, which writes it.
func oneLine(texts ...string) error {
	for _, text := range texts {
		if strings.ContainsAny(text, "\n\r\x00") {
			return loader.ExecErr("A line of a crontab cannot contain the end of a line: %s", python.Repr(text))
		}
	}
	return nil
}

// save writes the table. The answer is what crontab complains of, or the one that is given.
func (t *table) save(c *loader.Call, user, answer string) (string, error) {
	out, err := write(c, user, t.text())
	if err == nil && out.Code != 0 {
		answer = out.Stderr
	}
	return answer, err
}

func (t *table) remove(old *job) {
	is := func(j *job) bool { return j == old }
	t.crons, t.special = slices.DeleteFunc(t.crons, is), slices.DeleteFunc(t.special, is)
}

func (t *table) add(w wish) error {
	j := &job{special: w.special, cmd: w.cmd, identifier: w.identifier, comment: w.comment, commented: w.commented == true}
	if w.when == nil {
		t.special = append(t.special, j)
		return nil
	}
	var err error
	j.when, err = drawn(w.when)
	t.crons = append(t.crons, j)
	return err
}

// drawn are the fields of a time with numbers in the place of "random" and "5:10".
func drawn(when []string) ([]string, error) {
	out := slices.Clone(when)
	for i, between := range [][2]int{{0, 59}, {0, 23}, {}, {1, 12}, {0, 6}} {
		from, to, isRange := strings.Cut(when[i], ":")
		switch {
		case i == 2:
		case when[i] == "random":
			out[i] = strconv.Itoa(between[0] + rand.IntN(between[1]-between[0]+1))
		case isRange && !strings.Contains(to, ":"):
			low, err := loader.ToInt(from)
			if err != nil {
				return nil, err
			}
			high, err := loader.ToInt(to)
			if err != nil {
				return nil, err
			}
			low, high = min(low, high), max(low, high)
			out[i] = strconv.FormatInt(low+rand.Int64N(high-low+1), 10)
		}
	}
	if when[2] == "random" {
		last := 28
		switch out[3] {
		case "1", "3", "5", "7", "8", "10", "12":
			last = 31
		case "4", "6", "9", "11":
			last = 30
		}
		out[2] = strconv.Itoa(1 + rand.IntN(last))
	}
	return out, nil
}

type oldJob struct {
	User       string `arg:"user"`
	Cmd        string `arg:"cmd"`
	Minute     any    `arg:"minute=None"`
	Hour       any    `arg:"hour=None"`
	DayMonth   any    `arg:"daymonth=None"`
	Month      any    `arg:"month=None"`
	DayWeek    any    `arg:"dayweek=None"`
	Identifier any    `arg:"identifier=None"`
}

func removeJob(c *loader.Call, a oldJob) (string, error) {
	return remove(c, a.User, func(t *table) *job {
		return find(t.crons, a.Cmd, a.Identifier, func(j *job) bool {
			for i, v := range []any{a.Minute, a.Hour, a.DayMonth, a.Month, a.DayWeek} {
				text := python.Str(v)
				if v != nil && j.when[i] != text && (strings.ToLower(text) != "random" || j.when[i] == "*") {
					return false
				}
			}
			return true
		})
	})
}

type oldSpecial struct {
	User       string `arg:"user"`
	Cmd        string `arg:"cmd"`
	Special    any    `arg:"special=None"`
	Identifier any    `arg:"identifier=None"`
}

func removeSpecial(c *loader.Call, a oldSpecial) (string, error) {
	return remove(c, a.User, func(t *table) *job {
		return find(t.special, a.Cmd, a.Identifier, func(j *job) bool {
			return a.Special == nil || a.Special == any(j.special)
		})
	})
}

// remove takes a line out of a table. A table without it is not written, unlike in Salt's rm_special.
func remove(c *loader.Call, user string, which func(*table) *job) (string, error) {
	t, err := load(c, user)
	if err != nil {
		return "", err
	}
	old := which(t)
	if old == nil {
		return "absent", nil
	}
	t.remove(old)
	return t.save(c, user, "removed")
}

type newEnv struct {
	User  string `arg:"user"`
	Name  string `arg:"name"`
	Value any    `arg:"value=None"`
}

func setEnv(c *loader.Call, a newEnv) (string, error) {
	if err := oneLine(a.Name, loader.Text(a.Value)); err != nil {
		return "", err
	}
	t, err := load(c, a.User)
	if err != nil {
		return "", err
	}
	answer := "new"
	if i := t.variable(a.Name, false); i >= 0 {
		if payload.Equal(t.env[i].value, a.Value) {
			return "present", nil
		}
		last := t.variable(a.Name, true)
		t.env = slices.Delete(t.env, last, last+1)
		answer = "updated"
	}
	t.env = append(t.env, variable{a.Name, a.Value})
	return t.save(c, a.User, answer)
}

// variable is the place of the first variable of a name, or of the last one; -1: there is none.
func (t *table) variable(name string, last bool) int {
	at := -1
	for i, v := range t.env {
		if v.name == name && (at < 0 || last) {
			at = i
		}
	}
	return at
}

type oldEnv struct {
	User string `arg:"user"`
	Name string `arg:"name"`
}

func removeEnv(c *loader.Call, a oldEnv) (string, error) {
	t, err := load(c, a.User)
	if err != nil {
		return "", err
	}
	last := t.variable(a.Name, true)
	if last < 0 {
		return "absent", nil
	}
	t.env = slices.Delete(t.env, last, last+1)
	return t.save(c, a.User, "removed")
}
