// Package web asks web servers on behalf of one call: bounded in time and size, without environment, cookies and
// redirects, and with errors that never show a URL, which may hold a secret. It knows no service (see
// modules/returners).
package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Options say how servers are reached. The zero value is a direct connection, with the authorities of the system.
type Options struct {
	Proxies   map[string]*url.URL // proxy by scheme of the URL, "http" or "https"; their passwords stand in them
	Authority string              // file of the authorities of servers, in PEM; "": those of the system
	Cert, Key string              // files of the client's certificate
	Insecure  bool                // certificates of servers are not checked
	Patience  time.Duration       // for each request, on top of the context; 0: a minute
	Connect   time.Duration       // for each connection; 0: as Patience
	Most      int64               // bytes of one answer; 0: 64 MiB
}

const (
	patience = time.Minute
	most     = 64 << 20 // bytes of one answer
)

// Client asks servers.
type Client struct {
	http     http.Client
	patience time.Duration
	most     int64
}

// Answer is what a server said, whatever its status.
type Answer struct {
	Status int
	Reason string // as the server says it: "Not Found"
	Header http.Header
	Body   []byte
}

// New makes a client. Close ends its connections.
func New(o Options) (*Client, error) {
	conf := &tls.Config{InsecureSkipVerify: o.Insecure, MinVersion: tls.VersionTLS12}
	if o.Authority != "" && !o.Insecure {
		pem, err := os.ReadFile(o.Authority)
		if err != nil {
			return nil, err
		}
		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate", o.Authority)
		}
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, err
		}
		conf.Certificates = []tls.Certificate{pair}
	}
	c := &Client{patience: o.Patience, most: o.Most}
	if c.most <= 0 {
		c.most = most
	}
	if c.patience <= 0 {
		c.patience = patience
	}
	transport := &http.Transport{TLSClientConfig: conf, Proxy: func(r *http.Request) (*url.URL, error) {
		return o.Proxies[r.URL.Scheme], nil
	},
		DisableCompression: true, MaxConnsPerHost: 2, IdleConnTimeout: patience, TLSHandshakeTimeout: patience,
		MaxResponseHeaderBytes: 1 << 20}
	if o.Connect > 0 {
		transport.DialContext = (&net.Dialer{Timeout: o.Connect}).DialContext
	}
	c.http.Transport = transport
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// Close ends all connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Ask sends one request.
func (c *Client) Ask(ctx context.Context, method, at string, header http.Header, body []byte) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return Answer{}, errors.New("this is no URL") // the error would show it
	}
	for name, values := range header {
		req.Header[name] = values
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, hide(err)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, c.most+1))
	if err = errors.Join(err, resp.Body.Close()); err == nil && int64(len(text)) > c.most {
		err = fmt.Errorf("the answer has more than %d bytes", c.most)
	}
	_, said, _ := strings.Cut(resp.Status, " ")
	return Answer{Status: resp.StatusCode, Reason: said, Header: resp.Header, Body: text}, err
}

// hide leaves the URL out of an error.
func hide(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// Base is scheme://host:port of a server.
func Base(scheme, host string, port int) string {
	return (&url.URL{Scheme: scheme, Host: net.JoinHostPort(host, fmt.Sprint(port))}).String()
}

// PathPart escapes a part of a path as elasticsearch-py does.
func PathPart(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || strings.IndexByte("_.-~,*", b) >= 0 {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	return out.String()
}
