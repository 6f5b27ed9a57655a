package file

import (
	"slices"
	"strings"

	"brine/modules/execution/file"
	"brine/modules/fileclient"
	"brine/modules/host/pypath"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// unkept are the paths that clean removes.
type unkept struct {
	all []string
	top []string // those that are in no other
}

// uncleaned are the paths in a directory that are neither kept, nor above what is kept, nor excluded.
func uncleaned(c *states.Call, root string, keep []string, exclude any) (u unkept, err error) {
	real, gone := map[string]bool{}, map[string]bool{}
	for _, name := range keep {
		for name = pypath.Abs(name); !real[name]; name = pypath.Dir(name) {
			real[name] = true
		}
	}
	return u, file.Walk(c.Ctx, root, func(dir string, dirs, files []string, _ int) error {
		for _, name := range slices.Concat(files, dirs) {
			full := pypath.Join(dir, name)
			goes, err := fileclient.Chosen(strings.TrimPrefix(full[len(root):], "/"), nil, exclude)
			if err != nil {
				return err
			}
			if goes = goes && !real[full]; goes {
				u.all = append(u.all, full)
				if !gone[dir] {
					u.top = append(u.top, full)
				}
			}
			gone[full] = goes || gone[dir]
		}
		return nil
	})
}

// keptBy are the paths below a directory that states manage which it requires: files, directories with all that is in
// them, and what file.recurse brings.
func keptBy(c *states.Call, root string, require any) (keep []string, err error) {
	if require == nil {
		require = c.Chunk.Value("require")
	}
	list, _ := require.([]any)
	for _, v := range list {
		req, _ := v.(*payload.Map)
		wanted, ok := req.Get("file")
		if !ok {
			continue
		}
		for _, low := range c.Run.Chunks() {
			if !payload.Equal(low.Value("name"), wanted) && !payload.Equal(low.Value("__id__"), wanted) {
				continue
			}
			names, err := keptOf(c, root, low)
			if err != nil {
				return nil, err
			}
			keep = append(keep, names...)
		}
	}
	return keep, nil
}

// keptOf are the paths that one state manages.
func keptOf(c *states.Call, root string, low *payload.Map) (keep []string, err error) {
	name := python.Str(low.Value("name"))
	switch {
	case !strings.HasPrefix(name, "/"):
		return nil, nil
	case !isDir(name):
		return []string{name}, nil
	case !below(name, root):
		return nil, nil
	case low.Value("fun") == "recurse":
		return keptOfRecurse(c, low)
	}
	keep = []string{name}
	err = file.Walk(c.Ctx, name, func(dir string, dirs, files []string, _ int) error {
		for _, sub := range slices.Concat(files, dirs) {
			keep = append(keep, pypath.Join(dir, sub))
		}
		return nil
	})
	return keep, err
}

// below tells whether a path is in a directory, or is it.
func below(name, dir string) bool {
	name, dir = pypath.Abs(name), pypath.Abs(dir)
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}
