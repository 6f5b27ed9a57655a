package fileserver

import (
	"fmt"
	"slices"
	"strings"

	"brine/wire/payload"
)

// Answer carries out a command of the wire (salt/master.py, AESFuncs) by its load and returns the reply. What is
// missing in a load, and what is not found, is answered as Salt does. ok is false when it is no command about files.
func (s *Server) Answer(cmd string, load *payload.Map) (reply any, ok bool, err error) {
	answer := map[string]func(*Server, *payload.Map) (any, error){
		payload.CmdFileEnvs:        (*Server).fileEnvs,
		payload.CmdFileFind:        (*Server).fileFind,
		payload.CmdFileHash:        (*Server).fileHash,
		payload.CmdFileHashAndStat: (*Server).fileHashAndStat,
		payload.CmdServeFile:       (*Server).serveFile,
		payload.CmdFileList: func(s *Server, l *payload.Map) (any, error) {
			return s.names(l, false, func(n *Lists) []string { return n.Files })
		},
		payload.CmdDirList: func(s *Server, l *payload.Map) (any, error) {
			return s.names(l, true, func(n *Lists) []string { return n.Dirs })
		},
		payload.CmdFileListEmptyDirs: func(s *Server, l *payload.Map) (any, error) {
			return s.names(l, true, func(n *Lists) []string { return n.EmptyDirs })
		},
		payload.CmdSymlinkList: (*Server).symlinkList,
	}[cmd]
	if answer == nil {
		return nil, false, nil
	}
	reply, err = answer(s, load)
	return reply, true, err
}

// AnswerToPack is Answer for a reply that is packed once, at once, and then forgotten: a piece of a file is read where
// it is packed (payload.Filled).
func (s *Server) AnswerToPack(cmd string, load *payload.Map) (reply any, ok bool, err error) {
	level, packed := load.Int("gzip")
	path, hasPath := text(load, "path")
	env, hasEnv := text(load, "saltenv")
	offset, isNumber := load.Int("loc")
	if cmd != payload.CmdServeFile || packed && level != 0 || !hasPath || !hasEnv || !isNumber {
		return s.Answer(cmd, load)
	}
	o, err := s.openPiece(path, env, offset, 0)
	if err != nil || o.file == nil {
		return payload.M("data", "", "dest", ""), true, err
	}
	return payload.M("data", &payload.Filled{N: o.size, Fill: o.read}, "dest", o.rel), true, nil
}

// text is a field as Python's str() has it; text and bytes are the same here.
func text(load *payload.Map, key string) (string, bool) {
	v, ok := load.Get(key)
	if !ok || v == nil {
		return "", false
	}
	switch v := v.(type) {
	case string, payload.Bytes, []byte:
		return string(load.Bytes(key)), true
	default:
		return fmt.Sprint(v), true
	}
}

// wanted are the backends that a load names, as a list or with commas.
func wanted(load *payload.Map, key string) []string {
	if names := payload.Texts(load.Value(key)); len(names) > 0 {
		return names
	}
	if names, ok := text(load, key); ok && names != "" {
		return strings.Split(names, ",")
	}
	return nil
}

func (s *Server) fileEnvs(load *payload.Map) (any, error) {
	back := wanted(load, "back")
	if !load.Bool("sources") {
		return payload.AnyList(s.Envs(back)), nil
	}
	out := payload.NewMap(1)
	for _, b := range s.backends(back) {
		out.Set(b.Name(), payload.AnyList(b.Envs()))
	}
	return out, nil
}

func (s *Server) fileFind(load *payload.Map) (any, error) {
	path, _ := text(load, "path")
	env, ok := text(load, "saltenv")
	if !ok {
		env = "base"
	}
	f, _, found := s.Find(path, env)
	if f.Err != nil {
		return nil, f.Err
	}
	out := payload.M("path", f.Path, "rel", f.Rel)
	if found {
		out.Set("stat", payload.AnyList(f.Stat)).Set("back", f.Back)
	}
	return out, nil
}

func (s *Server) fileHash(load *payload.Map) (any, error) {
	sum, _, err := s.hash(load)
	return sum, err
}

func (s *Server) fileHashAndStat(load *payload.Map) (any, error) {
	sum, f, err := s.hash(load)
	if f.Stat == nil {
		return []any{sum, nil}, err
	}
	return []any{sum, payload.AnyList(f.Stat)}, err
}

func (s *Server) hash(load *payload.Map) (any, File, error) {
	path, hasPath := text(load, "path")
	env, hasEnv := text(load, "saltenv")
	if !hasPath || !hasEnv {
		return "", File{}, nil
	}
	sum, f, ok, err := s.Hash(path, env)
	if !ok || err != nil {
		return "", File{}, err
	}
	return payload.M("hash_type", s.hashes.name, "hsum", sum), f, nil
}

func (s *Server) serveFile(load *payload.Map) (any, error) {
	path, hasPath := text(load, "path")
	env, hasEnv := text(load, "saltenv")
	offset, isNumber := load.Int("loc")
	none := payload.M("data", "", "dest", "")
	if !hasPath || !hasEnv || !load.Has("loc") {
		return none, nil
	}
	if !isNumber {
		return nil, fmt.Errorf("fileserver: loc is no number")
	}
	level, _ := load.Int("gzip")
	p, err := s.Serve(path, env, offset, int(max(min(level, 10), -1)))
	if err != nil || p.Dest == "" {
		return none, err
	}
	out := payload.M("data", p.Data, "dest", p.Dest)
	if p.Gzip > 0 {
		out.Set("gzip", p.Gzip)
	}
	return out, nil
}

// Selector is a backend that does not list all names that begin with a prefix.
type Selector interface {
	Select(prefix string, dirs bool) (wanted func(name string) bool)
}

func selection(b Backend, prefix string, dirs bool) func(name string) bool {
	own := func(string) bool { return true }
	if s, ok := b.(Selector); ok {
		own = s.Select(prefix, dirs)
	}
	return func(name string) bool { return strings.HasPrefix(name, prefix) && own(name) }
}

// names are one of the lists of an environment, over all backends, in order.
func (s *Server) names(load *payload.Map, dirs bool, list func(*Lists) []string) (any, error) {
	env, ok := text(load, "saltenv")
	if !ok {
		return []any{}, nil
	}
	prefix := prefixOf(load)
	var out []string
	backends := s.backends(wanted(load, "fsbackend"))
	for _, b := range backends {
		lists, err := b.Lists(env)
		if err != nil {
			return nil, err
		}
		wanted := selection(b, prefix, dirs)
		for _, name := range list(lists) {
			if wanted(name) {
				out = append(out, name)
			}
		}
	}
	if len(backends) > 1 {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return payload.AnyList(out), nil
}

func prefixOf(load *payload.Map) string {
	prefix, _ := text(load, "prefix")
	return strings.Trim(prefix, "/")
}

// symlinkList tells of the links of an environment. Unlike Salt: those of all backends, the first counts; with Salt
// only the last backend's do.
func (s *Server) symlinkList(load *payload.Map) (any, error) {
	env, ok := text(load, "saltenv")
	if !ok {
		return payload.NewMap(0), nil
	}
	prefix, targets := prefixOf(load), map[string]string{}
	for _, b := range s.backends(wanted(load, "fsbackend")) {
		lists, err := b.Lists(env)
		if err != nil {
			return nil, err
		}
		for name, target := range lists.Links {
			if _, taken := targets[name]; !taken && strings.HasPrefix(name, prefix) {
				targets[name] = target
			}
		}
	}
	names := make([]string, 0, len(targets))
	for name := range targets {
		names = append(names, name)
	}
	slices.Sort(names)
	out := payload.NewMap(len(names))
	for _, name := range names {
		out.Set(name, targets[name])
	}
	return out, nil
}
