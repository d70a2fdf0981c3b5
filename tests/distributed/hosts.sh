#!/usr/bin/env bash
# Hosts of our own: tests/distributed/hosts.sh [HOSTS [SECONDS [ROWS]]]. Network namespaces, each
# with a link to a switch, which tc holds to 1 Gbit/s a direction and, where the kernel has netem,
# delays by 1 ms. On each of them one rank, bound to a core, over TCP; `ambit bench --distributed`
# measures, and says beside it what its model predicts for such a network. Wants root, iproute2 and
# Open MPI; says `skipped` where they are not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
hosts=${1:-2} seconds=${2:-1} rows=${3:-} rate=1Gbit/s
bench=${AMBIT_TOOL:-$PWD/build/release/bin/ambit}
skip() {
  echo "skipped: $*"
  exit 0
}
for program in ip tc mpirun unshare taskset; do
  command -v "$program" >/dev/null || skip "no $program"
done
[[ -x $bench ]] || skip "no $bench"

# Names of this run alone: all goes with the namespaces, which go when the script ends.
switch=ambit$$-switch
address() { echo "10.77.0.$1"; }
namespace() { echo "ambit$$-$(address "$1")"; }
scratch=$(mktemp -d)
clean() {
  [[ -z ${run-} ]] || kill "$run" 2>/dev/null || true
  for ((h = 1; h <= hosts; ++h)); do
    ip netns pids "$(namespace "$h")" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns delete "$(namespace "$h")" 2>/dev/null || true
  done
  ip netns delete "$switch" 2>/dev/null || true
  rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 1' INT TERM
ip netns add "$switch" 2>"$scratch/error" || skip "no network namespaces: $(cat "$scratch/error")"
ip -n "$switch" link add bridge type bridge 2>"$scratch/error" || skip "no bridge: $(cat "$scratch/error")"
ip -n "$switch" link set bridge up

# By htb, since tbf reaches half of it in pieces this small; with bursts that are short beside the
# least bucket that is measured, 65 KB.
shape() { # NAMESPACE DEVICE
  ip netns exec "$1" tc qdisc add dev "$2" root handle 1: htb default 1 r2q 10000
  ip netns exec "$1" tc class add dev "$2" parent 1: classid 1:1 htb rate 1gbit burst 16kb cburst 16kb
  ip netns exec "$1" tc qdisc add dev "$2" parent 1:1 netem delay 1ms limit 10000 2>/dev/null
}
latency=1ms
for ((h = 1; h <= hosts; ++h)); do
  name=$(namespace "$h")
  ip netns add "$name"
  ip link add eth0 netns "$name" type veth peer name "port$h" netns "$switch" 2>"$scratch/error" ||
    skip "no veth: $(cat "$scratch/error")"
  ip -n "$switch" link set "port$h" master bridge up
  ip -n "$name" addr add "$(address "$h")/24" dev eth0
  ip -n "$name" link set lo up
  ip -n "$name" link set eth0 up
  shape "$name" eth0 || latency=10us
done
[[ $latency == 1ms ]] ||
  echo "this kernel has no netem: the links have their own latency, about $latency one way"

# What mpirun has in the place of ssh: HOST COMMAND... Each host has a name and a core of its own.
cat >"$scratch/agent" <<AGENT
#!/usr/bin/env bash
host=\$1 number=\${1##*.}
shift
exec ip netns exec "ambit$$-\$host" unshare --uts bash -c "hostname host\$number &&
  exec taskset -c \$(((number - 1) % $(nproc))) bash -c \"\\\$*\"" - "\$@"
AGENT
chmod +x "$scratch/agent"
list=$(for ((h = 1; h <= hosts; ++h)); do address "$h"; done | paste -sd,)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# mpirun is on a host, too, the first; its own rank is started as the others are.
# shellcheck disable=SC2054 # commas of mpirun
launcher=(timeout --foreground -k 5 300 mpirun -n "$hosts" -H "$list" --bind-to none
  --mca plm_rsh_agent "$scratch/agent" --mca btl tcp,self
  --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0)
ip netns exec "$(namespace 1)" unshare --uts taskset -c 0 bash -c 'hostname host1 && exec "$@"' - \
  "${launcher[@]}" "$bench" bench --distributed --seconds "$seconds" --filter "$rows" \
  --model "$hosts,$rate,$latency" &
run=$! # in the background, so that who ends the script ends it, too
wait "$run"
