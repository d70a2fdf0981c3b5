#!/usr/bin/env bash
# Ranks on simulated hosts: tests/distributed/hosts.sh [HOSTS [SECONDS [ROWS [LATENCY_US]]]]. The
# hosts are network namespaces; link.cpp carries packets between them, with 1 Gbit/s in each
# direction and a latency of 1 ms or LATENCY_US. One rank on each, bound to a core, uses TCP. `ambit
# bench --distributed` measures, and also prints the prediction of its model for such a network.
# Needs root, iproute2, /dev/net/tun and Open MPI; otherwise it prints `skipped`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
hosts=${1:-2} seconds=${2:-1} rows=${3:-} latency=${4:-1000} rate=1000000000
bench=${AMBIT_TOOL:-$PWD/build/release/bin/ambit} link=${AMBIT_LINK:-$PWD/build/release/bin/ambit_link}
skip() {
  echo "skipped: $*"
  exit 0
}
for program in ip mpirun unshare taskset "$bench" "$link"; do
  command -v "$program" >/dev/null || skip "no $program"
done

# Names of this run only: the namespaces disappear with the script.
address() { echo "10.77.0.$1"; }
namespace() { echo "ambit$$-$(address "$1")"; }
device() { echo "ambit$$-$1"; }
scratch=$(mktemp -d)
clean() {
  [[ -z ${run-} ]] || kill "$run" 2>/dev/null || true
  for ((h = 1; h <= hosts; ++h)); do
    ip netns pids "$(namespace "$h")" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
    ip netns delete "$(namespace "$h")" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap clean EXIT
trap 'exit 1' INT TERM
coproc LINK { # it ends with this script
  # shellcheck disable=SC2046 # names without blanks
  exec "$link" "$rate" "$latency" $(for ((h = 1; h <= hosts; ++h)); do device "$h"; done) 2>&1
}
read -r answer <&"${LINK[0]}" || true
[[ $answer == ready ]] || skip "no TUN devices: $answer"
for ((h = 1; h <= hosts; ++h)); do
  name=$(namespace "$h")
  ip netns add "$name" 2>"$scratch/error" || skip "no network namespaces: $(cat "$scratch/error")"
  ip link set "$(device "$h")" netns "$name"
  ip -n "$name" link set lo up
  ip -n "$name" link set "$(device "$h")" name eth0 mtu 9000 up
  ip -n "$name" addr add "$(address "$h")/24" dev eth0
  # Between two steps TCP must not restart slowly.
  ip netns exec "$name" sh -c 'echo 0 >/proc/sys/net/ipv4/tcp_slow_start_after_idle'
done

# Replaces ssh for mpirun: HOST COMMAND... Each host has a name and a core.
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
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}  # as in mpirun.sh
# mpirun runs on the first host, and starts its own rank like the others. Messages are sent without
# waiting for a receiver's answer, which would cost two latencies.
# shellcheck disable=SC2054 # commas of mpirun
launcher=(timeout --foreground -k 5 300 mpirun -n "$hosts" -H "$list" --bind-to none
  --mca plm_rsh_agent "$scratch/agent" --mca btl tcp,self
  --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include eth0
  --mca btl_tcp_eager_limit 1048576 --mca btl_tcp_rndv_eager_limit 1048576)
ip netns exec "$(namespace 1)" unshare --uts taskset -c 0 bash -c 'hostname host1 && exec "$@"' - \
  "${launcher[@]}" "$bench" bench --distributed --seconds "$seconds" \
  --filter "$rows" --model "$hosts,1Gbit/s,${latency}us" &
run=$! # in the background, so that a signal to the script ends it, too
wait "$run"
