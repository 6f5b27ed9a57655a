package auth

// Rules decide about keys that no operator has decided on yet. The zero value leaves all to the operator.
// Names in brackets are Salt's options.
type Rules struct {
	AcceptAll      bool      // [auto_accept]
	AutosignFile   string    // [autosign_file] ids, globs or regular expressions, one a line
	AutorejectFile string    // [autoreject_file]
	GrainsDir      string    // [autosign_grains_dir] a file of accepted values for each grain
	Files          RuleFiles // nil: no file is read
}
