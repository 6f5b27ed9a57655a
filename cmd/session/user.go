package session

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"brine/cmd/saltlog"
	"brine/cmd/tool"
	"brine/wire/client"
)

// homeOf is the home directory of a user. "" means the user of this process.
func homeOf(name string) string {
	u, err := user.Current()
	if name != "" {
		u, err = user.Lookup(name)
	}
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// RunningUser is the name of the user this process runs as.
func RunningUser() string {
	if os.Geteuid() == 0 {
		return "root" // the name services are not asked, because most tools run as root
	}
	if u, err := user.LookupId(strconv.Itoa(os.Geteuid())); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Geteuid())
}

// UserIDs looks up a user from the configuration. If the user does not exist, the tool ends as Salt's does.
func UserIDs(name string) (uid, gid int, err error) {
	if name == "root" {
		return 0, 0, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, tool.Exit(tool.ExitNoUser, "Failed to prepare the Salt environment for user %s. The user is "+
			"not available.", name)
	}
	if uid, err = strconv.Atoi(u.Uid); err == nil {
		gid, err = strconv.Atoi(u.Gid)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("ids of user %s: %w", name, err)
	}
	return uid, gid, nil
}

// BecomeUser changes this process to the configured user. If that is another user and this process may not
// change, ok is false and the log says so.
func (s *Session) BecomeUser(name string) (ok bool, err error) {
	if name == "" || name == RunningUser() {
		return true, nil
	}
	uid, gid, err := UserIDs(name)
	if err != nil {
		return false, err
	}
	if err := switchTo(name, uid, gid); err != nil {
		s.Log.Log(context.Background(), saltlog.LevelCritical, fmt.Sprintf("Salt configured to run as user %q but "+
			"unable to switch.", name))
		return false, nil
	}
	env := map[string]string{"USER": name, "LOGNAME": name, "HOME": homeOf(name)}
	for key, value := range env {
		if os.Getenv(key) == "" {
			continue
		}
		if err := os.Setenv(key, value); err != nil {
			return false, fmt.Errorf("become user %s: %w", name, err)
		}
	}
	return true, nil
}

func switchTo(name string, uid, gid int) error {
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	ids, err := u.GroupIds()
	if err != nil {
		return err
	}
	groups := []int{gid}
	for _, id := range ids {
		if n, err := strconv.Atoi(id); err == nil && n != gid {
			groups = append(groups, n)
		}
	}
	if err := syscall.Setgroups(groups); err != nil {
		return err
	}
	if err := syscall.Setgid(gid); err != nil {
		return err
	}
	return syscall.Setuid(uid)
}

// LoginName is the user name in requests and events.
func LoginName() string { return client.LoginName(RunningUser(), os.Getenv("SUDO_USER")) }
