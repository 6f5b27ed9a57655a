package pip

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// line is a command line of pip on its way.
type line struct {
	c     *loader.Call
	words []string
	env   *payload.Map
	temps []string // directories that are removed afterwards
	err   error
}

func (l *line) add(words ...string) { l.words = append(l.words, words...) }

// flags adds options that are given.
func (l *line) flags(options ...struct {
	given bool
	word  string
}) {
	for _, o := range options {
		if o.given {
			l.add(o.word)
		}
	}
}

// values adds an option for each of several values.
func (l *line) values(option string, v any) {
	for _, value := range split(v) {
		l.add(option + "=" + value)
	}
}

// value adds an option with its value, where there is one.
func (l *line) value(option string, v any) {
	if python.Truth(v) {
		l.add(option, python.Str(v))
	}
}

// fail keeps the first error.
func (l *line) fail(err error) {
	if l.err == nil {
		l.err = err
	}
}

// split is a list of texts, or one text with commas.
func split(v any) []string {
	if !python.Truth(v) {
		return nil
	}
	if list, ok := v.([]any); ok {
		out := make([]string, len(list))
		for i := range list {
			out[i] = python.Str(list[i])
		}
		return out
	}
	var out []string
	for part := range strings.SplitSeq(python.Str(v), ",") {
		out = append(out, strings.TrimSpace(part))
	}
	return out
}

type flag = struct {
	given bool
	word  string
}

func install(c *loader.Call, a installArgs) (any, error) {
	at := where{a.BinEnv, a.User, a.Cwd}
	if _, err := binary(c, a.BinEnv); err != nil {
		return nil, err
	}
	l := &line{c: c, words: []string{"install"}, env: payload.NewMap(0)}
	defer l.cleanUp()
	if missing := l.requirements(a.Requirements, a.User, loader.Text(a.Saltenv)); missing != "" {
		return payload.M("result", false, "comment", "pip requirements file '"+missing+"' not found"), nil
	}
	current, err := at.version(c)
	if err != nil {
		return nil, err
	}
	l.places(a, current)
	l.choices(a)
	if !python.Truth(a.Pkgs) && !python.Truth(a.Requirements) && !python.Truth(a.Editable) && l.err == nil {
		return payload.M("retcode", int64(0), "stdout", "No packages to install."), nil
	}
	l.packages(a)
	l.extra(a.ExtraArgs)
	if l.err != nil {
		return nil, l.err
	}
	env, err := envVars(a.EnvVars)
	if err != nil {
		return nil, err
	}
	l.env.Update(env)
	more := payload.M("saltenv", a.Saltenv, "use_vt", a.UseVT)
	more.Update(loader.CleanKWArgs(a.KW))
	if l.env.Len() > 0 {
		more.Set("env", l.env)
	}
	return at.run(c, more, l.words...)
}

// cleanUp removes what was there for one run.
func (l *line) cleanUp() {
	for _, dir := range l.temps {
		_ = os.RemoveAll(dir)
	}
}

// places adds where packages come from, and where they go.
func (l *line) places(a installArgs, current string) {
	if python.Truth(a.NoBinary) {
		l.add("--no-binary", strings.Join(split(a.NoBinary), ","))
	}
	l.log(a.Log)
	l.proxy(a.Proxy)
	l.timeout(a.Timeout)
	for _, link := range split(a.FindLinks) {
		if _, err := os.Stat(link); err == nil {
			l.add("--find-links", link)
			continue
		}
		words, err := withURL(l.words, l.env, "--find-links", link)
		if err != nil {
			l.fail(loader.ExecErr("'%s' is not a valid URL or path", link))
			return
		}
		l.words = words
	}
	if a.NoIndex && (python.Truth(a.IndexURL) || python.Truth(a.ExtraIndexURL)) {
		l.fail(loader.ExecErr("'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive."))
	}
	for _, url := range []struct {
		option string
		value  any
	}{{"--index-url", a.IndexURL}, {"--extra-index-url", a.ExtraIndexURL}} {
		words, err := withURL(l.words, l.env, url.option, url.value)
		if err != nil {
			l.fail(err)
			return
		}
		l.words = words
	}
	l.flags(flag{a.NoIndex, "--no-index"})
	if python.Truth(a.Mirrors) {
		if !older(current, "7.0.0") {
			l.fail(loader.ExecErr("pip >= 7.0.0 does not support mirror argument: use index_url and/or " +
				"extra_index_url instead"))
		}
		l.add("--use-mirrors")
		l.values("--mirrors", a.Mirrors)
	}
	l.flags(flag{a.DisableVersionCheck, "--disable-pip-version-check"})
	l.value("--build", a.Build)
	l.value("--target", a.Target)
	l.value("--download", a.Download)
	cache := a.DownloadCache
	if !python.Truth(cache) {
		cache = a.CacheDir
	}
	l.value("--cache-dir", cache)
	l.value("--source", a.Source)
}

// choices adds how packages are installed.
func (l *line) choices(a installArgs) {
	l.flags(flag{a.Upgrade, "--upgrade"}, flag{a.ForceReinstall, "--force-reinstall"},
		flag{a.IgnoreInstalled, "--ignore-installed"})
	if python.Truth(a.ExistsAction) {
		action := python.Str(a.ExistsAction)
		if !slices.Contains([]string{"s", "i", "w", "b"}, strings.ToLower(action)) {
			l.fail(loader.ExecErr("The exists_action pip option only supports the values s, i, w, and b. '%s' is "+
				"not valid.", action))
		}
		l.add("--exists-action", action)
	}
	l.flags(flag{a.NoDeps, "--no-deps"}, flag{a.NoInstall, "--no-install"}, flag{a.NoDownload, "--no-download"},
		flag{a.NoCacheDir, "--no-cache-dir"}, flag{a.PreReleases, "--pre"})
	l.value("--cert", a.Cert)
	l.values("--global-option", a.GlobalOptions)
	l.values("--install-option", a.InstallOptions)
}

var eggOf = pattern.New(`(?:#|#.*?&)egg=([^&]*)`)

// packages adds what is installed.
func (l *line) packages(a installArgs) {
	for _, name := range split(a.Pkgs) {
		name = strings.ReplaceAll(name, ";", ",")
		if err := cmdmod.Operand(name); err != nil {
			l.fail(err)
		}
		l.add(name)
	}
	for _, entry := range split(a.Editable) {
		if m := eggOf.FindStringSubmatch(entry); entry != "." && !strings.HasPrefix(entry, "file://") &&
			!strings.HasPrefix(entry, "/") && (m == nil || m[1] == "") {
			l.fail(loader.ExecErr("You must specify an egg for this editable"))
		}
		l.add("--editable", entry)
	}
	l.flags(flag{a.AllowAllExternal, "--allow-all-external"})
	l.values("--allow-external", a.AllowExternal)
	l.values("--allow-unverified", a.AllowUnverified)
	l.flags(flag{a.ProcessDependencyLinks, "--process-dependency-links"})
	l.value("--trusted-host", a.TrustedHost)
}

// extra adds options that the caller writes himself.
func (l *line) extra(v any) {
	list, _ := v.([]any)
	for _, item := range list {
		m, ok := item.(*payload.Map)
		if !ok {
			l.add(python.Str(item))
			continue
		}
		for key, value := range m.All() {
			switch value.(type) {
			case *payload.Map, []any:
				l.fail(&loader.ArgumentError{Message: "Too many levels in: " + python.Str(key)})
			}
			l.add(python.Str(key), python.Str(value))
		}
	}
}

func (l *line) timeout(v any) {
	if !python.Truth(v) {
		return
	}
	n, err := loader.ToInt(v)
	if _, isFloat := v.(float64); isFloat || err != nil {
		l.fail(loader.Raise("ValueError", "'%s' is not a valid timeout, must be an integer", python.Str(v)))
		return
	}
	l.add("--timeout", python.Str(n))
}

// log adds the file that pip writes what it does to.
func (l *line) log(v any) {
	if !python.Truth(v) {
		return
	}
	file := python.Str(v)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		l.fail(loader.Raise("OSError", "'%s' is a directory. Use --log path_to_file", file))
	} else if dir := filepath.Dir(file); err != nil {
		if _, err := os.Stat(dir); err != nil {
			l.fail(loader.Raise("OSError", "Trying to create '%s' but parent directory '%s' does not exist.", file,
				dir))
		}
	}
	l.add("--log", file)
}

// proxy adds the proxy. One with a password stands in the environment.
func (l *line) proxy(v any) {
	opts := l.c.Opts()
	url := loader.Text(v)
	switch {
	case python.Truth(v):
	case v == false || !python.Truth(opts.Value("proxy_host")) || !python.Truth(opts.Value("proxy_port")):
		return
	default:
		login := ""
		if user, pass := opts.Str("proxy_username"), opts.Str("proxy_password"); user != "" && pass != "" {
			login = user + ":" + pass + "@"
		}
		url = "http://" + login + python.Str(opts.Value("proxy_host")) + ":" + python.Str(opts.Value("proxy_port"))
	}
	if strings.Contains(url, "@") {
		l.env.Set("PIP_PROXY", url)
		return
	}
	l.add("--proxy", url)
}

func uninstall(c *loader.Call, a uninstallArgs) (any, error) {
	at := where{a.BinEnv, a.User, a.Cwd}
	if _, err := binary(c, a.BinEnv); err != nil {
		return nil, err
	}
	l := &line{c: c, words: []string{"uninstall", "-y"}, env: payload.NewMap(0)}
	defer l.cleanUp()
	if missing := l.requirements(a.Requirements, a.User, loader.Text(a.Saltenv)); missing != "" {
		return payload.M("result", false, "comment", "pip requirements file '"+missing+"' not found"), nil
	}
	l.value("--log", a.Log)
	l.proxy(a.Proxy)
	l.timeout(a.Timeout)
	for _, name := range split(a.Pkgs) {
		if err := cmdmod.Operand(name); err != nil {
			l.fail(err)
		}
		l.add(name)
	}
	l.extra(a.ExtraArgs)
	if l.err != nil {
		return nil, l.err
	}
	more := payload.M("saltenv", a.Saltenv, "use_vt", a.UseVT)
	if l.env.Len() > 0 {
		more.Set("env", l.env)
	}
	return at.run(c, more, l.words...)
}
