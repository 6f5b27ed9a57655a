package session

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// known are the places that log without a rate limit, with the reason why strangers cannot trigger them.
// Everything else that a daemon logs is limited by a wall.
var known = map[string]string{
	"actors/master/machine/machine.go":      "functions that the configuration or a user with rules has called",
	"actors/master/publish/publications.go": "jobs that were allowed",
	"actors/master/workers/returns.go":      "returns of minions, which have a session and quotas",
	"actors/master/run/runners.go":          "runs that were allowed",
	"actors/minion/jobs/dispatcher.go":      "jobs of the master",
	"actors/minion/host.go":                 "functions that a job of the master has called",
	"actors/minion/jobs/job.go":             "jobs of the master",
}

// loggers are the places that make a logger from a real handler.
var loggers = map[string]string{
	"cmd/session/logging.go":     "puts the wall up",
	"modules/fleet/door/wall.go": "keeps the wall, and the bound of the length",
	"supervisor/system.go":       "puts a handler before that of the daemon",
}

// TestWalls: every logger in a daemon is behind a wall (modules/fleet/door), in code for strangers and for
// authenticated users. No code makes its own logger, uses the logger of the standard library, or makes an HTTP
// server that uses it by default.
func TestWalls(t *testing.T) {
	unused := map[string]bool{}
	for file := range known {
		unused[file] = true
	}
	for file := range loggers {
		unused[file] = true
	}
	serves, files := 0, 0
	look := func(file string, one *ast.File) {
		files++
		ast.Inspect(one, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.ImportSpec:
				if x.Path.Value == `"log"` {
					t.Errorf("%s imports log, whose lines have no bounds", file)
				}
			case *ast.CompositeLit:
				if named(x.Type, "http", "Server") && !sets(x, "ErrorLog") {
					t.Errorf("%s: an http.Server logs with no bounds: set ErrorLog", file)
				}
			case *ast.CallExpr:
				switch {
				case named(x.Fun, "daemon", "Serve"):
					serves++
					if !opensWalled(one) {
						t.Errorf("%s: the session of a daemon is not opened as one (Opening.Daemon)", file)
					}
				case named(x.Fun, "slog", "New") && !named(x.Args[0], "slog", "DiscardHandler"):
					if delete(unused, file); loggers[file] == "" {
						t.Errorf("%s makes a logger of its own", file)
					}
				case named(x.Fun, "door", "Known"):
					if delete(unused, file); known[file] == "" {
						t.Errorf("%s logs without a rate: say in this test why no stranger can make it do so", file)
					}
				}
			case *ast.SelectorExpr:
				if slices.ContainsFunc([]string{"Default", "SetDefault", "Debug", "Info", "Warn", "Error", "Log",
					"LogAttrs"}, func(f string) bool {
					return named(x, "slog", f)
				}) {
					t.Errorf("%s uses the default logger, which has no bounds", file)
				}
			}
			return true
		})
	}
	walk(t, look)
	if serves < 3 || files < 500 {
		t.Errorf("%d daemons in %d files were seen", serves, files)
	}
	for file := range unused {
		t.Errorf("%s is listed here and does nothing of the kind", file)
	}
}

// walk parses every non-test file of the packages in a daemon.
func walk(t *testing.T, look func(file string, one *ast.File)) {
	const root = "../.."
	for _, dir := range []string{"actors", "cmd", "config", "modules", "supervisor", "wire"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if d.IsDir() && d.Name() == "actortest" { // helpers for tests
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			one, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err == nil {
				file, _ := filepath.Rel(root, path)
				look(filepath.ToSlash(file), one)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// named tells whether an expression is the given name of the given package.
func named(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

// sets tells whether a struct literal sets a field.
func sets(lit *ast.CompositeLit, field string) bool {
	return slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		id, ok := kv.Key.(*ast.Ident)
		return ok && id.Name == field
	})
}

// opensWalled tells whether a file opens a session with Daemon set.
func opensWalled(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok && named(lit.Type, "session", "Opening") && sets(lit, "Daemon") {
			found = true
		}
		return !found
	})
	return found
}
