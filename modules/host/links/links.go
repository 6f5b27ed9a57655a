package grains

import (
	"encoding/binary"
	"net"
	"net/netip"
	"syscall"
	"unsafe"
)

// iface is one network interface with its addresses in the order of the kernel.
type iface struct {
	index     int
	name      string
	hwaddr    string // "" where the kind of link has no address
	inet      []netip.Addr
	inet6     []netip.Addr
	secondary []netip.Addr // IPv4 addresses that follow another of the same network
}

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

// interfaces asks the kernel for links and addresses; nil when it does not answer.
func interfaces() []iface {
	links, ok := dump(syscall.RTM_GETLINK, syscall.AF_UNSPEC)
	if !ok {
		return nil
	}
	var out []iface
	at := map[int]int{}
	for _, m := range links {
		if m.Header.Type != syscall.RTM_NEWLINK || len(m.Data) < syscall.SizeofIfInfomsg {
			continue
		}
		info := (*syscall.IfInfomsg)(unsafe.Pointer(&m.Data[0]))
		link := readLink(&m, info)
		if link.name != "" {
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
	return out
}

func dump(kind, family int) ([]syscall.NetlinkMessage, bool) {
	raw, err := syscall.NetlinkRIB(kind, family)
	if err != nil {
		return nil, false
	}
	messages, err := syscall.ParseNetlinkMessage(raw)
	return messages, err == nil
}

func readLink(m *syscall.NetlinkMessage, info *syscall.IfInfomsg) iface {
	link := iface{index: int(info.Index)}
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return link
	}
	for _, a := range attrs {
		switch a.Attr.Type {
		case syscall.IFLA_IFNAME:
			link.name = cString(a.Value)
		case syscall.IFLA_ADDRESS:
			link.hwaddr = linkAddress(int(info.Type), a.Value)
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

func (i *iface) add(m *syscall.NetlinkMessage, info *syscall.IfAddrmsg) {
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return
	}
	var addr, local netip.Addr
	for _, a := range attrs {
		switch a.Attr.Type {
		case syscall.IFA_ADDRESS:
			addr, _ = netip.AddrFromSlice(a.Value)
		case syscall.IFA_LOCAL: // the own end where IFA_ADDRESS is the peer
			local, _ = netip.AddrFromSlice(a.Value)
		}
	}
	if local.IsValid() {
		addr = local
	}
	switch {
	case !addr.IsValid():
	case info.Family == syscall.AF_INET6:
		i.inet6 = append(i.inet6, addr)
	case info.Flags&ifaFSecondary != 0:
		i.secondary = append(i.secondary, addr)
	default:
		i.inet = append(i.inet, addr)
	}
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

// defaultRoute finds the first default route of a family in the main table; the gateway is not valid for a route
// that only names a device.
func defaultRoute(family int) (gateway netip.Addr, found bool) {
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
