// Package jinja renders templates as Salt's Jinja does: the language of Jinja 3.1 with the extensions Salt switches on,
// Python's values and ways of printing, undefined variables as errors, attributes with an underscore out of reach, and
// errors with the line and an excerpt in Salt's words. It is an engine of its own: no goroutine, no reflection on the
// values of a template, no access to files but by the Loader and the Host it was given. Limits of time, steps, depth,
// memory and output end a template that would not end.
//
// Not there: the errors of broken regular expressions and of names that XML
// cannot hold are not in Python's words; strftime reads whole dates, time stamps, "now" and "2 days ago", but not all
// that timelib does. Filters that look at files, users and names ask the Host, and refuse by name without one. ifelse
// matches targets where there is a function match.ifelse.
//
// The folders below hold the parts that know nothing of rendering: syntax reads a template into a tree, py holds the
// values, jmespath answers json_query, machine is the Host of this machine. Answers to render_jinja_tmpl in
// salt/utils/templates.py, salt/utils/jinja.py and Jinja itself.
package jinja
