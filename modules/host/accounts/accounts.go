// Package accounts lists the users and groups of this machine: by getent(1), which knows all sources that the C library
// knows, and by the files below a root. It changes none. It answers to Python's pwd and grp, and to salt/utils/user.py.
package accounts

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"brine/modules/host/program"
)

// User is one line of the password database.
type User struct {
	Name, Passwd       string
	UID, GID           int64
	Gecos, Home, Shell string
}

// Group is one line of the group database.
type Group struct {
	Name, Passwd string
	GID          int64
	Members      []string
}

// patience is how long getent may take; it may have to ask other hosts.
const patience = 30 * time.Second

// Users lists all users; root "" is this machine, with all its sources.
func Users(ctx context.Context, root string) ([]User, error) {
	rows, err := rows(ctx, root, "passwd")
	return parsed(rows, userOf), err
}

// UserNamed finds a user by name or, as getent takes it, by nothing else.
func UserNamed(ctx context.Context, root, name string) (User, bool, error) {
	rows, err := rows(ctx, root, "passwd", name)
	for _, u := range parsed(rows, userOf) {
		if u.Name == name {
			return u, true, err
		}
	}
	return User{}, false, err
}

// Groups lists all groups.
func Groups(ctx context.Context, root string) ([]Group, error) {
	rows, err := rows(ctx, root, "group")
	return parsed(rows, groupOf), err
}

// GroupNamed finds a group by name.
func GroupNamed(ctx context.Context, root, name string) (Group, bool, error) {
	rows, err := rows(ctx, root, "group", name)
	for _, g := range parsed(rows, groupOf) {
		if g.Name == name {
			return g, true, err
		}
	}
	return Group{}, false, err
}

// GroupNumbered finds a group of this machine by its number.
func GroupNumbered(ctx context.Context, gid int64) (Group, bool, error) {
	rows, err := rows(ctx, "", "group", strconv.FormatInt(gid, 10))
	for _, g := range parsed(rows, groupOf) {
		if g.GID == gid {
			return g, true, err
		}
	}
	return Group{}, false, err
}

// GroupsOf are the names of all groups that a user is in, his own first one among them, in order.
func GroupsOf(ctx context.Context, name string) ([]string, error) {
	all, err := Groups(ctx, "")
	if err != nil {
		return nil, err
	}
	u, known, err := UserNamed(ctx, "", name)
	if err != nil {
		return nil, err
	}
	var ids []int64
	if known {
		ids = append(groupIDs(ctx, name), u.GID)
	}
	var names []string
	for _, g := range all {
		if slices.Contains(g.Members, name) || slices.Contains(ids, g.GID) {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// groupIDs are what id(1) knows of a user's groups; sources that list no members for others tell them here.
func groupIDs(ctx context.Context, name string) []int64 {
	r, err := program.Run(ctx, program.Spec{Argv: []string{"id", "-G", "--", name}, Timeout: patience})
	if err != nil || r.Code != 0 {
		return nil
	}
	var out []int64
	for _, word := range strings.Fields(string(r.Stdout)) {
		if id, err := strconv.ParseInt(word, 10, 64); err == nil {
			out = append(out, id)
		}
	}
	return out
}

// rows are the lines of a database, or those of one key.
func rows(ctx context.Context, root, database string, key ...string) ([][]string, error) {
	if root == "" && program.Which("getent") != "" {
		r, err := program.Run(ctx, program.Spec{Argv: append([]string{"getent", "--", database}, key...),
			Timeout: patience})
		if err == nil && !r.TimedOut && r.Code == 0 {
			return split(r.Stdout), nil
		}
		if err == nil && r.Code == notFound {
			return nil, nil
		}
	}
	text, err := os.ReadFile(filepath.Join("/", root, "etc", database))
	return split(text), err
}

// notFound is getent's exit code for a key that is in no source.
const notFound = 2

func split(text []byte) [][]string {
	var out [][]string
	for line := range bytes.Lines(text) {
		out = append(out, strings.Split(strings.TrimSpace(string(line)), ":"))
	}
	return out
}

func parsed[T any](rows [][]string, one func([]string) (T, bool)) []T {
	var out []T
	for _, row := range rows {
		if v, ok := one(row); ok {
			out = append(out, v)
		}
	}
	return out
}

func userOf(f []string) (User, bool) {
	if len(f) < 7 {
		return User{}, false
	}
	uid, err1 := strconv.ParseInt(f[2], 10, 64)
	gid, err2 := strconv.ParseInt(f[3], 10, 64)
	return User{Name: f[0], Passwd: f[1], UID: uid, GID: gid, Gecos: f[4], Home: f[5], Shell: f[6]}, err1 == nil &&
		err2 == nil
}

func groupOf(f []string) (Group, bool) {
	if len(f) < 4 {
		return Group{}, false
	}
	gid, err := strconv.ParseInt(f[2], 10, 64)
	g := Group{Name: f[0], Passwd: f[1], GID: gid, Members: []string{}}
	if f[3] != "" {
		g.Members = strings.Split(f[3], ",")
	}
	return g, err == nil
}
