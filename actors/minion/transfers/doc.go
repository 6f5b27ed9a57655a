// Package transfers lets one transfer of a file at a time serve all jobs that want it (FileClient). It owns the
// transfers under way, and asks nobody: how a file is fetched, its caller says.
package transfers
