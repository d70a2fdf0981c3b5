#!/usr/bin/env bash
# Check that no layer includes a higher one: layering_test.sh <source folder>
#   core <- backends, core <- nn <- apps; only backends hold device code.
set -euo pipefail
cd "$1"
status=0

# The bench compares ambit with these two libraries, each in one folder, where they are permitted.
allowed='^apps/bench/(floor/.*dnnl|libtorch/.*torch)'

# forbid <description> <extended regex> <folder>...: report every line that matches.
forbid() {
  local what=$1 regex=$2 folder
  shift 2
  for folder in "$@"; do
    [[ -e $folder ]] || continue
    if grep -rHnE --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' \
      -- "$regex" "$folder" | grep -vE "$allowed"; then
      echo "  ^ $what"
      status=1
    fi
  done
}

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]'
device_library='(cuda|cudnn|cublas|curand|nvrtc|cub/|dnnl|oneapi/|hip/|CL/)'
private_library="(fmt/|nlohmann/|hwy/|zlib|png\.h|google/protobuf|CLI/|$device_library)"

forbid "core includes nn, backends or apps" \
  "$include(.*/)?(nn|optim|data|backends|apps)/" core
forbid "core includes a header of nn" "${include}ambit/ambit\.h" core
forbid "nn includes backends or apps" "$include(.*/)?(backends|apps)/" nn
forbid "apps include more than <ambit/...>" "$include(.*/)?(core|nn/include|backends)/" apps
forbid "apps include project headers with quotes" '^[[:space:]]*#[[:space:]]*include[[:space:]]*"ambit/' apps
forbid "device code outside backends" "$include$device_library" core nn apps
forbid "libtorch outside of apps/bench/libtorch" "${include}(torch|ATen|c10)/" core backends nn apps
forbid "code that the bench compares ambit with includes ambit" "${include}ambit/" \
  apps/bench/floor apps/bench/libtorch
forbid "a public header includes a private library" "$include$private_library" \
  core/include backends/include nn/include
forbid "a quoted include that is relative neither to the file's folder nor to the root" \
  '^[[:space:]]*#[[:space:]]*include[[:space:]]*"\.\./' core backends nn tests
forbid "core names a backend, or the library of one" \
  '"(reference|sim|cuda)"|libambit_(sim|cuda|reference)' \
  core/autograd core/devices core/dispatch core/files core/memory core/ops core/tensor
forbid "a header for programs includes a header for backends" \
  "${include}ambit/backend/" core/include/ambit/*.h core/include/ambit/ops
forbid "core includes a header of backends" \
  "${include}ambit/backend/(arithmetic|functors|folds|optim_rule|reference)\.h" core
forbid "an #if on a device" \
  '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)[[:space:]].*([Cc][Uu][Dd][Aa]|NVCC|HIP|ROCM|SYCL|METAL|DNNL|GPU)' \
  nn apps
# The includes between the folders of core and of a backend must have no cycle.
folders() {
  grep -rnoE --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' \
    '#include "(core|backends)/[^"]+' core backends |
    sed -E 's#^([^:]+)/[^/:]+:[0-9]+:.include "(.*)/[^/]+$#\1 \2#' | sort -u
}
if ! cycle=$(folders | tsort 2>&1 >/dev/null); then
  echo "$cycle"
  echo "  ^ folders whose includes have a cycle"
  status=1
fi
exit $status
