package outputters

import (
	"brine/wire/payload"
)

// StateOptions are the options of the highstate outputter.
type StateOptions struct {
	Output      string   // state_output: full, terse, mixed, changes, filter, each also with _id
	Quiet       bool     // state_verbose: False
	Diff        bool     // state_output_diff
	NoProfile   bool     // state_output_profile: False
	Percent     bool     // state_output_pct
	Tabular     any      // state_tabular: True, False or a format
	CompressIDs bool     // state_compress_ids
	Exclude     []string // state_output_exclude or exclude= of the command line
	Terse       []string // state_output_terse or terse= of the command line
}

func stateOptions(opts *payload.Map) StateOptions {
	return StateOptions{Output: opts.Str("state_output")}
}

func highstate(data any, o *Options) (string, error) { return nested(data, o) }
