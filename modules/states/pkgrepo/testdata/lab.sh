# Makes a repository without packages, a key, and setup.sh, which makes the fresh directories of a mount namespace those
# of a machine that knows this repository and nothing else.
set -e
mkdir repo repo2
: > repo/Packages
: > repo2/Packages
cat > key.asc <<X
-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawhD5BYJKwYBBAHaRw8BAQdAH8I+sb2Oc1BQwHq+Ijgu5k+relkR/Ec1rMsG
8Klhwq20FUxhYiA8bGFiQGV4YW1wbGUuY29tPoiQBBMWCAA4FiEEnHnNjFSutkLN
JninQUMXxdFMSLoFAmsIQ+QCGwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQ
QUMXxdFMSLrbVwEA7Lf1mvMEOfJ49pUnBegiunS3TdlmjAjEfBflfi9R7gsBAIhK
xz/ls0e5wK+kHWJeTkJYpx3KcICDT+gTAOHc2JEL
=oOqf
-----END PGP PUBLIC KEY BLOCK-----
X
sed -n '/^$/,/^=/p' key.asc | grep -v '^=' | base64 -d > key.gpg
cat > look.sh <<'X'
for f in /etc/apt/sources.list /etc/apt/sources.list.d/* /etc/apt/keyrings/*; do
	[ -f "$f" ] || continue
	echo "== $f $(stat -c %a "$f")"
	case $f in
	*.gpg) sha256sum < "$f" ;;
	*) cat "$f" ;;
	esac
done
X
cat > setup.sh <<X
set -e
cd /var/lib/dpkg
mkdir info updates triggers alternatives
: > status
: > available
mkdir -p /var/lib/apt/lists/partial /var/cache/apt/archives/partial
cd /etc/apt
mkdir apt.conf.d preferences.d sources.list.d trusted.gpg.d
cat > apt.conf <<Y
APT::Sandbox::User "root";
APT::Architecture "amd64";
Acquire::Languages "none";
Acquire::Retries "0";
Acquire::http::Proxy "http://127.0.0.1:9";
Y
X
