package systemd_service

import (
	"log/slog"
	"strconv"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// host is what one call of a function knows of the machine. What the reference keeps in __context__ is kept here, since
// that is empty at the beginning of each of its jobs.
type host struct {
	c    *loader.Call
	root string // the directory that is "/"

	release release
	level   string // the runlevel; "": not known yet
}

// release is the version of systemd. It is asked for once.
type release struct {
	asked, known bool
	number       int
}

func newHost(o Options, c *loader.Call) *host { return &host{c: c, root: o.Root} }

// at is a path of the host, or of another root directory where one is given.
func (h *host) at(path string, root any) string {
	if !python.Truth(root) {
		root = h.root
	}
	if text := loader.Text(root); text != "" {
		return pypath.Join(text, strings.TrimPrefix(path, "/"))
	}
	return path
}

// which is the path of a program; "" where there is none.
func (h *host) which(name string) string {
	path, _ := environ.Of(h.c.Ctx).Get("PATH")
	return program.WhichOn(path, name)
}

// unitTypes are the ends of a name that is not taken for that of a service.
var unitTypes = strings.Fields("service socket device mount automount swap target path timer")

// unit is the name of a unit in full. The reference does not look at the dot: "myservice" stays as it is.
func unit(name string) string {
	for _, kind := range unitTypes {
		if strings.HasSuffix(name, kind) {
			return name
		}
	}
	return name + ".service"
}

// The ways in which functions run systemctl.
var (
	quiet   = payload.M("ignore_retcode", true)                          // its failure is an answer
	merged  = payload.M("ignore_retcode", true, "redirect_stderr", true) // and its complaints are, too
	careful = payload.M("redirect_stderr", true)                         // its failure is logged
)

// command is a command line of systemctl; root is another root directory or nothing.
func (h *host) command(root any, words ...string) []string {
	path := h.which("systemctl")
	if path == "" {
		path = "systemctl" // starting it says what is wrong
	}
	argv := []string{path}
	if python.Truth(root) {
		argv = append(argv, "--root", loader.Text(root))
	}
	return append(argv, words...)
}

// about runs systemctl with a unit. Unlike Salt: a name that systemctl would take for an option is refused, since one
// like --host=... would have the minion sign in at another machine.
func (h *host) about(how *payload.Map, root any, verb, name string, more ...string) (cmdmod.Output, error) {
	if err := cmdmod.Operand(name); err != nil {
		return cmdmod.Output{}, err
	}
	return h.ask(how, root, append([]string{verb, unit(name)}, more...)...)
}

// ask runs systemctl. No word is a caller's: see about.
func (h *host) ask(how *payload.Map, root any, words ...string) (cmdmod.Output, error) {
	return cmdmod.RunAll(h.c, h.command(root, words...), how)
}

// read runs systemctl as cmd.run does. No word is a caller's.
func (h *host) read(how *payload.Map, root any, words ...string) (string, error) {
	return cmdmod.Run(h.c, h.command(root, words...), how)
}

// state asks systemd for the state of a unit.
func (h *host) state(name string) (cmdmod.Output, error) {
	return h.about(merged, nil, "status", name, "-n", "0")
}

var releaseNumber = pattern.New(`\w+ ([0-9]+)`)

// version is that of systemd; known is false where systemctl does not tell.
func (h *host) version() (number int, known bool, err error) {
	if r := h.release; r.asked {
		return r.number, r.known, nil
	}
	out, err := program.Run(h.c.Ctx, program.Spec{Argv: []string{"systemctl", "--version"}, Merge: true})
	if err != nil {
		return 0, false, err
	}
	line, _, _ := strings.Cut(string(out.Stdout), "\n")
	r := release{asked: true}
	if m := releaseNumber.FindStringSubmatch(line); m != nil {
		r.number, err = strconv.Atoi(m[1])
		r.known = err == nil
	}
	if !r.known {
		h.c.Log(slog.LevelError, "systemctl --version tells no version: "+string(out.Stdout))
	}
	h.release = r
	return r.number, r.known, nil
}

// lines are those of an output, without an empty one at its end.
func lines(text string) []string {
	all := strings.Split(text, "\n")
	if n := len(all) - 1; all[n] == "" {
		all = all[:n]
	}
	return all
}
