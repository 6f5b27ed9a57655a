package saltcp

import (
	"context"
	"fmt"
	"os"
	"unicode/utf8"

	"brine/cmd/tool"
	"brine/wire/payload"
)

// whole sends all files in one job. It leaves out a source that is neither file nor folder, as Salt does.
func (cp *copying) whole(ctx context.Context) (*payload.Map, error) {
	files := payload.NewMap(len(cp.sources))
	for _, path := range cp.sources {
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			fmt.Fprintf(cp.Stdout, "%s is a directory, only files are supported in non-chunked mode. Use "+
				"\"--chunked\" command line argument.\n", path)
			return nil, tool.Exit(1, "")
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if !utf8.Valid(text) { // Salt ends with a traceback
				return nil, tool.Exit(1, "%s is no text in UTF-8. Use \"--chunked\" for it.", path)
			}
			files.Set(path, string(text))
		}
	}
	ret, ok, err := cp.call(ctx, "cp.recv", files, cp.dest)
	if err != nil || !ok {
		return nil, err
	}
	return ret, nil
}
