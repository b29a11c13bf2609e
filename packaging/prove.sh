#!/usr/bin/env bash
# packaging/prove.sh DIR [ROOT...]: tries the packages and the tarball of DIR (scripts/release) in
# fresh roots of Debian 12 and 13. Installs, opens and upgrades a store of version 0.1, starts the
# service's command as its unit says, pushes 10,000 messages, kills it with SIGKILL, starts it again,
# tries wrong configurations, and purges.
#
# ROOT is a directory that debootstrap made, of Debian or Ubuntu; without one, roots are made in
# /var/tmp and removed. Each root stays as it is: all happens in an overlay. Needs root, a network
# for apt, and debootstrap.
# The server listens in a network namespace of its own.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] && [ -f "$1/SHA256SUMS" ] || { sed -n '2,10s/^# //p' "$0" >&2; exit 2; }
out=$(cd "$1" && pwd)
shift
scratch=$(mktemp -d /var/tmp/tarry-prove.XXXXXX)

tidy_up() {
  for place in "$scratch"/*/merged; do
    for each in proc ""; do
      if mountpoint -q "$place/$each"; then umount --lazy "$place/$each"; fi
    done
  done
  rm -rf --one-file-system "$scratch"
}
trap tidy_up EXIT

roots=("$@")
if [ ${#roots[@]} = 0 ]; then
  for suite in bookworm trixie; do
    debootstrap --variant=minbase "$suite" "$scratch/$suite-root" >"$scratch/$suite.log"
    roots+=("$scratch/$suite-root")
  done
fi

for root in "${roots[@]}"; do
  name=$(. "$root/etc/os-release" && echo "$VERSION_CODENAME")
  mkdir -p "$scratch/$name"/{upper,work,merged}
  merged=$scratch/$name/merged
  mount -t overlay overlay -o \
    "lowerdir=$root,upperdir=$scratch/$name/upper,workdir=$scratch/$name/work" "$merged"
  mount -t proc proc "$merged/proc"
  cp /etc/resolv.conf "$merged/etc/resolv.conf"
  mkdir "$merged/prove"
  cp "$out"/* "$here/prove_inside.sh" "$merged/prove/"
  cp -r "$here/../tests/golden/journal-v1" "$merged/prove/old"
  python3 "$here/newer_store.py" "$here/../tests/golden/journal-v2/store/STORE" \
    "$merged/prove/newer-STORE"
  echo "== $name"
  # With a network: what the packages depend on.
  chroot "$merged" bash /prove/prove_inside.sh prepare
  # Without: everything else. Ends all its processes when it ends.
  unshare --mount --net --pid --fork --kill-child bash -c \
    "ip link set lo up; mount -t proc proc '$merged/proc';
     chroot '$merged' bash /prove/prove_inside.sh prove"
  umount "$merged/proc" 2>/dev/null || true
  echo "== $name: all good"
done
