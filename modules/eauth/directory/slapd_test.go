package directory

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-ldap/ldap/v3"

	"brine/wire/loopback"
	"brine/wire/wiretest"
)

const slapdConf = `include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
allow bind_anon_cred
TLSCACertificateFile DIR/cert
TLSCertificateFile DIR/cert
TLSCertificateKeyFile DIR/key
database mdb
maxsize 10485760
suffix "dc=example,dc=org"
rootdn "cn=root,dc=example,dc=org"
rootpw admin
directory DIR/db
overlay memberof
access to attrs=userPassword by * auth
access to * by * read
`

// entries are two users with the password OpenSesame, three with names that mean something in a filter or in a name of
// the directory, and groups.
const entries = `dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
o: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit

dn: ou=Groups,dc=example,dc=org
objectClass: organizationalUnit

dn: ou=other,dc=example,dc=org
objectClass: organizationalUnit

dn: uid=ann,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
cn: Ann
sn: A
userPassword: OpenSesame

dn: uid=bob,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
cn: Bob
sn: B
userPassword: OpenSesame

dn: uid=o\2Cou\3Dother,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
cn: Comma
sn: C
userPassword: OpenSesame

dn: uid=twin,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
cn: Twin
sn: T
userPassword: OpenSesame

dn: uid=twin,ou=other,dc=example,dc=org
objectClass: inetOrgPerson
cn: Twin
sn: T
userPassword: OpenSesame

dn: uid=svc,dc=example,dc=org
objectClass: inetOrgPerson
cn: Service
sn: S
userPassword: Lookup

dn: cn=ops,ou=Groups,dc=example,dc=org
objectClass: posixGroup
gidNumber: 1
memberUid: ann

dn: cn=dev,ou=Groups,dc=example,dc=org
objectClass: posixGroup
gidNumber: 2
memberUid: bob
`

// server is a real slapd with the entries above.
type server struct {
	port, tlsPort int
	socket, cert  string
}

func startServer(t *testing.T) *server {
	t.Helper()
	slapd, slapadd := find("slapd"), find("slapadd")
	if slapd == "" || slapadd == "" {
		t.Skip("no slapd here (apt install slapd)")
	}
	dir, err := os.MkdirTemp("", "slapd") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &server{port: freePort(t), tlsPort: freePort(t), socket: filepath.Join(dir, "sock"), cert: filepath.Join(dir,
		"cert")}
	wiretest.Certificate(t, s.cert, filepath.Join(dir, "key"), 1, "localhost") // and not for its address
	conf, ldif := filepath.Join(dir, "conf"), filepath.Join(dir, "ldif")
	write(t, conf, strings.ReplaceAll(slapdConf, "DIR", dir))
	write(t, ldif, entries)
	if err := os.Mkdir(filepath.Join(dir, "db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(slapadd, "-f", conf, "-l", ldif).CombinedOutput(); err != nil {
		t.Fatalf("slapadd: %v\n%s", err, out)
	}
	socketURI := "ldapi://" + strings.ReplaceAll(s.socket, "/", "%2F")
	cmd := exec.Command(slapd, "-d", "0", "-f", conf, "-h", fmt.Sprintf("ldap://127.0.0.1:%d ldaps://127.0.0.1:%d %s",
		s.port, s.tlsPort, socketURI))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	waitFor(t, s.tlsPort)
	s.addAdmins(t)
	return s
}

// addAdmins adds a group over the wire: only then its members get the attribute memberOf.
func (s *server) addAdmins(t *testing.T) {
	t.Helper()
	conn, err := ldap.DialURL(fmt.Sprint("ldap://127.0.0.1:", s.port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	group := ldap.NewAddRequest("cn=admins,ou=Groups,dc=example,dc=org", nil)
	group.Attribute("objectClass", []string{"groupOfNames"})
	group.Attribute("member", []string{"uid=ann,ou=people,dc=example,dc=org", "uid=svc,dc=example,dc=org"})
	if err := errors.Join(conn.Bind("cn=root,dc=example,dc=org", "admin"), conn.Add(group)); err != nil {
		t.Fatal(err)
	}
}

func find(name string) string {
	for _, dir := range []string{"", "/usr/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path
		}
	}
	return ""
}

// freePort is a port of 127.0.0.1 that nobody else gets until the test is over.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = port.Release() })
	return port.Number
}

func waitFor(t *testing.T, port int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
			_ = conn.Close()
			return
		}
	}
	t.Fatal("slapd does not listen")
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
