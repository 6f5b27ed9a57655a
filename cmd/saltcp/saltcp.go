// Package saltcp is the tool salt-cp: it copies files of this machine to minions, as arguments of jobs. It
// sends text files in one job or, with --chunked, any file in pieces. It answers to salt/cli/cp.py.
package saltcp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"brine/cmd/display"
	"brine/cmd/masterlink"
	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/wire/client"
	"brine/wire/payload"
)

// exitNoSource is the exit code for a missing source.
const exitNoSource = 42

// copying is one run of salt-cp.
type copying struct {
	*session.Session
	wire    *client.Client
	tgt     any // text, or a list of ids
	tgtType string
	sources []string // real paths
	dest    string
}

// parser declares the options of salt-cp.
func parser(c *tool.Call) *optparse.Parser {
	p := options.NewParser(c, "%prog [options] '<target>' SOURCE DEST",
		"salt-cp copies files to minions by way of the master's jobs. For large files use the file server.")
	options.AddConfigDir(p)
	options.AddHardCrash(p)
	options.AddTimeout(p, 5)
	options.AddTargets(p, false)
	p.Group("File Options", "",
		options.FlagOption("chunked", "Send files of any size and content in pieces, and directories with their "+
			"content.", "-C", "--chunked"),
		optparse.Option{Flags: []string{"-n", "--no-compression"}, Dest: "gzip", Kind: optparse.Const, Const: false,
			Default: true,
			Help:    "Do not compress the pieces."})
	options.AddOutput(p, true)
	options.AddLogging(p, true, "log_file", "/var/log/salt/master")
	return p
}

// Run is the tool salt-cp.
func Run(c *tool.Call) error {
	cp := &copying{}
	s, err := session.Open(c, parser(c), session.Opening{Role: session.RoleClient, Check: cp.read})
	if err != nil {
		return err
	}
	cp.Session, cp.wire = s, masterlink.NewClient(s)
	ctx := context.Background()
	run := cp.whole
	if s.Opt.Bool("chunked") {
		run = cp.pieces
	}
	ret, err := run(ctx)
	var no *masterlink.Refusal
	if errors.As(err, &no) {
		return masterlink.Uncaught(s, "SaltClientError", err)
	}
	if err != nil || ret == nil {
		return err
	}
	return display.Show(s, ret, display.How{})
}

// read reads the arguments of the command line.
func (cp *copying) read(s *session.Session) (err error) {
	words := s.Opt.Args
	if cp.tgtType, err = options.TargetType(s.Parser, s.Opt); err != nil {
		return err
	}
	if len(words) <= 1 {
		fmt.Fprint(s.Stdout, s.Parser.HelpText())
		return s.Parser.Errorf("Insufficient arguments")
	}
	cp.tgt, cp.dest = words[0], words[len(words)-1]
	if s.Opt.Bool("list") {
		ids := strings.Fields(words[0])
		if strings.Contains(words[0], ",") {
			ids = strings.Split(words[0], ",")
		}
		cp.tgt = payload.AnyList(ids)
	}
	for _, word := range words[1 : len(words)-1] {
		path, err := filepath.Abs(word)
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		cp.sources = append(cp.sources, path)
	}
	return nil
}

// call runs a function on the target and returns the results by id. ok is false if the target matches no
// minion.
func (cp *copying) call(ctx context.Context, fun string, arg ...any) (out *payload.Map, ok bool, err error) {
	tgt, tgtType := cp.tgt, cp.tgtType
	if tgtType == "nodegroup" {
		words, err := masterlink.Nodegroup(cp.Session, fmt.Sprint(tgt))
		if err != nil {
			return nil, false, err
		}
		tgt, tgtType = strings.Join(words, " "), "compound"
	}
	job := client.Job{Tgt: tgt, TgtType: tgtType, Fun: fun, Arg: arg, Timeout: cp.timeout(),
		Kwargs: payload.M("show_timeout", true, "show_jid", false, "delimiter", cp.Opt.Str("delimiter"))}
	run, err := cp.wire.Run(ctx, job)
	if err = masterlink.ClientError(cp.Session, err); err != nil {
		return nil, false, err
	}
	if !masterlink.Published(cp.Session, run.Published) {
		run.Close()
		return payload.NewMap(0), false, nil
	}
	out = payload.NewMap(len(run.Minions))
	for ret, err := range run.Returns(ctx) {
		if err != nil {
			return nil, false, masterlink.ClientError(cp.Session, err)
		}
		if ret.Silence == client.Answered {
			out.Set(ret.ID, ret.Value)
		}
	}
	return out, true, nil
}

func (cp *copying) timeout() time.Duration {
	if n := cp.Opt.Int("timeout"); n > 0 {
		return time.Duration(n) * time.Second
	}
	if n, ok := cp.Common.File.Int("timeout"); ok && n > 0 {
		return time.Duration(n) * time.Second
	}
	return 5 * time.Second
}
