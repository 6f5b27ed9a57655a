package execution_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"brine/modules"
	"brine/modules/execution"
)

func registry(t testing.TB) *modules.Registry {
	t.Helper()
	reg := modules.NewRegistry()
	if err := execution.Register(reg, execution.Options{Version: "3008.3"}); err != nil {
		t.Fatal(err)
	}
	return reg
}

// notOffered are functions of the reference that are left out on purpose.
var notOffered = map[string]string{
	"cmd.powershell":     "needs PowerShell",
	"cmd.powershell_all": "needs PowerShell",
}

// notYet are functions of pkg that change packages or repositories, or tell of the latter, functions of file that
// states need, and those that need a daemon of Salt beside them.
const notYet = filesNotYet + hostNotYet + " minion.kill minion.restart status.master status.ping_master status.proxy_reconnect" +
	" pkg.add_repo_key pkg.autoremove pkg.del_repo pkg.del_repo_key pkg.get_repo pkg.get_repo_keys pkg.hold pkg.info_installed " +
	"pkg.install pkg.list_downloaded pkg.list_repo_pkgs pkg.list_repos pkg.mod_repo pkg.purge pkg.remove pkg.services_need_restart " +
	"pkg.set_selections pkg.show pkg.unhold pkg.upgrade pkg.which "

// hostNotYet are functions of network that send something or change this host, and those of user and group that change any.
const hostNotYet = " network.active_tcp network.arp network.connect network.dig network.fqdns network.get_bufsize network.get_fqdn" +
	" network.get_route network.ip_neighs network.ip_neighs6 network.ipneighs network.ipneighs6 network.mod_bufsize" +
	" network.mod_hostname network.netstat network.ping network.traceroute network.wol group.add group.adduser group.chgid" +
	" group.delete group.deluser group.members user.add user.chfullname user.chgid user.chgroups user.chhome" +
	" user.chhomephone user.chloginclass user.chother user.chroomnumber user.chshell user.chuid user.chworkphone user.delete" +
	" user.get_loginclass user.rename"

const filesNotYet = " file.append file.apply_template_on_contents file.blockreplace file.chattr file.check_file_meta" +
	" file.check_managed file.check_managed_changes file.check_perms file.comment file.comment_line file.copy" +
	" file.delete_backup file.extract_hash file.get_diff file.get_managed file.get_selinux_context" +
	" file.get_source_sum file.line file.link file.list_backup file.list_backups file.list_backups_dir" +
	" file.lsattr file.makedirs file.makedirs_perms file.manage_file file.mkdir file.mknod file.mknod_blkdev" +
	" file.mknod_chrdev file.mknod_fifo file.move file.open_files file.patch file.prepend file.psed" +
	" file.remove_backup file.rename file.replace file.restore_backup file.restorecon file.rmdir file.sed" +
	" file.seek_write file.set_selinux_context file.source_list file.symlink file.touch file.truncate" +
	" file.uncomment file.write"

// TestSignatures compares every declaration with what sys.argspec of Salt 3008.3 tells. testdata/argspec_3008.json
// is its output for the modules below, with SHELL=/bin/bash.
func TestSignatures(t *testing.T) {
	t.Setenv("SHELL", "/bin/bash")
	b, err := os.ReadFile("testdata/argspec_3008.json")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{}
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	reg := registry(t)
	for name, w := range want {
		f, ok := reg.Lookup(name)
		if !ok {
			if notOffered[name] == "" && !strings.Contains(notYet, " "+name+" ") {
				t.Errorf("%s is missing", name)
			}
			continue
		}
		if diff := cmp.Diff(w, spec(t, f)); diff != "" {
			t.Errorf("%s: wanted -, got +:\n%s", name, diff)
		}
	}
	for _, name := range reg.Names() {
		if _, ok := want[name]; !ok && modules.ModuleOf(name) != ownModule {
			t.Errorf("%s: the reference has no such function", name)
		}
	}
}

// ownModule is the one module that the reference does not have.
const ownModule = "brine"

// TestOutputters: of Salt's functions these, and no others, name an outputter in 3008.3 (__outputter__ of its modules).
func TestOutputters(t *testing.T) {
	want := map[string]string{"grains.items": "nested", "grains.item": "nested", "grains.setval": "nested"}
	reg := registry(t)
	for _, name := range reg.Names() {
		if f, _ := reg.Lookup(name); f.Outputter != want[name] && modules.ModuleOf(name) != ownModule {
			t.Errorf("%s: outputter %q, want %q", name, f.Outputter, want[name])
		}
	}
}

func spec(t *testing.T, f *modules.Func) any {
	t.Helper()
	flat := map[string]any{}
	for k, v := range f.ArgSpec().All() {
		flat[k.(string)] = v
	}
	b, err := json.Marshal(flat)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDocs holds every function to a line of help, an example and the file it answers to.
func TestDocs(t *testing.T) {
	reg := registry(t)
	for _, name := range reg.Names() {
		f, _ := reg.Lookup(name)
		source := strings.HasPrefix(f.Source, "salt/modules/") || f.Source == "" && f.Module() == ownModule
		if f.Doc == "" || strings.HasPrefix(f.Doc, "\n") || !strings.Contains(f.Doc, "CLI Example:\n\n    ") || !source {
			t.Errorf("%s: doc %q, source %q", name, f.Doc, f.Source)
		}
		for _, line := range strings.Split(f.Doc, "\n") {
			if len(line) > 140 {
				t.Errorf("%s: a line of the doc has %d characters", name, len(line))
			}
		}
	}
}

// TestRegisterTwice shows that a name cannot be taken twice.
func TestRegisterTwice(t *testing.T) {
	reg := registry(t)
	if err := execution.Register(reg, execution.Options{}); err == nil {
		t.Error("registered twice")
	}
}

func BenchmarkRegister(b *testing.B) {
	for b.Loop() {
		registry(b)
	}
}
