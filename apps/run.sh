#!/usr/bin/env bash
# Set up, build and run a program of this folder: apps/run.sh <name> [arguments of the program...]
set -euo pipefail
here=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
name=${1:?usage: apps/run.sh <name> [arguments...]; the names are folders of apps/, or zoo/<name>}
shift
trap 'echo "$name: failed at: $BASH_COMMAND" >&2' ERR

echo "== packages"
bash cmake/packages.sh
echo "== configure"
cmake --preset release
echo "== build"
cmake --build --preset release --parallel "$(nproc)" --target "${name//\//_}_app"
echo "== run"
# Relative paths in the arguments refer to the caller's folder.
cd "$here"
exec "$root/build/release/bin/$name" "$@"
