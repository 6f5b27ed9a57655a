package saltapi

import (
	"net/http"
	"syscall"

	"brine/actors/netapi"
	"brine/actors/netapi/cherrypy"
	"brine/actors/netapi/console"
	"brine/actors/netapi/tornado"
	"brine/actors/netapi/wsgi"
	"brine/cmd/session"
	"brine/config"
	pages "brine/modules/netapi"
)

// port is the address on which a server listens.
type port struct {
	name string
	Host string
	Port int
}

// loopback is the address on which rest_wsgi listens.
const loopback = "127.0.0.1"

// ports returns the addresses of the servers in the configuration.
func ports(conf *config.Netapi) (list []port) {
	if c := conf.CherryPy; c != nil {
		list = append(list, port{"rest_cherrypy", c.Host, c.Port})
	}
	if c := conf.Tornado; c != nil {
		list = append(list, port{"rest_tornado", c.Address, c.Port})
	}
	if c := conf.WSGI; c != nil {
		list = append(list, port{"rest_wsgi", loopback, c.Port})
	}
	return list
}

// servers makes the server modules in the configuration.
func servers(s *session.Session, conf *config.Netapi, r *rights) (list []netapi.Module) {
	bodies := pages.NewBodies(longest(conf))
	if c := conf.CherryPy; c != nil {
		list = append(list, netapi.Module{Name: "rest_cherrypy",
			Listen: netapi.Listen{Host: c.Host, Port: c.Port, Front: room(c.Front, len(ports(conf))),
				Logger: s.Log}.Secured(!c.DisableSSL, c.SSLCrt, c.SSLKey, c.SSLChain),
			Handler: func(a netapi.API) (http.Handler, error) {
				opt := cherrypy.Options{Config: c, Logger: s.Log, Bodies: bodies}
				if c.Console {
					opt.Extra = consolePages(s, r, console.Mount{API: a, Prefix: c.RootPrefix,
						AuthorizedIPs: c.AuthorizedIPs, APIACL: c.APIACL}, !c.DisableSSL)
				}
				return cherrypy.New(a, opt)
			}})
	}
	if c := conf.Tornado; c != nil {
		list = append(list, netapi.Module{Name: "rest_tornado",
			Listen: netapi.Listen{Host: c.Address, Port: c.Port, Front: room(c.Front, len(ports(conf))),
				Logger: s.Log}.Secured(!c.DisableSSL, c.SSLCrt, c.SSLKey, ""),
			Handler: func(a netapi.API) (http.Handler, error) {
				opt := tornado.Options{Config: c, Logger: s.Log, Gather: s.Master.GatherJobTimeout, Bodies: bodies}
				if c.Console {
					opt.Extra = consolePages(s, r, console.Mount{API: a, Prefix: "/"}, !c.DisableSSL)
				}
				return tornado.New(a, opt), nil
			}})
	}
	if c := conf.WSGI; c != nil {
		list = append(list, netapi.Module{Name: "rest_wsgi", Listen: netapi.Listen{Host: loopback, Port: c.Port,
			Front: room(c.Front, len(ports(conf))), Logger: s.Log},
			Handler: func(a netapi.API) (http.Handler, error) {
				return wsgi.New(a, wsgi.Options{Config: c, Logger: s.Log, Bodies: bodies}), nil
			}})
	}
	return list
}

// longest is the largest limit for the length of a body among the servers.
func longest(conf *config.Netapi) (bytes int64) {
	if c := conf.CherryPy; c != nil {
		bytes = max(bytes, c.MaxRequestBodySize)
	}
	if c := conf.Tornado; c != nil {
		bytes = max(bytes, c.MaxRequestBodySize)
	}
	if c := conf.WSGI; c != nil {
		bytes = max(bytes, c.MaxRequestBodySize)
	}
	return bytes
}

// These constants limit the descriptors for connections: the process keeps ownDescriptors for itself, and
// connections get partInPercent of the others, because a request may open files.
const (
	ownDescriptors = 64
	partInPercent  = 75
)

// room lowers a server's limit of connections to its share of the process's descriptors.
func room(f config.Front, servers int) config.Front {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err == nil && lim.Cur < 1<<31 {
		f.MaxConnections = min(f.MaxConnections, max(1, (int(lim.Cur)-ownDescriptors)*partInPercent/100/servers))
	}
	return f
}
