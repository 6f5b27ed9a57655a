package smtp_return

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// mailServer is a small SMTP server that keeps what it gets.
type mailServer struct {
	port   int
	refuse map[string]string // command and its beginning of arguments, "RCPT TO:<bad": what is answered
	kinds  string            // of AUTH
	tls    *tls.Config       // nil: no STARTTLS

	mu    sync.Mutex
	mails []sentMail
}

type sentMail struct {
	from, text, signedIn string
	to                   []string
	tls                  bool
}

func newMailServer(t testing.TB, s *mailServer) *mailServer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = conn.Close() }()
				s.serve(conn)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	return s
}

// certified gives a server the certificate that httptest has for 127.0.0.1.
func certified(t testing.TB) *tls.Config {
	web := httptest.NewTLSServer(nil)
	t.Cleanup(web.Close)
	return &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}
}

func (s *mailServer) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	say := func(format string, a ...any) { _, _ = fmt.Fprintf(conn, format+"\r\n", a...) }
	line := func() (string, bool) {
		text, err := in.ReadString('\n')
		return strings.TrimRight(text, "\r\n"), err == nil
	}
	var m sentMail
	say("220 test")
	for {
		text, ok := line()
		if !ok {
			return
		}
		word, rest, _ := strings.Cut(text, " ")
		text = strings.TrimSpace(strings.ToUpper(word) + " " + rest)
		if answer := s.refused(text); answer != "" {
			say("%s", answer)
			continue
		}
		switch strings.ToUpper(word) { // commands have no case
		case "EHLO", "HELO":
			say("250-test")
			if s.tls != nil && !m.tls {
				say("250-STARTTLS")
			}
			if s.kinds != "" {
				say("250-AUTH %s", s.kinds)
			}
			say("250 8BITMIME")
		case "STARTTLS":
			if s.tls == nil {
				say("502 no")
				continue
			}
			say("220 go")
			conn = tls.Server(conn, s.tls)
			in = bufio.NewReader(conn)
			m.tls = true
		case "AUTH":
			m.signedIn = s.auth(text, say, line)
			say("235 in")
		case "MAIL":
			m.from = text
			say("250 ok")
		case "RCPT":
			m.to = append(m.to, text)
			say("250 ok")
		case "DATA":
			say("354 go")
			var data strings.Builder
			for {
				raw, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if raw == ".\r\n" {
					break
				}
				data.WriteString(strings.TrimPrefix(raw, "."))
			}
			m.text = data.String()
			if answer := s.refused("end of DATA"); answer != "" {
				say("%s", answer)
				continue
			}
			s.mu.Lock()
			s.mails = append(s.mails, m)
			s.mu.Unlock()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}

func (s *mailServer) refused(text string) string {
	for begin, answer := range s.refuse {
		if strings.HasPrefix(text, begin) {
			return answer
		}
	}
	return ""
}

// auth gives name and password as "KIND user password".
func (s *mailServer) auth(text string, say func(string, ...any), line func() (string, bool)) string {
	words := strings.Fields(text)
	decode := func(text string) string {
		b, _ := base64.StdEncoding.DecodeString(text)
		return string(b)
	}
	switch {
	case words[1] == "PLAIN" && len(words) > 2:
		return "PLAIN" + strings.ReplaceAll(decode(words[2]), "\x00", " ")
	case words[1] == "LOGIN":
		user := ""
		if len(words) > 2 {
			user = decode(words[2])
		} else {
			say("334 VXNlcm5hbWU6")
			text, _ := line()
			user = decode(text)
		}
		say("334 UGFzc3dvcmQ6")
		password, _ := line()
		return "LOGIN " + user + " " + decode(password)
	}
	say("334 PDFAdGVzdD4=")
	answer, _ := line()
	return words[1] + " " + decode(answer)
}

// take gives the mails that came, and forgets them.
func (s *mailServer) take() []sentMail {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.mails
	s.mails = nil
	return out
}
