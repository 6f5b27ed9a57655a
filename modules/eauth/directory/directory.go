// Package directory asks an LDAP directory whether a password is right and which groups a user is in. What groups may
// do is not its business (see modules/eauth). Names of users come from outside: they are escaped wherever they enter a
// filter or a name, and an empty password, with which a directory lets everybody in as nobody, is refused before it is
// asked. It answers to salt/auth/ldap.py.
package directory

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/go-ldap/ldap/v3"
)

// patience is how long a directory may take for each answer.
const patience = 10 * time.Second

// Answer is what a directory knows of a user whose password is right.
type Answer struct{ Groups []string }

// errRefused is a password that is wrong, or a user that is not there.
var errRefused = errors.New("refused")

// Authenticate asks the directory. nil without an error is a refusal: wrong password, no such user, or more than one.
// An error names the server and never a password.
func Authenticate(ctx context.Context, o *Options, user, password string) (*Answer, error) {
	if user == "" || password == "" {
		return nil, nil
	}
	groups, err := o.authenticate(ctx, user, password)
	switch {
	case errors.Is(err, errRefused):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("directory %s: %w", strings.Join(o.uris, " "), err)
	}
	return &Answer{Groups: groups}, nil
}

func (o *Options) authenticate(ctx context.Context, user, password string) ([]string, error) {
	conn, done, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if !o.searches() {
		dn, err := o.nameOf(user)
		if err != nil {
			return nil, err
		}
		if err := bind(conn, dn, password); err != nil {
			return nil, err
		}
		return o.groups(conn, user)
	}
	if err := o.bindToSearch(conn); err != nil {
		return nil, err
	}
	dn, err := o.find(conn, user)
	if err != nil {
		return nil, err
	}
	groups, groupsErr := o.groups(conn, user) // now, while the connection may search
	if err := bind(conn, dn, password); err != nil {
		return nil, err
	}
	return groups, groupsErr
}

// connect reaches the first server that answers.
func (o *Options) connect(ctx context.Context) (*ldap.Conn, func(), error) {
	var errs []error
	for _, uri := range o.uris {
		conn, err := o.dial(uri)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() }) // what waits for an answer gets an error
		return conn, func() { stop(); _ = conn.Close() }, nil
	}
	return nil, nil, errors.Join(errs...)
}

func (o *Options) dial(uri string) (*ldap.Conn, error) {
	conf := &tls.Config{InsecureSkipVerify: o.noVerify, ServerName: hostOf(uri), MinVersion: tls.VersionTLS12}
	conn, err := ldap.DialURL(uri, ldap.DialWithDialer(&net.Dialer{Timeout: patience}), ldap.DialWithTLSConfig(conf))
	if err != nil {
		return nil, err
	}
	conn.SetTimeout(patience)
	if o.startTLS {
		if err := conn.StartTLS(conf); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// bindToSearch is the bind of the account that looks users up. A password that is wrong here is no user's fault.
func (o *Options) bindToSearch(conn *ldap.Conn) error {
	if o.anonymous {
		return nil
	}
	if err := bind(conn, o.bindDN, o.bindPW); err != nil {
		return fmt.Errorf("auth.ldap.binddn cannot sign in: %v", err) //nolint:errorlint // not the user's refusal
	}
	return nil
}

func bind(conn *ldap.Conn, dn, password string) error {
	err := conn.Bind(dn, password)
	if ldap.IsErrorAnyOf(err, ldap.LDAPResultInvalidCredentials, ldap.LDAPResultNoSuchObject,
		ldap.LDAPResultInvalidDNSyntax,
		ldap.LDAPResultInappropriateAuthentication) {
		return errRefused
	}
	return err
}

// nameOf puts a user into auth.ldap.binddn.
func (o *Options) nameOf(user string) (string, error) {
	if !strings.Contains(o.bindDN, "=") { // name@domain of Active Directory
		if strings.ContainsAny(user, "@\\/,=+<>#;\"") {
			return "", errRefused
		}
		return render(o.bindDN, user), nil
	}
	return render(o.bindDN, ldap.EscapeDN(user)), nil
}

// find looks for the only entry that auth.ldap.filter fits.
func (o *Options) find(conn *ldap.Conn, user string) (string, error) {
	found, err := o.search(conn, o.baseDN, o.scope, render(o.filter, ldap.EscapeFilter(user)), "1.1") // no attributes
	if err != nil {
		return "", err
	}
	if len(found) != 1 || found[0].DN == "" {
		return "", errRefused
	}
	return found[0].DN, nil
}

// most is the number of entries that a search may give.
const most = 10000

// search gives entries; none when the base is not there. Referrals are not followed.
func (o *Options) search(conn *ldap.Conn, base string, scope int, filter string, attributes ...string) ([]*ldap.Entry,
	error) {
	found, err := conn.Search(ldap.NewSearchRequest(base, scope, ldap.NeverDerefAliases, most,
		int(patience/time.Second), false, filter, attributes, nil))
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("search below %q: %w", base, err)
	}
	return found.Entries, nil
}
