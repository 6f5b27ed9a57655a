package saltkey

import (
	"os"
	"slices"
	"strings"

	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// These are the smallest and largest sizes of a key that salt-key makes, in bits.
const (
	minKeySize = 2048
	maxKeySize = 32768
)

// keyParser declares the options of salt-key.
func keyParser(c *tool.Call) *optparse.Parser {
	p := options.NewParser(c, "", "salt-key is used to manage Salt authentication keys")
	options.AddConfigDir(p)
	options.AddUser(p)
	options.AddHardCrash(p)
	p.Add(
		optparse.Option{Flags: []string{"-q", "--quiet"}, Kind: optparse.Flag, Help: "Print less."},
		optparse.Option{Flags: []string{"-y", "--yes"}, Kind: optparse.Flag,
			Help: "Answer yes to every question. Default: %default."},
		optparse.Option{Flags: []string{"--rotate-aes-key"}, Default: true,
			Help: "False: the master keeps its session key when keys are deleted or rejected. Default: %default."},
		optparse.Option{Flags: []string{"--preserve-minions"}, Default: false,
			Help: "True: keep the cached data of minions whose keys are deleted. Default: %default."})
	options.AddEauth(p, false)
	options.AddOutput(p, false)
	flag := func(help string, flags ...string) optparse.Option {
		return optparse.Option{Flags: flags, Kind: optparse.Flag, Help: help}
	}
	text := func(help string, flags ...string) optparse.Option {
		return optparse.Option{Flags: flags, Default: "", Help: help}
	}
	list := text("List keys: acc(epted), pre or un(accepted), rej(ected), den(ied), or all.", "-l", "--list")
	list.Metavar = "ARG"
	p.Group("Actions", "An id may be a glob, or several with commas between.",
		list,
		flag("List all keys.", "-L", "--list-all"),
		text("Accept a key.", "-a", "--accept"),
		flag("Accept all pending keys.", "-A", "--accept-all"),
		text("Reject a key.", "-r", "--reject"),
		flag("Reject all pending keys.", "-R", "--reject-all"),
		flag("Old name of the next two options.", "--include-all"),
		flag("Reject accepted keys too.", "--include-accepted"),
		flag("Accept rejected keys too.", "--include-rejected"),
		flag("Accept or reject denied keys too.", "--include-denied"),
		text("Print a public key.", "-p", "--print"),
		flag("Print all public keys.", "-P", "--print-all"),
		text("Delete a key.", "-d", "--delete"),
		flag("Delete all keys.", "-D", "--delete-all"),
		text("Print the fingerprint of a key.", "-f", "--finger"),
		flag("Print the fingerprints of all keys.", "-F", "--finger-all"))
	p.Group("Key Generation Options", "",
		text("Make a key pair of this name for a minion.", "--gen-keys"),
		optparse.Option{Flags: []string{"--gen-keys-dir"}, Default: ".",
			Help: "Directory for the pair. Default: '%default'."},
		optparse.Option{Flags: []string{"--keysize"}, Kind: optparse.Int, Default: minKeySize,
			Help: "Bits of the new key, at least 2048. Default: %default."},
		flag("Sign the master's public key, for minions with verify_master_pubkey_sign.", "--gen-signature"),
		text("Private key file to sign with.", "--priv"),
		text("Directory for the signature.", "--signature-path"),
		text("Public key file to sign.", "--pub"),
		flag("Make the signing pair if there is none.", "--auto-create"))
	options.AddLogging(p, false, "key_logfile", "/var/log/salt/key")
	return p
}

// keyConfigDir lets salt-key make a pair of keys without a readable configuration. The directory for the keys
// then serves as the configuration directory.
func keyConfigDir(v *optparse.Values) error {
	if v.Str("gen_keys") == "" || unix.Access(v.Str("config_dir"), unix.R_OK) == nil {
		return nil
	}
	dir := v.Str("gen_keys_dir")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	v.Default("config_dir", dir)
	return nil
}

// keyOverrides turns texts into truth values.
func keyOverrides(v *optparse.Values, over *payload.Map) error {
	for _, dest := range []string{"rotate_aes_key", "preserve_minions"} {
		switch strings.ToLower(v.Str(dest)) {
		case "true":
			v.Set(dest, true)
			over.Set(dest, true)
		case "false":
			v.Set(dest, false)
			over.Set(dest, false)
		}
	}
	return nil
}

// checkKeyOptions refuses options that Salt refuses before it touches a file.
func checkKeyOptions(s *session.Session) error {
	arg := s.Opt.Str("list")
	known := slices.ContainsFunc([]string{"acc", "pre", "un", "rej", "den", "all"}, func(w string) bool {
		return strings.HasPrefix(arg, w)
	})
	if arg != "" && !known {
		return s.Parser.Errorf("'%s' is not a valid argument to '--list'", arg)
	}
	switch size := s.Opt.Int("keysize"); {
	case size < minKeySize:
		return s.Parser.Errorf("The minimum value for keysize is %d", minKeySize)
	case size > maxKeySize:
		return s.Parser.Errorf("The maximum value for keysize is %d", maxKeySize)
	}
	if s.Opt.Bool("delete_all") && len(s.Opt.Args) > 0 {
		return tool.Exit(tool.ExitOK, "Error: Delete all takes no arguments. Use -d to delete specified keys")
	}
	return nil
}
