#!/usr/bin/env bash
# What packaging/prove.sh runs in each root: `prepare` fetches, `prove` tries. A failed step ends it.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
cd /prove
config=/etc/tarry/tarry.toml
server=

# The package of the library: its name has the ABI's version.
library() { basename "$(echo ./libtarry[0-9]*.deb)" | sed 's/_.*//'; }
say() { echo "  $*"; }
fail() { echo "  FAILED: $*" >&2; exit 1; }

# Every path that a purge should remove again, and no log or cache of dpkg's.
paths() {
  find / -xdev \( -path /proc -o -path /prove -o -path /tmp -o -path /var/lib/dpkg \
    -o -path /var/cache -o -path /var/log -o -path /root -o -path /run \) -prune -o -print | sort
}

# As the unit says: its user, umask and command, no privileges to gain.
start() {
  local command
  command=$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/tarry.service)
  (umask 0077; cd /; exec setpriv --reuid=tarry --regid=tarry --init-groups --no-new-privs \
    --bounding-set=-all $command) >>/prove/log 2>&1 &
  server=$!
  until tarry health >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null || { tail -n 3 /prove/log; fail "the server ended"; }
  done
}
scheduled() { tarry queue info orders -o json | sed 's/.*"scheduled":\([0-9]*\).*/\1/'; }

if [ "$1" = prepare ]; then
  apt-get update -qq
  # The packages' dependencies alone, so that `prove` needs no network.
  apt-get install -qq -y --no-install-recommends ./tarry_*.deb ./libtarry[0-9]*.deb \
    ./libtarry-dev_*.deb ./tarry-relay-modules_*.deb >/dev/null 2>/prove/apt.err ||
    { cat /prove/apt.err; fail "apt-get install"; }
  tarry version | sed 's/^/  /'
  dpkg --purge libtarry-dev tarry-relay-modules tarry "$(library)" \
    >/dev/null
  exit
fi

paths >/tmp/before
dpkg -i ./tarry_*.deb ./libtarry[0-9]*.deb ./libtarry-dev_*.deb >/dev/null
dpkg --verify tarry || fail "dpkg --verify"
if command -v systemd-analyze >/dev/null; then
  said=$(systemd-analyze verify --man=no /usr/lib/systemd/system/tarry.{service,socket} 2>&1) || true
  [ -z "$said" ] || fail "systemd-analyze verify: $said"
  say "systemd-analyze verify is silent"
fi
[ "$(stat -c '%U %a' /var/lib/tarry)" = "tarry 700" ] || fail "/var/lib/tarry"

# A store of version 0.1, before and after its upgrade. What is scheduled there is due in 2090.
cp -r old/store/. /var/lib/tarry/
chown -R tarry:tarry /var/lib/tarry
start
before=$(scheduled)
[ "$before" -gt 5 ] || fail "of a store of version 0.1: $before scheduled"
kill "$server"; wait "$server" || fail "SIGTERM: exit $?"
tarry --store file:/var/lib/tarry store upgrade >/dev/null || fail "store upgrade"
tarry --store file:/var/lib/tarry store check --deep >/dev/null || fail "store check, upgraded"
start
[ "$(scheduled)" = "$before" ] || fail "upgraded: $(scheduled) of $before"
kill "$server"; wait "$server"
find /var/lib/tarry -mindepth 1 -delete
say "a store of version 0.1: $before scheduled, upgraded, all there"

start
for number in $(seq 10000); do
  echo "{\"key\":\"order:$number\",\"payload\":\"a lamp\",\"delay\":\"1h\"}"
done | tarry push orders --jsonl - >/dev/null
[ "$(scheduled)" = 10000 ] || fail "10000 messages were pushed"
kill -9 "$server"; wait "$server" 2>/dev/null || true
start
[ "$(scheduled)" = 10000 ] || fail "after kill -9: $(scheduled) of 10000"
tarry cancel orders order:1 >/dev/null
tarry push orders kettle --key now --in 0s >/dev/null
tarry claim orders -o json --wait 10s | grep -q '"key":"now"' || fail "claim"
say "10,000 messages, kill -9, restart: all there; cancelled, claimed"

said=$(tarry serve --store memory: 2>&1) && fail "a second server got the port"
grep -q 7733 <<<"$said" || fail "port taken: $said"
say "port taken: $(tail -n 1 <<<"$said")"
cp "$config" /tmp/good
echo 'max_boddy = "1MiB"' >>"$config"
said=$(dpkg -i --force-confold ./tarry_*.deb 2>&1) || fail "install over a wrong configuration: $said"
grep -q 'was not started or restarted' <<<"$said" || fail "wrong configuration: $said"
say "wrong configuration: $(grep '^tarry: ' <<<"$said" | sed -n 2p)"
kill -0 "$server" || fail "the old server ended"
[ "$(scheduled)" = 9999 ] || fail "the old server answers no more"
code=0; tarry serve --config "$config" >/dev/null 2>&1 || code=$?
[ "$code" = 2 ] || fail "wrong configuration: exit $code"
cp /tmp/good "$config"
cp -p /var/lib/tarry/STORE /tmp/good-STORE
cat newer-STORE >/var/lib/tarry/STORE
said=$(dpkg -i ./tarry_*.deb 2>&1) || fail "install over a newer store: $said"
say "newer store: $(grep '^tarry: ' <<<"$said" | sed -n 2p)"
grep -q 'version 99' <<<"$said" || fail "newer store: $said"
cat /tmp/good-STORE >/var/lib/tarry/STORE
said=$(dpkg -i ./tarry_*.deb 2>&1)
! grep -q '^tarry: ' <<<"$said" || fail "all is well again, and yet: $said"
kill "$server"; wait "$server" || fail "SIGTERM: exit $?"
tarry --store file:/var/lib/tarry store check --deep >/dev/null || fail "store check"

said=$(dpkg --purge libtarry-dev "$(library)" tarry 2>&1)
[ -d /var/lib/tarry/shard-000 ] || fail "purge removed the store"
grep -q 'kept /var/lib/tarry' <<<"$said" || fail "purge says nothing of the store: $said"
say "purge kept the store; $(grep '^tarry: ' <<<"$said")"
dpkg -i ./tarry_*.deb >/dev/null 2>&1
start
[ "$(scheduled)" = 9999 ] || fail "after purge and install: $(scheduled)"
kill "$server"; wait "$server"
TARRY_PURGE_DATA=yes dpkg --purge tarry >/dev/null 2>&1
paths >/tmp/after
left=$(diff /tmp/before /tmp/after | grep '^[<>]' | grep -vE ' /etc/(passwd|group|g?shadow|sub[ug]id)-?$' || true)
[ -z "$left" ] || fail "left behind: $left"
! getent passwd tarry >/dev/null || fail "the user is left behind"
say "purge with TARRY_PURGE_DATA=yes left nothing behind"

tar -xzf ./tarry-*-linux-*.tar.gz -C /tmp
program=$(echo /tmp/tarry-*/bin/tarry)
"$program" --store file:/tmp/shop push q x --in 0s >/dev/null
"$program" --store file:/tmp/shop claim q --wait 10s -o json | grep -q '"payload":"x"'
# Away with the libraries that relays load: the error names the package of the one that is missing.
dpkg --purge --force-depends librdkafka1 >/dev/null 2>&1
said=$(timeout 20 "$program" relay q --store file:/tmp/shop --to 'kafka://127.0.0.1/t' 2>&1) &&
  fail "a relay to Kafka without its library"
grep -q 'package librdkafka1' <<<"$said" || fail "a missing library: $said"
say "tarball: push and claim; $(tail -n 1 <<<"$said")"
