#!/usr/bin/env bash
# Fill a folder with the Debian packages that ambit is built with, and with those that they need, for
# a machine that reaches no package manager: tests/gpu_packages.sh FOLDER, and there tests/gpu.sh
# --deps FOLDER. What every machine with a compiler has is left out.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:?expected a folder}
mkdir -p "$folder"
cd "$folder"

mapfile -t wanted < <(bash "$root/cmake/packages.sh" --print |
  grep -vxE 'g\+\+|cmake|ninja-build|curl|ca-certificates')
mapfile -t needed < <(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts \
  --no-breaks --no-replaces --no-enhances "${wanted[@]}" | grep '^[a-z]' | sort -u |
  grep -vE '^(libc6|libc-|gcc-|libgcc|libgomp|libstdc|linux-|libcrypt|libnsl|libtirpc|rpcsvc|libk|libgssapi|libcom)')
apt-get -q download "${needed[@]}"
du -sh .
