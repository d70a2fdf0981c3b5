#!/usr/bin/env bash
# Loading Highway's shared library takes longer than the rest of a small program's start, because
# its initialisers measure timers that only its benchmarks use.
#
# Run: Debian 12's libhwy1 1.0.3-3+deb12u1 and libjxl0.7, which is linked with it; x86-64. An empty
#   program is linked with no library, with libhwy, with libjxl and with libbrotlienc, which is
#   larger than libhwy and only has tables to load. Each is started 60 times in turn; compared are
#   the medians of the CPU time.
# Seen: on a Zen CPU with AVX2 the empty program takes 1.4 ms, with libbrotlienc 1.4, with libhwy
#   4.8 and with libjxl 5.4. Of the instructions that run in libhwy before main, nearly all belong
#   to the measurement of the timer's resolution (hwy::platform::TimerResolution) and the sorting of
#   its samples.
# Why it surprises: a program needs three short functions of this library, which read the CPU's
#   features. It calls none of the benchmark's functions, and main has not begun. Programs that
#   reach the library indirectly, through libjxl in image libraries, pay as well.
# For a framework: compile Highway's detection of targets into the library instead of linking libhwy,
#   and measure the start of an empty program that is linked with each dependency.
# CPU: x86-64. Needs Debian 12's packages, g++ and Python.
set -euo pipefail
[[ $(uname -m) == x86_64 ]] || { echo "Only measured on x86-64."; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd "$tmp" && apt-get -q -o APT::Sandbox::User=root download \
  libhwy1=1.0.3-3+deb12u1 libjxl0.7=0.7.0-10+deb12u1 libbrotli1=1.0.9-2+deb12u1 \
  liblcms2-2=2.14-2+deb12u1 > log)
for package in "$tmp"/*.deb; do dpkg -x "$package" "$tmp/root"; done
library="$tmp/root/usr/lib/x86_64-linux-gnu"

echo 'int main() {}' > "$tmp/empty.cpp"
for name in none libhwy.so.1 libjxl.so.0.7 libbrotlienc.so.1; do
  linked=()
  [[ $name == none ]] || linked=("$library/$name" -Wl,-rpath,"$library" -Wl,-rpath-link,"$library")
  g++ -O1 "$tmp/empty.cpp" -o "$tmp/empty_$name" -Wl,--no-as-needed "${linked[@]}" \
    -Wl,--disable-new-dtags
done

cat > "$tmp/recorded" <<'TXT'
libbrotlienc.so.1 adds more than 1.5 ms: False
libhwy.so.1 adds more than 1.5 ms: True
libjxl.so.0.7 adds more than 1.5 ms: True
libhwy.so.1 more than doubles the start: True
TXT

cat > "$tmp/experiment.py" <<'PY'
import os
import statistics
import sys

folder = sys.argv[1]
names = ["none", "libbrotlienc.so.1", "libhwy.so.1", "libjxl.so.0.7"]


def started(name):
    """Return the CPU time of one start in milliseconds."""
    child = os.posix_spawn(f"{folder}/empty_{name}", [name], {})
    usage = os.wait4(child, 0)[2]
    return 1e3 * (usage.ru_utime + usage.ru_stime)


times = {name: [] for name in names}
for _ in range(60):
    for name in names:
        times[name].append(started(name))
medians = {name: statistics.median(times[name]) for name in names}
print("CPU time of a start in ms:", {n: round(m, 2) for n, m in medians.items()}, file=sys.stderr)
for name in names[1:]:
    print(f"{name} adds more than 1.5 ms: {medians[name] - medians['none'] > 1.5}")
ratio = medians["libhwy.so.1"] / medians["none"]
print(f"libhwy.so.1 more than doubles the start: {ratio > 2}")
PY
python3 "$tmp/experiment.py" "$tmp" | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
