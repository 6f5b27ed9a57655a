package smtp_return

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/smtp"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"brine/modules/returners"
	"brine/modules/returners/options"
)

// mailer is who sends mails to whom, through which server.
type mailer struct {
	from, host, user, password string
	to                         []string
	port                       int
	tls, verify                bool
}

const (
	mailPort = 25
	mailLine = 998 // bytes of a line, at most (RFC 5322)
)

// mailTo reads the options of a mail.
func mailTo(opt options.Values) (mailer, error) {
	m := mailer{from: opt.Text("from"), host: opt.Text("host"), user: opt.Text("username"),
		password: opt.Text("password"), port: mailPort, to: strings.Split(opt.Text("to"), ","), tls: opt["tls"] == true}
	for _, name := range []string{"from", "to", "host"} {
		if text := opt.Text(name); text == "" || strings.ContainsAny(text, "\r\n") {
			return m, returners.Misset("smtp.%s is not set, or has several lines", name)
		}
	}
	if text := opt.Text("port"); text != "" && text != "0" {
		n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
		if err != nil {
			return m, returners.Misset("smtp.port is no port: %q", text)
		}
		m.port = int(n)
	}
	v, set := opt["verify_ssl"]
	m.verify = v != false && (set || m.user != "" && m.password != "")
	return m, nil
}

// compose makes the mail. One of ASCII letters and bearable lines looks as Salt's; others say what they are.
func (m mailer) compose(subject, body string, now time.Time) []byte {
	var out bytes.Buffer
	body = crlf(body)
	fmt.Fprintf(&out, "From: %s\r\nTo: %s\r\nDate: %s\r\nSubject: %s\r\n", header(m.from),
		header(strings.Join(m.to, ", ")), now.Format(time.RFC1123Z), header(subject))
	if plainMail(body) {
		out.WriteString("\r\n" + body)
		return out.Bytes()
	}
	out.WriteString("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: " +
		"quoted-printable\r\n\r\n")
	w := quotedprintable.NewWriter(&out)
	_, _ = w.Write([]byte(strings.ToValidUTF8(body, "\ufffd"))) // neither fails on a buffer
	_ = w.Close()
	return out.Bytes()
}

// header is a text as the value of a header: one line, other letters encoded.
func header(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 || r == 0x85 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
	if len(text) > mailLine-len("Subject: ") {
		cut := mailLine/4 - 3
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "..."
	}
	return mime.QEncoding.Encode("utf-8", text)
}

// crlf ends all lines with CR and LF, as smtplib does.
func crlf(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	return strings.ReplaceAll(text, "\n", "\r\n")
}

// plainMail says that a body can be sent as it is.
func plainMail(body string) bool {
	for line := range strings.SplitSeq(body, "\r\n") {
		if len(line) > mailLine {
			return false
		}
	}
	return strings.IndexFunc(body, func(r rune) bool { return r >= utf8.RuneSelf || r == 0 }) < 0
}

// address is the address in "Name <address>".
func address(text string) string {
	if a, err := mail.ParseAddress(text); err == nil {
		return a.Address
	}
	return strings.TrimSpace(text)
}

// send hands a mail to the server. It is sent when one recipient is accepted, as in smtplib.
func (m mailer) send(ctx context.Context, text []byte) error {
	err := m.talk(ctx, text)
	var said *textproto.Error
	if errors.As(err, &said) && said.Code == 552 { // too large
		return &returners.Unusable{Err: fmt.Errorf("smtp: %s: %w", m.host, err)}
	}
	if err != nil {
		return fmt.Errorf("smtp: %s: %w", m.host, err)
	}
	return nil
}

func (m mailer) talk(ctx context.Context, text []byte) (err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(m.host, strconv.Itoa(m.port)))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // what it waits for fails then
	c, err := smtp.NewClient(conn, m.host)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	defer func() { _ = c.Close() }()
	if err := m.greet(c); err != nil {
		return err
	}
	if err := c.Mail(address(m.from)); err != nil {
		return err
	}
	var refused []error
	for _, to := range m.to {
		if err := c.Rcpt(address(to)); err != nil {
			refused = append(refused, err)
		}
	}
	if len(refused) == len(m.to) {
		return errors.Join(refused...)
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = c.Quit() // the mail is sent
	return nil
}

// greet says hello, begins TLS and signs in, as far as the options want it.
func (m mailer) greet(c *smtp.Client) error {
	if name, err := os.Hostname(); err == nil && !strings.ContainsAny(name, " \r\n") {
		if err := c.Hello(name); err != nil {
			return err
		}
	}
	if m.tls {
		if err := c.StartTLS(&tls.Config{ServerName: m.host, InsecureSkipVerify: !m.verify,
			MinVersion: tls.VersionTLS12}); err != nil {
			return err
		}
	}
	if m.user == "" || m.password == "" {
		return nil
	}
	ok, kinds := c.Extension("AUTH")
	if !ok {
		return errors.New("the server lets nobody sign in")
	}
	if strings.Contains(" "+kinds+" ", " CRAM-MD5 ") {
		return c.Auth(smtp.CRAMMD5Auth(m.user, m.password))
	}
	return c.Auth(&signIn{user: m.user, password: m.password, plain: strings.Contains(" "+kinds+" ", " PLAIN ")})
}

// signIn signs in by PLAIN or LOGIN. Unlike the standard library's it does so without TLS, too, as smtplib does.
type signIn struct {
	user, password string
	plain          bool
	step           int
}

func (s *signIn) Start(*smtp.ServerInfo) (string, []byte, error) {
	if s.plain {
		return "PLAIN", []byte("\x00" + s.user + "\x00" + s.password), nil
	}
	return "LOGIN", nil, nil
}

func (s *signIn) Next(_ []byte, more bool) ([]byte, error) {
	if !more {
		return nil, nil
	}
	if s.step++; s.plain || s.step > 2 {
		return nil, errors.New("the server asks for more than a name and a password")
	}
	return []byte([]string{s.user, s.password}[s.step-1]), nil
}
