#!/usr/bin/env bash
# packaging/prove_aarch64.sh [OUT [ROOT]]: builds for aarch64 on this machine, in a fresh root of
# Debian 12, makes of the build what scripts/release makes, and tries the program under QEMU: it
# pushes, claims and settles, and another process finds what the first one left.
#
# The files go to OUT (default: build/release-aarch64). ROOT is a directory that debootstrap made;
# it is changed. Without one, a root is made in /var/tmp and removed. Builds the commit that is
# checked out. Needs root, a network for apt, and debootstrap.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-build/release-aarch64}")
root=${2:-}

tidy_up() {
  umount --lazy "$root/proc" 2>/dev/null || true
  [ -z "${made:-}" ] || rm -rf --one-file-system "$made"
}
trap tidy_up EXIT
if [ -z "$root" ]; then
  made=$(mktemp -d /var/tmp/tarry-aarch64.XXXXXX)
  root=$made/root
  debootstrap --variant=minbase bookworm "$root" >"$made/log"
fi
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf "$root/tarry"
git clone -q "file://$PWD" "$root/tarry"

inside() {
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C \
    DEBIAN_FRONTEND=noninteractive bash -euo pipefail -c "cd /tarry; $1"
}

foreign=(libboost1.81-dev libboost-json1.81-dev libxxhash-dev libfmt-dev libspdlog-dev
         libhiredis-dev libssl-dev librabbitmq-dev libcurl4-openssl-dev librdkafka-dev
         libzookeeper-mt-dev)
echo "== packages"
inside "dpkg --add-architecture arm64; apt-get update -qq
  apt-get install -qq --no-install-recommends crossbuild-essential-arm64 qemu-user-static cmake \
    ninja-build libcli11-dev libtomlplusplus-dev tzdata ca-certificates python3 git nodejs npm \
    ${foreign[*]/%/:arm64} >/dev/null 2>&1"
echo "== build"
inside "cmake --preset portable-aarch64 -DTARRY_COMMIT=$(git rev-parse HEAD) >/dev/null
  cmake --build --preset portable-aarch64 --target tarry_installed -j ${TARRY_JOBS:-$(nproc)} |
    tail -n 1"
echo "== packages of it"
inside "rm -rf /out; scripts/release --build build/portable-aarch64 --out /out --image"
mkdir -p "$out"
cp "$root"/out/* "$out"

echo "== tried under QEMU"
inside '
cd "$(mktemp -d)"
tar -xzf /out/tarry-*-linux-aarch64.tar.gz --strip-components=1
readelf -h bin/tarry | grep -q AArch64
newest=$(readelf -V bin/tarry | grep -o "GLIBC_[0-9.]*" | sort -uV | tail -n 1)
echo "  needs $newest or newer"
[ "$(printf "%s\n" "$newest" GLIBC_2.34 | sort -V | tail -n 1)" = GLIBC_2.34 ]
tarry() { qemu-aarch64-static bin/tarry --store file:store "$@"; }
tarry version | sed "s/^/  /"
tarry push orders --key 42 --in 1s "{\"order\": 42}" -o json >/dev/null 2>&1
tarry push orders --key 43 --in 1h "{\"order\": 43}" -o json >/dev/null
receipt=$(tarry claim orders --wait 1m -o json | sed -n "s/.*\"receipt\":\"\([^\"]*\)\".*/\1/p")
tarry ack orders "$receipt"
tarry cancel orders 43
tarry store check
'
echo "== all good: $out"
