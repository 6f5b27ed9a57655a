package netapi

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// certificate is the certificate of a server. It is reloaded when its files change, without a restart. A new
// connection checks the files, at most once a second.
type certificate struct {
	opt Listen
	log *slog.Logger

	now    atomic.Pointer[read]
	looked atomic.Int64 // last check of the files, in nanoseconds since 1970
}

// read is a certificate and the stamp of its files.
type read struct {
	cert  *tls.Certificate
	stamp string
}

// lookEvery is the time between two checks of the files.
const lookEvery = time.Second

func newCertificate(opt Listen) *certificate { return &certificate{opt: opt, log: opt.Logger} }

// config reads the files. An error names the unusable file.
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

// stampNow returns a stamp that changes when the files change.
func (c *certificate) stampNow() string {
	var stamp string
	for _, path := range []string{c.opt.Certificate, c.opt.Key, c.opt.Chain} {
		if info, err := os.Stat(path); err == nil {
			stamp += fmt.Sprint(info.ModTime().UnixNano(), " ", info.Size(), ";")
		}
	}
	return stamp
}

// current returns the certificate for a new connection. Unusable files, such as half-written ones, change
// nothing.
func (c *certificate) current(now time.Time) *tls.Certificate {
	have, looked := c.now.Load(), c.looked.Load()
	if now.UnixNano()-looked < int64(lookEvery) || !c.looked.CompareAndSwap(looked, now.UnixNano()) {
		// another goroutine checks the files
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
