package cmdmod

import (
	"strings"

	"brine/modules/loader"
	"brine/wire/python"
)

// success says which exit codes and outputs count as 0.
type success struct {
	codes          []int64
	stdout, stderr []string
}

func (cmd *command) setSuccess() error {
	cmd.success.codes = []int64{0}
	if v := cmd.opt.SuccessRetcodes; v != nil {
		cmd.success.codes = nil
		for _, w := range splitInput(v) {
			n, err := loader.ToInt(w)
			if err != nil {
				return loader.InvocErr("success_retcodes must be a list of integers")
			}
			cmd.success.codes = append(cmd.success.codes, n)
		}
	}
	cmd.success.stdout = splitTexts(cmd.opt.SuccessStdout)
	cmd.success.stderr = splitTexts(cmd.opt.SuccessStderr)
	return nil
}

// splitInput makes a list of a value: a list as it is, anything else cut at commas.
func splitInput(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	var out []any
	for w := range strings.SplitSeq(python.Str(v), ",") {
		out = append(out, strings.TrimSpace(w))
	}
	return out
}

func splitTexts(v any) []string {
	if v == nil {
		return nil
	}
	var out []string
	for _, w := range splitInput(v) {
		out = append(out, python.Str(w))
	}
	return out
}

// code is the exit code after these rules.
func (s success) code(code int64, stdout, stderr string) int64 {
	for _, ok := range s.codes {
		if code == ok {
			return 0
		}
	}
	for _, text := range s.stdout {
		if strings.Contains(stdout, text) {
			return 0
		}
	}
	for _, text := range s.stderr {
		if strings.Contains(stderr, text) {
			return 0
		}
	}
	return code
}
