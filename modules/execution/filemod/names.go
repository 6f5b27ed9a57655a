package filemod

import (
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/modules/text/pytext"
)

// names are the functions that take paths apart and look at nothing.
func names() []loader.Func {
	of := func(f func(string) string) func(*loader.Call, loader.Args) (any, error) {
		return func(_ *loader.Call, a loader.Args) (any, error) {
			name, err := raw(a.Get("path"))
			if err != nil {
				return nil, err
			}
			return f(name), nil
		}
	}
	return []loader.Func{
		one("basename", "path", of(pypath.Base), `Show what stands behind the last slash of a path.

CLI Example:

    salt '*' file.basename 'test/test.config'`),
		one("dirname", "path", of(pypath.Dir), `Show what stands before the last slash of a path.

CLI Example:

    salt '*' file.dirname 'test/path/filename.config'`),
		one("normpath", "path", of(pypath.Norm), `Write a path without what is too much in it.

CLI Example:

    salt '*' file.normpath 'a/b/c/..'`),
		{Name: "file.join", VarArgs: true, Run: join, Doc: `Put parts of a path together.

CLI Example:

    salt '*' file.join '/' 'usr' 'local' 'bin'`},
		{Name: "file.pardir", Run: func(*loader.Call, loader.Args) (any, error) { return "..", nil },
			Doc: `Show what stands for the directory above.

CLI Example:

    salt '*' file.pardir`},
	}
}

func join(_ *loader.Call, a loader.Args) (any, error) {
	if len(a.Rest) == 0 {
		return nil, &loader.ArgumentError{Message: "join() missing 1 required positional argument: 'a'"}
	}
	if _, err := raw(a.Rest[0]); err != nil {
		return nil, err
	}
	parts := make([]string, len(a.Rest))
	for i, v := range a.Rest {
		text, ok := v.(string)
		if !ok {
			return nil, &loader.ArgumentError{Message: "join() argument must be str, bytes, or os.PathLike object, not " + pytext.Repr(pytext.Type(v))}
		}
		parts[i] = text
	}
	return pypath.Join(parts[0], parts[1:]...), nil
}
