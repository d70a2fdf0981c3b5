#!/usr/bin/env bash
# Set up, build and run the quickstart; arguments go to the program (--help lists them).
set -euo pipefail
here=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD
trap 'echo "quickstart: failed at: $BASH_COMMAND" >&2' ERR

echo "== packages"
bash cmake/packages.sh
echo "== configure"
cmake --preset release
echo "== build"
cmake --build --preset release --parallel "$(nproc)" --target quickstart_app
echo "== run"
# Where the caller stands: relative paths in the arguments mean what the caller means.
cd "$here"
exec "$root/build/release/bin/quickstart" "$@"
