# Sourced by the scripts beside it: what a target is made with. use_target TARGET sets GOARCH, CC and their like.

targets="amd64 arm64 armv7"

# use_target also sets arch (Debian's name), qemu (the emulator) and triplet (of compiler and libraries).
use_target() {
  unset GOARM
  case $1 in
    amd64) arch=amd64 triplet=x86_64-linux-gnu qemu=qemu-x86_64-static GOARCH=amd64 ;;
    arm64) arch=arm64 triplet=aarch64-linux-gnu qemu=qemu-aarch64-static GOARCH=arm64 ;;
    armv7) arch=armhf triplet=arm-linux-gnueabihf qemu=qemu-arm-static GOARCH=arm; export GOARM=7 ;;
    *) echo "no such target: $1 (there are: $targets)" >&2; return 64 ;;
  esac
  export GOOS=linux GOARCH CC=$triplet-gcc CXX=$triplet-g++ CGO_ENABLED=1
}

# use_sysroot makes cgo take headers and archives from a folder of tools/dist/sysroot, and from nowhere else.
use_sysroot() {
  export PKG_CONFIG_SYSROOT_DIR=$1 PKG_CONFIG_LIBDIR=$1/usr/lib/$triplet/pkgconfig:$1/usr/share/pkgconfig
  export CGO_CFLAGS="-O2 -g -I$1/usr/include -I$1/usr/include/$triplet" CGO_LDFLAGS="-L$1/usr/lib/$triplet"
}

# debian prints where the machine gets an archive of Debian from: debian, debian-security. BRINE_DEBIAN is another place, without
# the name of the archive at its end; elsewhere than on Debian it must be set.
debian() {
  local site=${BRINE_DEBIAN:+$BRINE_DEBIAN/$1}
  [ -n "$site" ] || site=$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep "/$1/*\$" | head -n 1) || true
  [ -n "$site" ] || { echo "no mirror of $1 is known: set BRINE_DEBIAN to the address before /debian and /debian-security" >&2; return 1; }
  echo "$site"
}

# sysroot_of prints the folder that tools/dist/sysroot fills for an architecture of Debian.
sysroot_of() {
  echo "${BRINE_DIST_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/brine/dist}/bookworm-$1"
}
