package netapi

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// certificate is the certificate of a server. It is read anew when its files change, without a restart: it is looked at
// when somebody connects, once a second at most.
type certificate struct {
	opt Listen
	log *slog.Logger

	now    atomic.Pointer[read]
	looked atomic.Int64 // at the files, in nanoseconds since 1970
}

// read is a certificate and the stamp of the files that it was read from.
type read struct {
	cert  *tls.Certificate
	stamp string
}

// lookEvery is how often the files are looked at.
const lookEvery = time.Second

func newCertificate(opt Listen) *certificate { return &certificate{opt: opt, log: opt.Logger} }

// config reads the files; the error says which of them cannot be used.
func (c *certificate) config() (*tls.Config, error) {
	stamp := c.stampNow()
	cert, err := c.load()
	if err != nil {
		return nil, err
	}
	c.now.Store(&read{cert, stamp})
	c.looked.Store(time.Now().UnixNano())
	return &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(time.Now()), nil }}, nil
}

// load reads certificate, key and chain.
func (c *certificate) load() (*tls.Certificate, error) {
	crt, err := os.ReadFile(c.opt.Certificate)
	if err != nil {
		return nil, fmt.Errorf("Could not find a certificate: %s: %w", c.opt.Certificate, err)
	}
	key, err := os.ReadFile(c.opt.Key)
	if err != nil {
		return nil, fmt.Errorf("Could not find a certificate: %s: %w", c.opt.Key, err)
	}
	if c.opt.Chain != "" {
		chain, err := os.ReadFile(c.opt.Chain)
		if err != nil {
			return nil, fmt.Errorf("read ssl_chain: %w", err)
		}
		crt = append(append(crt, '\n'), chain...)
	}
	cert, err := tls.X509KeyPair(crt, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", c.opt.Certificate, c.opt.Key, err)
	}
	return &cert, nil
}

// stampNow tells the files of now from those of another time.
func (c *certificate) stampNow() string {
	var stamp string
	for _, path := range []string{c.opt.Certificate, c.opt.Key, c.opt.Chain} {
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), ";")
		}
	}
	return stamp
}

// current is the certificate for somebody who connects now. Files that cannot be used, half written ones among them,
// change nothing.
func (c *certificate) current(now time.Time) *tls.Certificate {
	have, looked := c.now.Load(), c.looked.Load()
	if now.UnixNano()-looked < int64(lookEvery) || !c.looked.CompareAndSwap(looked, now.UnixNano()) {
		// somebody else looks
		return have.cert
	}
	stamp := c.stampNow()
	if stamp == have.stamp {
		return have.cert
	}
	cert, err := c.load()
	if err != nil {
		c.log.Error("the certificate has changed and cannot be used, the one before stays", "err", err)
		return have.cert
	}
	c.now.Store(&read{cert, stamp})
	c.log.Info("the certificate has changed and is in use", "file", c.opt.Certificate)
	return cert
}
