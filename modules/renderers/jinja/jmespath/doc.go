// Package jmespath answers questions in the language JMESPath about a template's values, as Python's jmespath 1.1 does:
// the order of dictionaries, numbers without an upper end, and the texts of errors are Python's. It knows nothing of
// templates; what a search costs is paid for from a py.Work.
//
// Not there: functions of one's own. Expressions may be nested 150 deep, where Python stops a little later.
package jmespath
