package cmdmod

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"time"

	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// wanted is the program that is looked for.
type wanted struct {
	Cmd string `arg:"cmd"`
}

func whichFunc(c *loader.Call, a wanted) (any, error) {
	if a.Cmd == "" {
		c.Log(slog.LevelError, "No executable was passed to be searched by salt.utils.path.which()")
	}
	return textOrNil(which(c, a.Cmd)), nil
}

// which finds a program on the PATH of the job.
func which(c *loader.Call, name string) string {
	path, _ := environ.Of(c.Ctx).Get("PATH")
	return program.WhichOn(path, name)
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

type wantedOfSome struct {
	Cmds any `arg:"cmds"`
}

func whichBin(c *loader.Call, a wantedOfSome) (any, error) {
	var names []any
	switch x := a.Cmds.(type) {
	case string:
		names = []any{x}
	case []any:
		names = x
	}
	for _, n := range names {
		if path := which(c, python.Str(n)); path != "" {
			return path, nil
		}
	}
	return nil, nil
}

func hasExec(c *loader.Call, a wanted) (bool, error) {
	return which(c, a.Cmd) != "", nil
}

const shellsFile = "/etc/shells"

// shellLines are the lines of /etc/shells that are no comment; ok is false where there is no such file.
func shellLines() (lines []string, ok bool) {
	b, err := os.ReadFile(shellsFile)
	if err != nil {
		return nil, false
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\r\n"); !strings.HasPrefix(strings.TrimSpace(line), "#") {
			lines = append(lines, line)
		}
	}
	return lines, true
}

// validShell tells whether a shell is a login shell here; true where nobody knows.
func validShell(shell string) bool {
	lines, ok := shellLines()
	for _, l := range lines {
		if l == shell {
			return true
		}
	}
	return !ok
}

func shells(*loader.Call, struct{}) ([]any, error) {
	lines, _ := shellLines()
	out := []any{}
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, l)
		}
	}
	return out, nil
}

type terminalText struct {
	Device string `arg:"device"`
	Text   string `arg:"echo=''"`
}

// tty writes to a terminal. Unlike Salt: a device that is not there is not created as a file.
func tty(_ *loader.Call, a terminalText) (*payload.Map, error) {
	device := a.Device
	path := ""
	switch {
	case strings.HasPrefix(device, "tty"):
		path = "/dev/" + device
	case strings.HasPrefix(device, "pts"):
		path = "/dev/" + strings.ReplaceAll(device, "pts", "pts/")
	default:
		return payload.M("Error", "The specified device is not a valid TTY"), nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(a.Text)
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		return payload.M("Error", "Echoing to "+path+" returned error"), nil
	}
	return payload.M("Success", "Message was successfully echoed to "+path), nil
}

// shellProbe is how a shell or language is asked for its version.
type shellProbe struct {
	pattern string
	argv    []string
}

func shellProbes() map[string]shellProbe {
	return map[string]shellProbe{
		"bash":   {`version (\d\S*)`, []string{"bash", "--version"}},
		"zsh":    {`^zsh (\d\S*)`, []string{"zsh", "--version"}},
		"tcsh":   {`^tcsh (\d\S*)`, []string{"tcsh", "--version"}},
		"perl":   {`^(\d\S*)`, []string{"perl", "-e", `printf "%vd\n", $^V;`}},
		"python": {`^Python (\d\S*)`, []string{"python", "-V"}},
		"ruby":   {`^ruby (\d\S*)`, []string{"ruby", "-v"}},
		"php":    {`^PHP (\d\S*)`, []string{"php", "-v"}},
	}
}

const shellProbeTimeout = 10 * time.Second

var versionNumber = pattern.New(`^\d[\d.]*`)

type askedShell struct {
	Shell string `arg:"shell"`
	List  any    `arg:"list_modules=False"`
}

// shellInfo asks a shell for its version. Unlike Salt 3008.3, whose function fails on the bytes it reads, it
// returns what its documentation says.
func shellInfo(c *loader.Call, a askedShell) (*payload.Map, error) {
	name := a.Shell
	probe, ok := shellProbes()[name]
	if !ok {
		return payload.M("error", "Salt does not know how to get the version number for "+name, "installed", nil), nil
	}
	line := strings.Join(probe.argv, " ")
	path := which(c, probe.argv[0])
	if path == "" {
		why := fmt.Sprintf("Unable to run command '%s' Reason: [Errno 2] No such file or directory: '%s'", line,
			probe.argv[0])
		return payload.M("error", why, "installed", false), nil
	}
	argv := append([]string{path}, probe.argv[1:]...)
	out, err := program.Run(c.Ctx, program.Spec{Argv: argv, Merge: true, Timeout: shellProbeTimeout})
	if out.TimedOut || err != nil && out.PID != 0 {
		return payload.M("error", "Unable to run command '"+line+"' Reason: Timed out.", "installed", false), nil
	}
	return shellVersion(name, path, probe.pattern, string(out.Stdout)), nil
}

func shellVersion(name, path, pattern, text string) *payload.Map {
	m := regexp.MustCompile("(?i)" + pattern).FindStringSubmatch(text)
	if m == nil {
		why := "The version regex pattern for shell " + name + ", could not find the version string"
		return payload.M("installed", nil, "path", path, "error", why, "stdout", text)
	}
	parts := strings.Split(strings.TrimRight(versionNumber.FindString(m[1]), "."), ".")
	if len(parts) == 1 {
		parts = append(parts, "0")
	}
	return payload.M("installed", true, "path", path, "version_raw", m[1],
		"version", strings.Join(parts[:min(3, len(parts))], "."))
}
