// Package links asks the kernel for network interfaces, their addresses and the default routes. It holds no addresses
// of other hosts and changes nothing. It answers to what Salt reads from ip(8).
package links

import (
	"encoding/binary"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"unsafe"
)

// Interface is one network interface with its addresses in the order of the kernel.
type Interface struct {
	Name      string
	HWAddr    string // "" where the kind of link has no address
	Up        bool
	Parent    string // of a link on another one: its name, "if7" in another namespace, or NONE; "" for others
	Inet      []Address
	Inet6     []Address
	Secondary []Address // IPv4 addresses that follow another of the same network

	index, parent int
	elsewhere     bool // the parent is in another namespace
	stacked       bool // the kernel names a parent, or none (0)
}

// Address is an address of an interface.
type Address struct {
	netip.Addr
	Bits      int        // of its network; 32 or 128 where the other end of a line is named
	Broadcast netip.Addr // not valid where there is none
	Label     string     // of an IPv4 address: the name of the interface or an alias of it
	Scope     string     // "global", "host", "link", "site"
}

const iflaLinkNetnsid = 37 // linux/if_link.h

// Kinds of links whose address is an IP address (linux/if_arp.h).
const (
	arphrdTunnel  = 768
	arphrdTunnel6 = 769
	arphrdSit     = 776
	arphrdIPGRE   = 778
	arphrdIP6GRE  = 823
	arphrdNone    = 0xfffe
)

const ifaFSecondary = 0x01 // linux/if_addr.h

// All asks the kernel for links and addresses; nil when it does not answer.
func All() []Interface {
	links, ok := dump(syscall.RTM_GETLINK, syscall.AF_UNSPEC)
	if !ok {
		return nil
	}
	var out []Interface
	at := map[int]int{}
	for _, m := range links {
		if m.Header.Type != syscall.RTM_NEWLINK || len(m.Data) < syscall.SizeofIfInfomsg {
			continue
		}
		info := (*syscall.IfInfomsg)(unsafe.Pointer(&m.Data[0]))
		link := readLink(&m, info)
		if link.Name != "" {
			at[link.index] = len(out)
			out = append(out, link)
		}
	}
	addrs, _ := dump(syscall.RTM_GETADDR, syscall.AF_UNSPEC)
	for _, m := range addrs {
		if m.Header.Type != syscall.RTM_NEWADDR || len(m.Data) < syscall.SizeofIfAddrmsg {
			continue
		}
		info := (*syscall.IfAddrmsg)(unsafe.Pointer(&m.Data[0]))
		if i, ok := at[int(info.Index)]; ok {
			out[i].add(&m, info)
		}
	}
	for i := range out {
		out[i].Parent = out[i].on(out, at)
	}
	return out
}

// on names what a link lies on, as ip(8) does behind "@".
func (i *Interface) on(all []Interface, at map[int]int) string {
	switch n, here := at[i.parent]; {
	case !i.stacked:
		return ""
	case i.parent == 0:
		return "NONE"
	case here && !i.elsewhere:
		return all[n].Name
	}
	return "if" + strconv.Itoa(i.parent)
}

func dump(kind, family int) ([]syscall.NetlinkMessage, bool) {
	raw, err := syscall.NetlinkRIB(kind, family)
	if err != nil {
		return nil, false
	}
	messages, err := syscall.ParseNetlinkMessage(raw)
	return messages, err == nil
}

func readLink(m *syscall.NetlinkMessage, info *syscall.IfInfomsg) Interface {
	link := Interface{index: int(info.Index), Up: info.Flags&syscall.IFF_UP != 0}
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return link
	}
	for _, a := range attrs {
		switch a.Attr.Type {
		case syscall.IFLA_IFNAME:
			link.Name = cString(a.Value)
		case syscall.IFLA_ADDRESS:
			link.HWAddr = linkAddress(int(info.Type), a.Value)
		case syscall.IFLA_LINK:
			if len(a.Value) == 4 {
				link.parent, link.stacked = int(binary.NativeEndian.Uint32(a.Value)), true
			}
		case iflaLinkNetnsid:
			link.elsewhere = true
		}
	}
	return link
}

// linkAddress writes a link address as ip(8) does.
func linkAddress(kind int, b []byte) string {
	switch kind {
	case arphrdNone:
		return ""
	case arphrdTunnel, arphrdSit, arphrdIPGRE, arphrdTunnel6, arphrdIP6GRE:
		if a, ok := netip.AddrFromSlice(b); ok {
			return a.String()
		}
	}
	return net.HardwareAddr(b).String()
}

func (i *Interface) add(m *syscall.NetlinkMessage, info *syscall.IfAddrmsg) {
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return
	}
	a := Address{Bits: int(info.Prefixlen), Scope: scope(info.Scope)}
	var peer netip.Addr
	for _, at := range attrs {
		switch at.Attr.Type {
		case syscall.IFA_ADDRESS:
			peer, _ = netip.AddrFromSlice(at.Value)
		case syscall.IFA_LOCAL: // the own end where IFA_ADDRESS is the peer
			a.Addr, _ = netip.AddrFromSlice(at.Value)
		case syscall.IFA_BROADCAST:
			a.Broadcast, _ = netip.AddrFromSlice(at.Value)
		case syscall.IFA_LABEL:
			a.Label = cString(at.Value)
		}
	}
	switch {
	case !a.IsValid():
		a.Addr = peer
	case peer.IsValid() && peer != a.Addr: // ip(8) writes the length behind the peer
		a.Bits = a.BitLen()
	}
	i.keep(a, info)
}

func (i *Interface) keep(a Address, info *syscall.IfAddrmsg) {
	switch {
	case !a.IsValid():
	case info.Family == syscall.AF_INET6:
		i.Inet6 = append(i.Inet6, a)
	case info.Flags&ifaFSecondary != 0:
		i.Secondary = append(i.Secondary, a)
	default:
		i.Inet = append(i.Inet, a)
	}
}

// scope is the name of a scope (rtnetlink.h).
func scope(n uint8) string {
	switch n {
	case syscall.RT_SCOPE_UNIVERSE:
		return "global"
	case syscall.RT_SCOPE_SITE:
		return "site"
	case syscall.RT_SCOPE_LINK:
		return "link"
	case syscall.RT_SCOPE_HOST:
		return "host"
	case syscall.RT_SCOPE_NOWHERE:
		return "nowhere"
	}
	return strconv.Itoa(int(n))
}

func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

const (
	rtUnicast   = 1     // linux/rtnetlink.h, RTN_UNICAST
	rtTableMain = 254   // RT_TABLE_MAIN
	rtFCloned   = 0x200 // RTM_F_CLONED: a cache entry, no route
	rtaTable    = 15    // RTA_TABLE
	rtaVia      = 18    // RTA_VIA: a gateway of another family
)

// DefaultRoute finds the first default route of a family in the main table; the gateway is not valid for a route
// that only names a device.
func DefaultRoute(family int) (gateway netip.Addr, found bool) {
	routes, _ := dump(syscall.RTM_GETROUTE, family)
	for _, m := range routes {
		if m.Header.Type != syscall.RTM_NEWROUTE || len(m.Data) < syscall.SizeofRtMsg {
			continue
		}
		info := (*syscall.RtMsg)(unsafe.Pointer(&m.Data[0]))
		if int(info.Family) != family || info.Dst_len != 0 || info.Type != rtUnicast || info.Flags&rtFCloned != 0 {
			continue
		}
		gw, table := routeGateway(&m, uint32(info.Table))
		if table == rtTableMain {
			return gw, true
		}
	}
	return netip.Addr{}, false
}

func routeGateway(m *syscall.NetlinkMessage, table uint32) (netip.Addr, uint32) {
	var gw netip.Addr
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return gw, 0
	}
	for _, a := range attrs {
		switch a.Attr.Type {
		case syscall.RTA_GATEWAY:
			gw, _ = netip.AddrFromSlice(a.Value)
		case rtaTable:
			if len(a.Value) == 4 {
				table = binary.NativeEndian.Uint32(a.Value)
			}
		case rtaVia:
			if len(a.Value) > 2 {
				gw, _ = netip.AddrFromSlice(a.Value[2:])
			}
		}
	}
	return gw, table
}
