package supervisor_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestEverythingIsSupervised reads the actors' source: everything that runs there is started by a supervisor (Add,
// AddTree), or by an actor and dies with it (Nest, Go). Any other goroutine could end the process with a panic, and no
// watchdog would see it hang.
func TestEverythingIsSupervised(t *testing.T) {
	const root = "../actors"
	allowed := map[string]bool{
		"metrics/listener.go":   true, // the http server of a goroutine of Go, which waits for it
		"netapi/listener.go":    true, // the same
		"netapi/aside/aside.go": true, // work that a request does concurrently: a panic ends the request
	}
	// Functions that timers or contexts call in a goroutine do next to nothing there.
	calledLater := map[string]bool{
		"daemon/clock.go":              true, // sends a message to its actor
		"master/eventbus/publisher.go": true, // the same
		"master/jobs/owed.go":          true, // the same
		"master/pillars/pillar.go":     true, // the same
		"master/returning/after.go":    true, // the same
		"master/workers/login.go":      true, // sends an answer
		"minion/jobs/stop.go":          true, // closes a channel
		"minion/link/requestpool.go":   true, // closes sockets that nobody uses
		"netapi/events/eventhub.go":    true, // sends a message to its actor
	}
	spawns := map[string]bool{"Spawn": true, "SpawnNamed": true, "SpawnPrefix": true}
	files, used := 0, map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(name, "actortest/") {
			return err
		}
		files++
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if !allowed[filepath.ToSlash(name)] {
					t.Errorf("%s: a goroutine that no supervisor knows", fset.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				of, _ := n.X.(*ast.Ident)
				switch at := fset.Position(n.Pos()); {
				case spawns[n.Sel.Name]:
					t.Errorf("%s: an actor that no supervisor starts", at)
				case n.Sel.Name == "Go" && (of == nil || of.Name != "supervisor" && of.Name != "aside"):
					// of a WaitGroup or the like
					t.Errorf("%s: a goroutine that no supervisor knows", at)
				case n.Sel.Name == "AfterFunc" && calledLater[filepath.ToSlash(name)]:
					used[filepath.ToSlash(name)] = true
				case n.Sel.Name == "AfterFunc":
					t.Errorf("%s: a goroutine that no supervisor knows, when the time has come", at)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || files < 20 {
		t.Errorf("%d files read: %v", files, err)
	}
	for name := range calledLater {
		if !used[name] {
			t.Errorf("%s may use AfterFunc and does not, or has gone", name)
		}
	}
}
