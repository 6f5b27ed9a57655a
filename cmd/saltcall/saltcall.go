// Package saltcall is the tool salt-call: it runs functions of the minion on this host. It answers to salt/cli/call.py
// and salt/cli/caller.py.
package saltcall

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"brine/cmd/daemon"
	"brine/cmd/display"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/modules/loader"
	"brine/wire/payload"
)

// callTool is one run of salt-call.
type callTool struct {
	*session.Session
	env  *loader.Env
	link *callLink // connection to the master; nil without a master
}

// Run is the tool salt-call: it runs an execution function of this host's minion, in this process.
func Run(c *tool.Call) error {
	s, err := session.Open(c, callParser(c), session.Opening{Role: session.RoleCaller, Check: checkCallWords,
		Adjust: adjustCall})
	if err != nil {
		return err
	}
	t := &callTool{Session: s}
	s.TellCall()
	s.Minion.Raw.Set("caller", true)
	t.warnIgnoredRoots()
	if err := daemon.VerifyEnv(s, s.Minion.VerifyEnv, t.folders()); err != nil {
		return err
	}
	if ok, err := s.BecomeUser(s.Minion.User); err != nil {
		return err
	} else if !ok {
		return tool.Exit(tool.ExitNoUser, "")
	}
	t.build()
	switch {
	case s.Opt.Bool("doc"):
		return t.printDocs()
	case s.Opt.Bool("grains_run"):
		return display.Show(t.Session, payload.M("local", t.env.Grains()), display.How{})
	}
	ctx := context.Background()
	if err := t.connect(ctx); err != nil {
		return err
	}
	return t.run(ctx, s.Opt.Args[0], s.Opt.Args[1:])
}

// checkCallWords refuses command lines that Salt refuses before it touches a file.
func checkCallWords(s *session.Session) error {
	words := len(s.Opt.Args)
	switch grains, doc := s.Opt.Bool("grains_run"), s.Opt.Bool("doc"); {
	case words == 0 && !grains && !doc:
		fmt.Fprint(s.Stdout, s.Parser.HelpText())
		return s.Parser.Errorf("Requires function, --grains or --doc")
	case words > 0 && grains:
		return s.Parser.Errorf("-g/--grains does not accept any arguments")
	case words > 1 && doc:
		return s.Parser.Errorf("You can only get documentation for one method at one time")
	}
	return nil
}

// folders returns the directories that salt-call makes at its start.
func (t *callTool) folders() config.Environment {
	m := t.Minion
	return config.Environment{User: m.User, Dirs: []string{m.PKIDir, m.CacheDir, m.ExtensionModules},
		PKIDirs:    []string{m.PKIDir},
		Permissive: m.PermissivePKIAccess}
}

// warnIgnoredRoots names the options that have no effect while files come from a master.
func (t *callTool) warnIgnoredRoots() {
	if t.Opt.Bool("local") {
		return
	}
	var names []string
	for _, dest := range []string{"file_root", "pillar_root", "states_dir"} {
		if t.Opt.Given(dest) {
			names = append(names, "--"+strings.ReplaceAll(dest, "_", "-"))
		}
	}
	if len(names) == 0 {
		return
	}
	verb := "are"
	if len(names) == 1 {
		verb = "is"
	}
	fmt.Fprintf(t.Stderr, "Warning: %s %s ignored because --local was not specified; the remote file client "+
		"retrieves these from the master. "+
		"Re-run with --local to use the local override.\n", strings.Join(names, ", "), verb)
}

// printDocs shows the help of every function whose name begins with the word.
func (t *callTool) printDocs() error {
	begin := ""
	if len(t.Opt.Args) > 0 {
		begin = t.Opt.Args[0]
	}
	for name, doc := range t.env.Registry.Docs().All() {
		if strings.HasPrefix(name.(string), begin) {
			fmt.Fprintf(t.Stdout, "%s:\n%s\n\n", name, doc)
		}
	}
	return nil
}

// local tells whether salt-call sends no return to a master.
func (t *callTool) local() bool {
	return t.Opt.Bool("local") || t.Minion.FileClient == "local" || t.Minion.MasterType == "disable"
}

// roots returns the directories that an option names, as absolute paths and with patterns expanded.
func roots(patterns []string) []any {
	var dirs []any
	for _, p := range patterns {
		abs, err := filepath.Abs(p)
		if err != nil {
			abs = p
		}
		found, err := filepath.Glob(abs)
		if err != nil || len(found) == 0 {
			found = []string{abs}
		}
		for _, d := range found {
			dirs = append(dirs, d)
		}
	}
	return dirs
}
