package file

import (
	"context"
	"io/fs"
	"os"

	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/wire/python"
)

// maxDepth is how deeply directories are looked into; Python ends near it too.
const maxDepth = 1000

// walk is os.walk from above to below: each directory with the directories and the other names in it, those behind
// links not looked into. What cannot be read is left out. into ends it with an error, or the branch with fs.SkipDir.
func walk(ctx context.Context, dir string, depth int, into func(dir string, dirs, files []string,
	depth int) error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if depth > maxDepth {
		return loader.Raise("RecursionError", "directories lie in each other too deeply")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var dirs, files, below []string
	for _, e := range entries {
		link := e.Type()&fs.ModeSymlink != 0
		isDir := e.IsDir()
		if link {
			info, err := os.Stat(pypath.Join(dir, e.Name()))
			isDir = err == nil && info.IsDir()
		}
		switch {
		case !isDir:
			files = append(files, e.Name())
			continue
		case !link:
			below = append(below, e.Name())
		}
		dirs = append(dirs, e.Name())
	}
	if err := into(dir, dirs, files, depth); err != nil {
		if err == fs.SkipDir {
			return nil
		}
		return err
	}
	for _, name := range below {
		if err := walk(ctx, pypath.Join(dir, name), depth+1, into); err != nil {
			return err
		}
	}
	return nil
}

// whole is a number as Python compares it with a whole one.
func whole(v any) (int64, bool) {
	switch x := v.(type) {
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case int64:
		return x, true
	case float64:
		return int64(x), x == float64(int64(x))
	}
	return 0, false
}

func notHashable(v any) error {
	return &loader.ArgumentError{Message: "unhashable type: '" + python.Type(v) + "'"}
}

// Walk goes through a directory from above to below, as walk does; depth counts from 0.
func Walk(ctx context.Context, dir string, into func(dir string, dirs, files []string, depth int) error) error {
	return walk(ctx, dir, 0, into)
}
