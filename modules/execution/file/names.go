package file

import (
	"brine/modules/host/pypath"
	"brine/modules/loader"
	"brine/wire/python"
)

// names are the functions that take paths apart and look at nothing.
func names() []loader.Func {
	return []loader.Func{
		loader.Fn("basename", of(pypath.Base), "Show what stands behind the last slash of a path.",
			"file.basename 'test/test.config'"),
		loader.Fn("dirname", of(pypath.Dir), "Show what stands before the last slash of a path.",
			"file.dirname 'test/path/filename.config'"),
		loader.Fn("normpath", of(pypath.Norm), "Write a path without what is too much in it.",
			"file.normpath 'a/b/c/..'"),
		loader.Fn("join", join, "Put parts of a path together.", "file.join '/' 'usr' 'local' 'bin'"),
		loader.Fn("pardir", pardir, "Show what stands for the directory above.", "file.pardir"),
	}
}

// of makes a function of a text.
func of(f func(string) string) func(*loader.Call, location) (any, error) {
	return func(_ *loader.Call, a location) (any, error) {
		name, err := raw(a.Path)
		if err != nil {
			return nil, err
		}
		return f(name), nil
	}
}

func pardir(*loader.Call, struct{}) (string, error) { return "..", nil }

// parts are the parts of a path.
type parts struct {
	Parts []any `arg:"*args"`
}

func join(_ *loader.Call, a parts) (any, error) {
	if len(a.Parts) == 0 {
		return nil, &loader.ArgumentError{Message: "join() missing 1 required positional argument: 'a'"}
	}
	if _, err := raw(a.Parts[0]); err != nil {
		return nil, err
	}
	texts := make([]string, len(a.Parts))
	for i, v := range a.Parts {
		text, ok := v.(string)
		if !ok {
			return nil,
				&loader.ArgumentError{Message: "join() argument must be str, bytes, or os.PathLike object, not " +
					python.Repr(python.Type(v))}
		}
		texts[i] = text
	}
	return pypath.Join(texts[0], texts[1:]...), nil
}
