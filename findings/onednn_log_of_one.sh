#!/usr/bin/env bash
# oneDNN 2.6.3 computes log(1) as -1.4e-6 where it has AVX2, and log of subnormals 4 % off.
#
# Run: Debian 12's libdnnl 2.6.3-1, eltwise_log in float32, with the kernels for AVX2 and for
#   SSE4.1 (ONEDNN_MAX_CPU_ISA), compared with the C library's logf.
# Seen with AVX2: log(1) is -1.43e-6, log of the float below 1 is 25 times too large, log of the
#   float above 1 has the wrong sign. SSE4.1: log(1) is 0. Both give log(2) as 0.693145752, which
#   is 24 units in the last place too low, and log(1e-40) as -88.02 instead of -92.10.
# Why it surprises: log(1) = 0 is exact in every C library, and the float32 inputs next to 1 are
#   where a loss ends up when training succeeds. A certain prediction costs 1.4e-6 instead of 0,
#   and the error relative to the true value has no bound. The result changes with the instruction
#   set.
# For a backend: compute log by the C library or from log1p; test log at 1 and its neighbours,
#   since an absolute tolerance of 1e-5 hides this.
# CPU: x86-64; with AVX2, which the script checks. Needs Debian 12's packages and g++.
set -euo pipefail
[[ $(uname -m) == x86_64 ]] || { echo "Only x86-64 has these kernels."; exit 2; }
grep -qw avx2 /proc/cpuinfo ||
  { echo "This CPU has no AVX2, on which the behaviour depends."; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd "$tmp" && apt-get -q -o APT::Sandbox::User=root download \
  libdnnl2=2.6.3-1 libdnnl-dev=2.6.3-1 > log)
for package in "$tmp"/*.deb; do dpkg -x "$package" "$tmp/root"; done

cat > "$tmp/recorded" <<'TXT'
AVX2: log(1) = -1.43051147e-06, logf 0
AVX2: log(0.99999994) = -1.49011612e-06, logf -5.96046448e-08
AVX2: log(1.00000012) = -1.31130219e-06, logf 1.19209282e-07
AVX2: log(2) = 0.693145752, logf 0.693147182
AVX2: log(9.9999461e-41) = -88.021225, logf -92.1034088
SSE41: log(1) = 0, logf 0
SSE41: log(0.99999994) = -5.96046448e-08, logf -5.96046448e-08
SSE41: log(1.00000012) = 1.19209282e-07, logf 1.19209282e-07
SSE41: log(2) = 0.693145752, logf 0.693147182
SSE41: log(9.9999461e-41) = -88.021225, logf -92.1034088
TXT

cat > "$tmp/experiment.cpp" <<'CPP'
#include <cmath>
#include <cstdio>
#include <dnnl.hpp>
using namespace dnnl;

int main(int, char** argv) {
  engine cpu(engine::kind::cpu, 0);
  stream queue(cpu);
  memory::desc one({1}, memory::data_type::f32, memory::format_tag::a);
  eltwise_forward::desc desc(prop_kind::forward_inference, algorithm::eltwise_log, one, 0, 0);
  eltwise_forward log(eltwise_forward::primitive_desc(desc, cpu));
  memory in(one, cpu), out(one, cpu);
  for (float x : {1.f, std::nextafter(1.f, 0.f), std::nextafter(1.f, 2.f), 2.f, 1e-40f}) {
    *static_cast<float*>(in.get_data_handle()) = x;
    log.execute(queue, {{DNNL_ARG_SRC, in}, {DNNL_ARG_DST, out}});
    queue.wait();
    float y = *static_cast<float*>(out.get_data_handle());
    std::printf("%s: log(%.9g) = %.9g, logf %.9g\n", argv[1], x, y, std::log(x));
  }
}
CPP
library="$tmp/root/usr/lib/x86_64-linux-gnu"
g++ -std=c++17 -O1 -I "$tmp/root/usr/include" "$tmp/experiment.cpp" -o "$tmp/experiment" \
  -L "$library" -Wl,-rpath,"$library" -ldnnl
for isa in AVX2 SSE41; do
  OMP_NUM_THREADS=1 ONEDNN_MAX_CPU_ISA=$isa "$tmp/experiment" $isa
done | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
