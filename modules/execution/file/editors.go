package file

import (
	"fmt"
	"time"

	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// editors are the functions that change what is in files.
func editors() []loader.Func {
	return []loader.Func{
		loader.Fn("replace", replace, "Replace what a regular expression fits in a file.",
			"file.replace /etc/httpd/httpd.conf pattern='LogLevel warn' repl='LogLevel info'"),
		loader.Fn("line", line, "Add, replace or delete one line of a file.",
			`file.line /etc/nsswitch.conf "networks:\tfiles dns" after="hosts:.*?" mode='ensure'`),
		loader.Fn("blockreplace", blockReplace, "Replace what stands between two markers in a file.",
			"file.blockreplace /etc/hosts '#-- start --' '#-- end --' '10.0.1.1 foo.foobar' True"),
		loader.Fn("comment_line", commentLine, "Comment lines of a file, or take their comment character away.",
			"file.comment_line '/etc/modules' '^pcspkr'"),
		loader.Fn("comment", comment, "Comment lines of a file.", "file.comment /etc/modules pcspkr"),
		loader.Fn("uncomment", uncomment, "Take the comment character of lines away.",
			"file.uncomment /etc/hosts.deny 'ALL: PARANOID'"),
		loader.Fn("append", appendText, "Put lines at the end of a file.", "file.append /etc/motd 'A last line.'"),
		loader.Fn("prepend", prependText, "Put lines at the beginning of a file.", "file.prepend /etc/motd 'A first line.'"),
		loader.Fn("write", writeText, "Write lines to a file, in the place of what is in it.",
			"file.write /etc/motd 'A line.'"),
		loader.Fn("sed", sed, "Edit a file with sed.", "file.sed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'"),
		loader.Fn("psed", psed, "Edit a file as sed would, with regular expressions of Python.",
			"file.psed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'"),
		loader.Fn("patch", patch, "Apply a patch to a file or a directory.", "file.patch /opt/file.txt /tmp/file.txt.patch"),
		loader.Fn("seek_write", seekWrite, "Write to a place of a file.", "file.seek_write /path/to/file 'some data' 4096"),
		loader.Fn("truncate", truncate, "Cut a file off at a place.", "file.truncate /path/to/file 512"),
	}
}

// carryOut applies a change unless it is a dry run, and gives what functions return of it.
func carryOut(c *edit.Change, dry, diff bool, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	if !dry {
		if err := c.Apply(); err != nil {
			return nil, err
		}
	}
	return c.Shown(diff), nil
}

type replaced struct {
	location
	Pattern       any  `arg:"pattern"`
	Repl          any  `arg:"repl"`
	Count         any  `arg:"count=0"`
	Flags         any  `arg:"flags=8"`
	BufSize       any  `arg:"bufsize=1"` // how a file is read is no matter
	Append        bool `arg:"append_if_not_found=False"`
	Prepend       bool `arg:"prepend_if_not_found=False"`
	NotFound      any  `arg:"not_found_content=None"`
	Backup        any  `arg:"backup=.bak"`
	Dry           bool `arg:"dry_run=False"`
	SearchOnly    bool `arg:"search_only=False"`
	ShowChanges   bool `arg:"show_changes=True"`
	IgnoreMissing bool `arg:"ignore_if_missing=False"`
	PreserveInode bool `arg:"preserve_inode=True"`
	Literal       bool `arg:"backslash_literal=False"`
	Encoding      any  `arg:"encoding=None"`
}

func replace(c *loader.Call, a replaced) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	if a.SearchOnly {
		if a.Append || a.Prepend {
			return nil, loader.InvocErr("search_only cannot be used with append/prepend_if_not_found")
		}
		if a.Encoding == nil {
			return edit.Search(name, a.Pattern, a.Flags, false, a.IgnoreMissing)
		}
	}
	change, err := edit.Replace(name, edit.Replacement{Pattern: a.Pattern, Repl: a.Repl, Count: a.Count, Flags: a.Flags,
		Append: a.Append, Prepend: a.Prepend, NotFound: a.NotFound, Backup: a.Backup, Literal: a.Literal,
		Encoding: a.Encoding, IgnoreMissing: a.IgnoreMissing, NewFile: !a.PreserveInode, SearchOnly: a.SearchOnly})
	if err == nil && a.SearchOnly {
		return change.Found, nil
	}
	if change == nil && err == nil {
		return false, nil
	}
	return carryOut(change, a.Dry, a.ShowChanges, err)
}

type placed struct {
	location
	Content     any  `arg:"content=None"`
	Match       any  `arg:"match=None"`
	Mode        any  `arg:"mode=None"`
	Location    any  `arg:"location=None"`
	Before      any  `arg:"before=None"`
	After       any  `arg:"after=None"`
	ShowChanges bool `arg:"show_changes=True"`
	Backup      bool `arg:"backup=False"`
	Quiet       bool `arg:"quiet=False"`
	Indent      bool `arg:"indent=True"`
}

func line(c *loader.Call, a placed) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	change, err := edit.Line(name, edit.Placing{Content: a.Content, Match: a.Match, Mode: a.Mode, Location: a.Location,
		Before: a.Before, After: a.After, Backup: a.Backup, Quiet: a.Quiet, Indent: a.Indent}, time.Now())
	shown, err := carryOut(change, python.Truth(c.Opts().Value("test")), a.ShowChanges, err)
	if shown == "" {
		shown = change != nil && change.Differ
	}
	return shown, err
}

type block struct {
	location
	Start        any  `arg:"marker_start='#-- start managed zone --'"`
	End          any  `arg:"marker_end='#-- end managed zone --'"`
	Content      any  `arg:"content=''"`
	Append       bool `arg:"append_if_not_found=False"`
	Prepend      bool `arg:"prepend_if_not_found=False"`
	Backup       any  `arg:"backup=.bak"`
	Dry          bool `arg:"dry_run=False"`
	ShowChanges  bool `arg:"show_changes=True"`
	Newline      any  `arg:"append_newline=False"`
	InsertBefore any  `arg:"insert_before_match=None"`
	InsertAfter  any  `arg:"insert_after_match=None"`
}

func blockReplace(c *loader.Call, a block) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	change, err := edit.ReplaceBlock(name, edit.Block{Start: a.Start, End: a.End, Content: a.Content, Append: a.Append,
		Prepend: a.Prepend, Backup: a.Backup, Newline: a.Newline, InsertBefore: a.InsertBefore, InsertAft: a.InsertAfter})
	return carryOut(change, a.Dry, a.ShowChanges, err)
}

type (
	commented struct {
		location
		Regex  any    `arg:"regex"`
		Char   string `arg:"char=#"`
		Backup any    `arg:"backup=.bak"`
	}
	commentedOrNot struct {
		location
		Regex   any    `arg:"regex"`
		Char    string `arg:"char=#"`
		Comment bool   `arg:"cmnt=True"`
		Backup  any    `arg:"backup=.bak"`
	}
)

func comment(c *loader.Call, a commented) (any, error) {
	return commentLine(c, commentedOrNot{a.location, a.Regex, a.Char, true, a.Backup})
}

func uncomment(c *loader.Call, a commented) (any, error) {
	return commentLine(c, commentedOrNot{a.location, a.Regex, a.Char, false, a.Backup})
}

func commentLine(c *loader.Call, a commentedOrNot) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	regex, ok := a.Regex.(string)
	if !ok {
		return nil, loader.Raise("AttributeError", "'%s' object has no attribute 'startswith'", python.Type(a.Regex))
	}
	change, err := edit.Comment(name, edit.Commenting{Regex: regex, Char: a.Char, Remove: !a.Comment, Backup: a.Backup})
	if change == nil && err == nil {
		return false, nil
	}
	return carryOut(change, false, true, err)
}

// texts is a file with texts for it, which may be given as args=, too.
type texts struct {
	location
	Texts []any        `arg:"*args"`
	KW    *payload.Map `arg:"**kwargs"`
}

// lines are the texts, each as Python prints it.
func (a texts) lines() []string {
	given := a.Texts
	if v, ok := a.KW.Get("args"); ok {
		if given, ok = v.([]any); !ok {
			given = []any{v}
		}
	}
	out := make([]string, len(given))
	for i, v := range given {
		out[i] = python.Str(v)
	}
	return out
}

func appendText(c *loader.Call, a texts) (any, error) {
	return a.write(c, edit.AppendLines, `Wrote %d lines to "%s"`)
}

func prependText(c *loader.Call, a texts) (any, error) {
	return a.write(c, edit.PrependLines, `Prepended %d lines to "%s"`)
}

func writeText(c *loader.Call, a texts) (any, error) {
	return a.write(c, edit.WriteLines, `Wrote %d lines to "%s"`)
}

func (a texts) write(c *loader.Call, plan func(string, []string) (*edit.Change, error), told string) (any, error) {
	name, err := path(c, a.Path)
	if err != nil {
		return nil, err
	}
	lines := a.lines()
	change, err := plan(name, lines)
	if err == nil {
		err = change.Apply()
	}
	if err != nil {
		return nil, err
	}
	return fmt.Sprintf(told, len(lines), name), nil
}

// Expand is a path with the home directory in the place of ~.
func Expand(c *loader.Call, v any) (string, error) { return path(c, v) }
