package core

import "strings"

// osNames maps the first ten letters of a distribution's name, lower case and without blanks, to the grain os.
func osNames() map[string]string {
	return map[string]string{
		"redhatente": "RedHat", "gentoobase": "Gentoo", "archarm": "Arch ARM", "arch": "Arch", "debian": "Debian",
		"raspbian": "Raspbian", "fedoraremi": "Fedora", "chapeau": "Chapeau", "korora": "Korora", "amazonami": "Amazon",
		"alt": "ALT", "enterprise": "OEL", "oracleserv": "OEL", "cloudserve": "CloudLinux", "cloudlinux": "CloudLinux",
		"virtuozzo": "Virtuozzo", "almalinux": "AlmaLinux", "almalinuxk": "AlmaLinux", "pidora": "Fedora",
		"scientific": "ScientificLinux", "synology": "Synology", "nilrt": "NILinuxRT", "poky": "Poky",
		"manjaro": "Manjaro", "manjarolin": "Manjaro", "univention": "Univention", "antergos": "Antergos",
		"sles": "SUSE", "void": "Void", "slesexpand": "RES", "linuxmint": "Mint", "neon": "KDE neon", "pop": "Pop",
		"rocky": "Rocky", "alibabaclo": "Alinux", "mendel": "Mendel", "photon": "VMware Photon OS",
	}
}

// families lists for each os_family the values of os that belong to it; every other os is its own family.
const families = `
Arch: Arch ARM, Manjaro, Manjaro ARM, Antergos, EndeavourOS
Bluewhite: Bluewhite64
Debian: Ubuntu, Mint, Trisquel, GCEL, Linaro, elementary OS, elementary, Univention, Raspbian, Devuan, antiX, Kali, Parrot OS, neon, Cumulus, Deepin, KDE neon, IDMS, TurnKey, Pop, AstraLinuxCE, AstraLinuxSE, Mendel, OSMC
Gentoo: Funtoo
Mandriva: Mandrake
RedHat: Fedora, Chapeau, Korora, FedBerry, CentOS, CentOS Stream, GoOSe, Scientific, Amazon, CloudLinux, Virtuozzo, AlmaLinux, AlmaLinux Kitten, OVS, OEL, XCP, XCP-ng, XenServer, RES, Sangoma, VMware Photon OS, AlterOS, RED OS, ALT, ScientificLinux, Rocky, Alinux, openEuler
Slackware: Slamd64
Suse: SLES, SUSE Enterprise Server, SUSE  Enterprise Server, SLED, openSUSE, SUSE, openSUSE Leap, openSUSE Tumbleweed, SLES_SAP, alfaLinux, alfaLinux Rise
VMware: VMwareESX
`

// familyOf is the os_family of an os.
func familyOf(os string) string {
	for line := range strings.Lines(families) {
		family, members, _ := strings.Cut(strings.TrimSpace(line), ": ")
		for m := range strings.SplitSeq(members, ", ") {
			if m == os {
				return family
			}
		}
	}
	return os
}
