#!/usr/bin/env bash
# Check that every patch still applies to the sources, and that there are enough of them. run.sh
# builds the plugin once for each, and checks that they are found.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if ! command -v patch >/dev/null; then
  echo "skipped: no patch here"
  exit 0
fi
patches=("$here"/*.patch)
failed=0
for patch in "${patches[@]}"; do
  if ! patch -d "$here/../../../.." -p1 -F0 -s -f --dry-run <"$patch"; then
    echo "  ^ $(basename "$patch")"
    failed=1
  fi
done
if ((${#patches[@]} < 20)); then
  echo "expected 20 faults or more, got ${#patches[@]}"
  failed=1
fi
exit $failed
