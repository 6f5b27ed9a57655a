# Builds a repository of tiny packages in the directory it runs in, and setup.sh, which makes the fresh directories of a
# mount namespace those of a machine that knows this repository and nothing else.
set -e
export SOURCE_DATE_EPOCH=1700000000
mkdir -p repo files
build() { # directory name version arch fields
	d=$(mktemp -d)
	mkdir -p "$d/DEBIAN" "$d/usr/share/lab" "$d/etc"
	echo "$2 $3" > "$d/usr/share/lab/$2"
	printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: nobody <nobody@example.com>\nSection: misc\nPriority: optional\n' \
		"$2" "$3" "$4" > "$d/DEBIAN/control"
	[ -z "$5" ] || printf '%b\n' "$5" >> "$d/DEBIAN/control"
	printf 'Description: %s of the lab\n' "$2" >> "$d/DEBIAN/control"
	case $2 in
	lab-demo)
		echo "setting=$3" > "$d/etc/lab-demo.conf"
		echo /etc/lab-demo.conf > "$d/DEBIAN/conffiles" ;;
	lab-bad)
		printf '#!/bin/sh\necho broken on purpose >&2\nexit 1\n' > "$d/DEBIAN/preinst"
		chmod 755 "$d/DEBIAN/preinst" ;;
	lab-stay)
		printf '#!/bin/sh\necho stays on purpose >&2\nexit 1\n' > "$d/DEBIAN/prerm"
		chmod 755 "$d/DEBIAN/prerm" ;;
	esac
	deb="$1/${2}_$(echo "$3" | tr -d :)_$4.deb"
	dpkg-deb -Znone -b --root-owner-group "$d" "$deb" > /dev/null
	if [ "$1" = repo ]; then
		cat "$d/DEBIAN/control"
		printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "$(basename "$deb")" "$(stat -c %s "$deb")" \
			"$(sha256sum "$deb" | cut -d' ' -f1)"
	fi
	rm -r "$d"
}
{
	build repo lab-lib 1.0 all
	build repo lab-demo 1.0 all 'Depends: lab-lib'
	build repo lab-demo 2.0 all 'Depends: lab-lib'
	build repo lab-tool 1.5-1 all
	build repo lab-mta 1.0 all 'Provides: lab-virtual'
	build repo lab-bad 1.0 all
	build repo lab-stay 1.0 all
	build repo lab-rec 1.0 all 'Recommends: lab-tool'
	build repo lab-epoch 1:1.0 all
	build repo lab-other 1.0 i386
} > repo/Packages
build files lab-file 1.0 all
build files lab-file 2.0 all
cat > setup.sh <<X
set -e
cd /var/lib/dpkg
mkdir info updates triggers alternatives
: > status
: > available
printf 'amd64\ni386\n' > arch
mkdir -p /var/lib/apt/lists/partial /var/cache/apt/archives/partial
cd /etc/apt
mkdir apt.conf.d preferences.d sources.list.d trusted.gpg.d
echo 'deb [trusted=yes] file:$PWD/repo ./' > sources.list
cat > apt.conf <<Y
APT::Sandbox::User "root";
APT::Architecture "amd64";
Acquire::Languages "none";
Dpkg::Use-Pty "0";
Y
X
