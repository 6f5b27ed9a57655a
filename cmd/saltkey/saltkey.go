// Package saltkey is the tool salt-key. Package modules/fleet/keys does the work on keys. It answers to
// salt/cli/key.py and salt/key.py.
package saltkey

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"brine/cmd/display"
	"brine/cmd/masterlink"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/modules/fleet/keys"
	"brine/modules/wheel/key"
	"brine/wire/event"
	"brine/wire/payload"
)

// keyActions are the actions of salt-key. If several are given, the first in this list counts. all is the
// option that applies the action to every key.
var keyActions = []struct {
	name, all string
	run       func(*keyTool, string) error
}{
	{"gen_keys", "", (*keyTool).genKeys},
	{"gen_signature", "", (*keyTool).genSignature},
	{"list", "list_all", (*keyTool).list},
	{"print", "print_all", (*keyTool).print},
	{"accept", "accept_all", (*keyTool).accept},
	{"reject", "reject_all", (*keyTool).reject},
	{"delete", "delete_all", (*keyTool).delete},
	{"finger", "finger_all", (*keyTool).finger},
}

// keyTool is one run of salt-key on the key store of one master.
type keyTool struct {
	*session.Session
	store   *keys.Store
	manager *keys.Manager
	remote  bool // with external authentication, the master's wheel functions do the work
}

// Run is the tool salt-key.
func Run(c *tool.Call) error {
	s, err := session.Open(c, keyParser(c), session.Opening{Role: session.RoleClient, LogFile: "key_logfile",
		Dir: keyConfigDir, Adjust: keyOverrides, Check: checkKeyOptions})
	if err != nil {
		return err
	}
	if ok, err := s.BecomeUser(s.Master.User); !ok {
		return err
	}
	k := newKeyTool(s)
	if err := k.act(); err != nil {
		s.Log.Error(err.Error()) // as in Salt, a failed action is logged and the exit code is 0
	}
	return nil
}

// newKeyTool opens the key store of the loaded configuration.
func newKeyTool(s *session.Session) *keyTool {
	o := keys.Configured(s.Master)
	o.CheckKey, o.KeySize = masterlink.ToldKeyCheck(s, o.CheckKey), s.Opt.Int("keysize")
	o.RotateAESKey, o.PreserveMinions = s.Opt.Bool("rotate_aes_key"), s.Opt.Get("preserve_minions") == true
	k := &keyTool{Session: s, remote: s.Opt.Str("eauth") != "", store: keys.OpenStore(s.Master)}
	k.manager = keys.NewManager(k.store, o)
	return k
}

// act runs the first action that the options name. Without one it lists all keys.
func (k *keyTool) act() error {
	for _, a := range keyActions {
		if k.Opt.Bool(a.name) {
			return a.run(k, k.Opt.Str(a.name))
		}
		if a.all != "" && k.Opt.Bool(a.all) {
			if a.name == "list" {
				return k.list("all")
			}
			return a.run(k, "*")
		}
	}
	return k.list("all")
}

func (k *keyTool) list(match string) error {
	if k.remote {
		return k.showRemote("key.list", match)
	}
	groups, err := k.store.ListStatus(match)
	if err != nil {
		return err
	}
	return k.show(key.GroupsMap(groups), "local")
}

func (k *keyTool) print(match string) error {
	if k.remote {
		return k.showRemote("key.print", match)
	}
	sel, err := k.store.Match(keys.SplitGlob(match), false)
	if err != nil {
		return err
	}
	texts, err := k.store.Print(sel)
	if err != nil {
		return err
	}
	return k.show(key.TextsMap(texts), "")
}

func (k *keyTool) finger(match string) error {
	if k.remote {
		return k.showRemote("key.finger", match)
	}
	sel, err := k.store.Match(keys.SplitGlob(match), true)
	if err != nil {
		return err
	}
	texts, err := k.store.Finger(sel, k.Master.HashType)
	if err != nil {
		return err
	}
	return k.show(key.TextsMap(texts), "")
}

// show displays keys by status. It leaves out the status without.
func (k *keyTool) show(groups *payload.Map, without string) error {
	groups.Delete(without)
	return display.Show(k.Session, groups, display.How{Out: "key"})
}

func (k *keyTool) accept(match string) error {
	inc := keys.ForAccept(k.Opt.Bool("include_all"), k.Opt.Bool("include_rejected"), k.Opt.Bool("include_denied"))
	return k.change(match, "accept", "[n/Y]", inc, func(sel keys.Groups) (keys.Change, error) {
		return k.manager.Accept(sel, inc)
	})
}

func (k *keyTool) reject(match string) error {
	inc := keys.ForReject(k.Opt.Bool("include_all"), k.Opt.Bool("include_accepted"), k.Opt.Bool("include_denied"))
	return k.change(match, "reject", "[n/Y]", inc, func(sel keys.Groups) (keys.Change, error) {
		return k.manager.Reject(sel, inc)
	})
}

func (k *keyTool) delete(match string) error {
	inc := keys.Include{Accepted: k.Opt.Bool("include_accepted"), Rejected: k.Opt.Bool("include_rejected"),
		Denied: k.Opt.Bool("include_denied")}
	return k.change(match, "delet", "[N/y]", inc, k.manager.Delete)
}

// change shows the keys that match, asks for confirmation, and does the change. verb is the action up to "ed".
func (k *keyTool) change(match, verb, choice string, inc keys.Include, do func(keys.Groups) (keys.Change,
	error)) error {
	sel, err := k.match(match)
	if err != nil {
		return err
	}
	if verb != "delet" { // a delete can mean keys of any status
		sel = inc.Filter(sel)
	}
	if sel.Len() == 0 {
		fmt.Fprintln(k.Stdout, inc.NoMatchText(match))
		return nil
	}
	fmt.Fprintf(k.Stdout, "The following keys are going to be %sed:\n", verb)
	if err := k.show(key.GroupsMap(sel), ""); err != nil {
		return err
	}
	if ok, err := k.confirmed(choice); !ok {
		return err
	}
	if k.remote {
		do = func(sel keys.Groups) (keys.Change, error) { return k.changeRemote(verb, sel, inc) }
	}
	done, err := do(sel)
	k.fire(done.Events)
	for _, id := range done.Invalid {
		fmt.Fprintf(k.Stderr, "Unable to accept invalid key for %s.\n", id)
	}
	if err != nil {
		return err
	}
	for _, id := range done.IDs {
		fmt.Fprintf(k.Stdout, "Key for minion %s %sed.\n", id, verb)
	}
	return nil
}

// match finds the keys that an action may apply to.
func (k *keyTool) match(globs string) (keys.Groups, error) {
	if k.remote {
		return k.matchRemote(globs)
	}
	return k.store.Match(keys.SplitGlob(globs), false)
}

// confirmed asks the user unless -y was given. An empty line means the choice with the capital letter.
func (k *keyTool) confirmed(choice string) (bool, error) {
	if k.Opt.Bool("yes") {
		return true, nil
	}
	fmt.Fprintf(k.Stdout, "Proceed? %s ", choice)
	line, err := bufio.NewReader(k.Stdin).ReadString('\n')
	if errors.Is(err, io.EOF) && line == "" {
		return false, errors.New("EOF when reading a line")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read answer: %w", err)
	}
	answer := strings.TrimRight(line, "\n")
	if answer == "" {
		return strings.Contains(choice, "Y"), nil
	}
	return strings.HasPrefix(strings.ToLower(answer), "y"), nil
}

// fire informs the running master about changed keys. The keys stay changed even if no master answers.
func (k *keyTool) fire(events []keys.Event) {
	if len(events) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), masterlink.FirePatience)
	defer cancel()
	bus := masterlink.NewBus(k.Session)
	for _, e := range events {
		if err := bus.Fire(ctx, event.TagKey, e.Data()); err != nil {
			k.Log.Debug("key event not sent", "err", err)
			return
		}
	}
}

// genKeys makes a pair of key files for a minion.
func (k *keyTool) genKeys(name string) error {
	dir := k.Opt.Str("gen_keys_dir")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder for keys: %w", err)
	}
	finger, err := k.manager.GenerateFiles(dir, name, k.Opt.Int("keysize"))
	if err != nil {
		return err
	}
	return display.Show(k.Session, payload.M("return", finger), display.How{Out: "key"})
}

// genSignature signs the master's public key.
func (k *keyTool) genSignature(string) error {
	answer, err := k.manager.Sign(keys.Signature{PrivatePath: k.Opt.Str("priv"), PublicPath: k.Opt.Str("pub"),
		Dir: k.Opt.Str("signature_path"), AutoCreate: k.Opt.Bool("auto_create"), KeySize: k.Opt.Int("keysize")})
	if err != nil {
		return err
	}
	return display.Show(k.Session, payload.M("return", answer), display.How{Out: "key"})
}
