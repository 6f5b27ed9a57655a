# Makes programs that stand for rpm and dnf: what is installed stands in /var/lib/lab/installed, what the repository has in
# the script. They log how they were called.
set -e
cat > rpm <<'X'
#!/bin/sh
case "$*" in
*-qa*) while read -r n e v r a; do echo "$n""_|-""$e""_|-""$v""_|-""$r""_|-""$a""_|-(none)_|-1700000000"; done < /var/lib/lab/installed ;;
*--eval*) echo x86_64 ;;
esac
X
cat > dnf <<'X'
#!/bin/sh
lab=/var/lib/lab
echo "$*" >> $lab/log
cat > $lab/offered <<Y
lab-demo (none) 1.0 1 noarch
lab-demo (none) 2.0 1 noarch
lab-tool 1 1.5 2 x86_64
lab-lib (none) 1.0 1 i686
Y
verb= words= sub=
for w; do
	case $w in
	-*) [ "$w" = --upgrades ] && words="$words up" ;;
	*) if [ -z "$verb" ]; then verb=$w; else words="$words $w"; fi ;;
	esac
done
show() { # name epoch version release arch
	[ "$2" = "(none)" ] && echo "$1.$5 $3-$4 lab" || echo "$1.$5 $2:$3-$4 lab"
}
drop() { awk -v n="$1" '$1 != n' $lab/installed > $lab/new; mv $lab/new $lab/installed; }
has() { awk -v n="$1" '$1 == n' $lab/installed; }
put() { # word: name, name-version-release, with or without the architecture
	found=$(awk -v w="$1" '{ a = $1 "." $5; b = $1 "-" $3 "-" $4; if (w == $1 || w == a || w == b || w == b "." $5 || w == $1 "-" $3) last = $0 } END { print last }' $lab/offered)
	[ -n "$found" ] || { echo "No match for argument: $1"; echo "Error: Unable to find a match: $1" >&2; exit 1; }
	drop "${found%% *}"
	echo "$found" >> $lab/installed
}
set -- $words
case $verb in
clean) ;;
check-update) exit 100 ;;
list)
	kind=$1; shift
	if [ "$kind" = up ]; then
		while read -r n e v r a; do case $(has "$n") in "") ;; "$n $e $v $r $a") ;; *) show "$n" "$e" "$v" "$r" "$a" ;; esac; done < $lab/offered | tail -1
		exit 0
	fi
	code=1
	echo 'Available Packages'
	for w; do while read -r n e v r a; do [ "$n" = "$w" ] || [ "$n.$a" = "$w" ] || continue; show "$n" "$e" "$v" "$r" "$a"; done < $lab/offered; done > $lab/shown
	cat $lab/shown
	[ -s $lab/shown ] || { echo 'Error: No matching Packages to list' >&2; exit 1; } ;;
repository-packages)
	shift 2
	while read -r n e v r a; do
		[ $# = 0 ] && show "$n" "$e" "$v" "$r" "$a"
		for w; do [ "$n" = "$w" ] && show "$n" "$e" "$v" "$r" "$a"; done
	done < $lab/offered
	exit 0 ;;
install|downgrade|reinstall) for w; do put "$w"; done ;;
upgrade) put lab-demo ;;
remove) for w; do [ "$w" = lab-stay ] && { echo 'Error: it stays' >&2; exit 1; }; drop "${w%%-1.*}"; done ;;
versionlock)
	touch $lab/locks
	case $1 in
	list|'') cat $lab/locks ;;
	add) echo "$2-0:1.0-1.*" >> $lab/locks ;;
	delete) grep -v "^$2-" $lab/locks > $lab/new; mv $lab/new $lab/locks ;;
	esac ;;
esac
exit 0
X
chmod 755 rpm dnf
