package gitfs

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
)

// source is the other side of a fetch.
type source interface {
	// refs are all references by name, and what tags mean that are objects of their own.
	refs(ctx context.Context) (refs, peeled map[string]plumbing.Hash, err error)
	// pack sends what is wanted and all that it stands on, but for what is had.
	pack(ctx context.Context, wants, haves []plumbing.Hash) (io.ReadCloser, error)
	io.Closer
}

// maxRefs is the most that a remote may say before its first pack, in bytes.
const maxAdvertised = 64 << 20

// dial reaches a remote. No program is started for it.
func (r *remote) dial(ctx context.Context, lim Limits) (source, error) {
	e, err := endpoint(r.url)
	if err != nil {
		return nil, err
	}
	switch e.Protocol {
	case "file":
		return openLocal(e.Path)
	case "ssh":
		return dialSSH(ctx, e, r.auth, lim)
	}
	return dialHTTP(e, r.auth, lim)
}

// smart is a remote that speaks git's protocol.
type smart struct {
	session transport.UploadPackSession
	caps    *capability.List
	done    func()
}

func (s *smart) refs(ctx context.Context) (refs, peeled map[string]plumbing.Hash, err error) {
	defer rescue(&err)
	adv, err := s.session.AdvertisedReferencesContext(ctx)
	if err == transport.ErrEmptyRemoteRepository {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	s.caps = adv.Capabilities
	return adv.References, adv.Peeled, nil
}

func (s *smart) pack(ctx context.Context, wants, haves []plumbing.Hash) (rc io.ReadCloser, err error) {
	defer rescue(&err)
	req := packRequest(s.caps, wants, haves)
	res, err := s.session.UploadPack(ctx, req)
	if err != nil {
		return nil, err
	}
	return demux(req, res), nil
}

// packRequest asks for objects. Tags that mean something of it come along.
func packRequest(caps *capability.List, wants, haves []plumbing.Hash) *packp.UploadPackRequest {
	req := packp.NewUploadPackRequestFromCapabilities(caps)
	req.Wants, req.Haves = wants, haves
	if caps.Supports(capability.IncludeTag) {
		_ = req.Capabilities.Set(capability.IncludeTag)
	}
	if caps.Supports(capability.NoProgress) {
		_ = req.Capabilities.Set(capability.NoProgress)
	}
	return req
}

// demux takes the pack out of what a server says beside it.
func demux(req *packp.UploadPackRequest, res io.ReadCloser) io.ReadCloser {
	var r io.Reader = res
	switch {
	case req.Capabilities.Supports(capability.Sideband64k):
		r = sideband.NewDemuxer(sideband.Sideband64k, res)
	case req.Capabilities.Supports(capability.Sideband):
		r = sideband.NewDemuxer(sideband.Sideband, res)
	}
	return struct {
		io.Reader
		io.Closer
	}{r, res}
}

func (s *smart) Close() error {
	err := s.session.Close()
	s.done()
	return err
}

// dialHTTP makes a client of its own for a remote, with its proxy and its way with certificates.
func dialHTTP(e *transport.Endpoint, a auth, lim Limits) (source, error) {
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.TLSHandshakeTimeout, base.ResponseHeaderTimeout = 30*time.Second, 5*time.Minute
	base.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	base.TLSClientConfig.InsecureSkipVerify = !a.sslVerify //nolint:gosec // ssl_verify: False
	if a.proxy != "" {
		u, err := url.Parse(a.proxy)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("proxy is no URL")
		}
		base.Proxy = http.ProxyURL(u)
	}
	client := githttp.NewClient(&http.Client{Transport: &boundedHTTP{base, lim.Pack + maxAdvertised}})
	var method transport.AuthMethod
	if a.user != "" {
		method = &githttp.BasicAuth{Username: a.user, Password: a.password}
	}
	session, err := client.NewUploadPackSession(e, method)
	if err != nil {
		return nil, err
	}
	return &smart{session: session, done: base.CloseIdleConnections}, nil
}

// boundedHTTP bounds what answers bring.
type boundedHTTP struct {
	base http.RoundTripper
	most int64
}

func (b *boundedHTTP) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := b.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	most := b.most
	if req.Method == http.MethodGet {
		most = maxAdvertised
	}
	res.Body = struct {
		io.Reader
		io.Closer
	}{&bounded{req.Context(), res.Body, most}, res.Body}
	return res, nil
}
