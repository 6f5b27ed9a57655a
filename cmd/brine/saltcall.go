package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"brine/config"
	"brine/modules"
	"brine/wire/payload"
)

// callTool is salt-call at work on one command line.
type callTool struct {
	*session
	env  *modules.Env
	link *callLink // to the master; nil without one
}

// saltCall is the tool salt-call: it runs an execution function of this host's minion, in this process.
func saltCall(c *call) error {
	s, err := c.open(callParser(c), opening{role: roleCaller, check: checkCallWords, adjust: adjustCall})
	if err != nil {
		return err
	}
	t := &callTool{session: s}
	t.warnIgnoredRoots()
	if err := s.verifyEnv(s.minion.VerifyEnv, t.folders()); err != nil {
		return err
	}
	if ok, err := s.becomeUser(s.minion.User); err != nil {
		return err
	} else if !ok {
		return exit(exitNoUser, "")
	}
	if err := t.build(); err != nil {
		return err
	}
	switch {
	case s.opt.Bool("doc"):
		return t.printDocs()
	case s.opt.Bool("grains_run"):
		return t.display(payload.M("local", t.env.Grains()), show{})
	}
	ctx := context.Background()
	if err := t.connect(ctx); err != nil {
		return err
	}
	return t.run(ctx, s.opt.Args[0], s.opt.Args[1:])
}

// checkCallWords refuses what Salt refuses before it touches a file.
func checkCallWords(s *session) error {
	words := len(s.opt.Args)
	switch grains, doc := s.opt.Bool("grains_run"), s.opt.Bool("doc"); {
	case words == 0 && !grains && !doc:
		fmt.Fprint(s.stdout, s.parser.HelpText())
		return s.parser.Errorf("Requires function, --grains or --doc")
	case words > 0 && grains:
		return s.parser.Errorf("-g/--grains does not accept any arguments")
	case words > 1 && doc:
		return s.parser.Errorf("You can only get documentation for one method at one time")
	}
	return nil
}

// folders are the directories salt-call makes before it works.
func (t *callTool) folders() config.Environment {
	m := t.minion
	return config.Environment{User: m.User, Dirs: []string{m.PKIDir, m.CacheDir, m.ExtensionModules}, PKIDirs: []string{m.PKIDir},
		Permissive: m.PermissivePKIAccess}
}

// warnIgnoredRoots names the options that mean nothing while files come from a master.
func (t *callTool) warnIgnoredRoots() {
	if t.opt.Bool("local") {
		return
	}
	var names []string
	for _, dest := range []string{"file_root", "pillar_root", "states_dir"} {
		if t.opt.Given(dest) {
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
	fmt.Fprintf(t.stderr, "Warning: %s %s ignored because --local was not specified; the remote file client retrieves these from the master. "+
		"Re-run with --local to use the local override.\n", strings.Join(names, ", "), verb)
}

// printDocs shows the help of every function whose name begins like the word.
func (t *callTool) printDocs() error {
	begin := ""
	if len(t.opt.Args) > 0 {
		begin = t.opt.Args[0]
	}
	for name, doc := range t.env.Registry.Docs().All() {
		if strings.HasPrefix(name.(string), begin) {
			fmt.Fprintf(t.stdout, "%s:\n%s\n\n", name, doc)
		}
	}
	return nil
}

// local says whether salt-call works without a master as far as returns are concerned.
func (t *callTool) local() bool {
	return t.opt.Bool("local") || t.minion.FileClient == "local" || t.minion.MasterType == "disable"
}

// roots are the directories an option names: absolute, patterns resolved.
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
