package salt

import (
	"fmt"
	"slices"
	"strings"

	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/config"
	"brine/modules/outputters"
	"brine/modules/text/args"
	"brine/wire/payload"
)

// saltCommand is what the words on salt's command line mean.
type saltCommand struct {
	tgt     any // text, or a list of ids
	tgtType string
	fun     any   // text, or a list of texts
	arg     []any // typed; one list for each function if there are several
	doc     bool  // the function is sys.doc
}

// previewFun fills the place of the function, which --preview-target does not need.
const previewFun = "not_a_valid_command"

// readCommand reads the words on salt's command line. It refuses what Salt refuses before it touches a file.
func readCommand(s *session.Session) (*saltCommand, error) {
	tgtType, err := options.TargetType(s.Parser, s.Opt)
	if err != nil {
		return nil, err
	}
	if len(s.Opt.Args) <= 1 && !s.Opt.Bool("doc") && !s.Opt.Bool("preview_target") {
		fmt.Fprint(s.Stdout, s.Parser.HelpText())
	}
	if s.Opt.Bool("config_dump") {
		return nil, dumpConfig(s)
	}
	words, err := completeWords(s)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, tool.Exit(tool.ExitMissing, "\nCannot execute command without defining a target.\n\n")
	}
	if len(words) == 1 {
		return nil, tool.Exit(tool.ExitMissing, "\nIncomplete options passed.\n\n")
	}
	cmd := &saltCommand{tgt: words[0], tgtType: tgtType, doc: words[1] == "sys.doc"}
	if s.Opt.Bool("list") {
		cmd.tgt = splitIDs(words[0])
	}
	if err := cmd.readCall(words[1], words[2:], s.Opt.Str("args_separator"), s.NoParse()); err != nil {
		return nil, err
	}
	s.Common.Raw.Set("tgt", cmd.tgt).Set("fun", cmd.fun).Set("arg", cmd.arg) // outputters look there for arguments
	return cmd, nil
}

// dumpConfig shows the master's configuration without the settings of the command line.
func dumpConfig(s *session.Session) error {
	conf, err := config.LoadMaster(s.Master.ConfFile, nil)
	if err != nil {
		return err
	}
	return &optparse.Answered{Text: outputters.DumpYAML(conf.Raw, outputters.FlowNever, 0)}
}

// completeWords adds the words that --preview-target and -d leave out.
func completeWords(s *session.Session) ([]string, error) {
	words := slices.Clone(s.Opt.Args)
	if s.Opt.Bool("preview_target") {
		words = append(words, previewFun)
	}
	if !s.Opt.Bool("doc") {
		return words, nil
	}
	if len(words) == 0 {
		words = append(words, "*")
	}
	if len(words) < 2 || words[1] != "sys.doc" {
		words = slices.Insert(words, 1, "sys.doc")
	}
	if len(words) > 3 {
		return nil, s.Parser.Errorf("You can only get documentation for one method at one time.")
	}
	return words, nil
}

// splitIDs splits the word of -L at commas or blanks into ids.
func splitIDs(word string) []any {
	if strings.Contains(word, ",") {
		return payload.AnyList(strings.Split(strings.ReplaceAll(word, " ", ""), ","))
	}
	return payload.AnyList(strings.Fields(word))
}

// readCall reads the function word and its arguments.
func (cmd *saltCommand) readCall(fun string, words []string, separator string, noParse []string) error {
	if !strings.Contains(fun, ",") {
		cmd.fun, cmd.arg = fun, args.Parse(words, noParse)
		return nil
	}
	funs := strings.Split(fun, ",")
	groups, err := splitGroups(words, len(funs), separator)
	if err != nil {
		return err
	}
	cmd.fun = payload.AnyList(funs)
	for _, g := range groups {
		cmd.arg = append(cmd.arg, args.Parse(g, noParse))
	}
	return nil
}

// splitGroups divides the arguments among n functions. If enough words equal the separator, they divide the
// groups. Otherwise the separator inside words does.
func splitGroups(words []string, n int, separator string) ([][]string, error) {
	groups := [][]string{nil}
	add := func(word string) { groups[len(groups)-1] = append(groups[len(groups)-1], word) }
	alone := 0
	for _, w := range words {
		if w == separator {
			alone++
		}
	}
	for _, w := range words {
		switch {
		case alone == n-1 && w == separator:
			groups = append(groups, nil)
		case alone == n-1 || !strings.Contains(w, separator):
			add(w)
		default:
			for i, piece := range strings.Split(w, separator) {
				if i > 0 {
					groups = append(groups, nil)
				}
				if piece != "" {
					add(piece)
				}
			}
		}
	}
	switch {
	case len(groups) < n:
		return nil, tool.Exit(tool.ExitMissing, "Cannot execute compound command without defining all arguments.")
	case len(groups) > n:
		return nil, tool.Exit(tool.ExitMissing, "Cannot execute compound command with more arguments than commands.")
	}
	return groups, nil
}
