package engines

import (
	"errors"
	"fmt"

	"brine/wire/payload"
)

// ParseExt reads the option ext_processes of a master: a list of maps {name: options}, each a program by the door.
// Salt's members are names of classes in Python, of which 3008.3 runs none either: it logs that it could not. They are
// given back as python.
func ParseExt(option any) (programs []Named, python []string, failed error) {
	for e := range entriesOf(option) {
		if e.fault == "" && e.options == nil {
			python = append(python, e.name)
			continue
		}
		if m, ok := e.options.(*payload.Map); e.fault == "" && (!ok || m.Value("program") == nil) {
			e.fault = fmt.Sprintf("ext_processes '%s': option program is missing", e.name)
		}
		one, err := e.make("master")
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		one.Name = unique(programs, one.Name)
		programs = append(programs, one)
	}
	return programs, python, failed
}
