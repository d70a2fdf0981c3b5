#!/usr/bin/env bash
# Test that CUDA on the host finds mistakes in the CUDA backend: tests/cuda/host/faults/run.sh
# <build folder> [<name>...]. Each .patch here plants one in a copy of the sources; files that
# include the patched file are compiled, and linked with the rest of the build folder's plugin. The
# command in the head of the patch must then fail and print the text in the head; without any fault
# all commands must pass. Names are those of patches; by default all are tried. The build folder
# must be a complete build by Ninja.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(realpath "$here/../../../..")
build=$(realpath -e -- "${1:?expected a build folder}")
shift
work=$build/cuda_faults
copy=$work/source
plugin=$work/cuda_host
export PATH=$build/bin:$PATH AMBIT_SIM=sim:1

patches=()
for name in "$@"; do
  patches+=("$(realpath -e -- "$here/$name.patch")")
done
((${#patches[@]} > 0)) || patches=("$here"/*.patch)

rm -rf "$work"
mkdir -p "$copy" "$plugin"
for folder in core nn backends tests; do cp -r "$root/$folder" "$copy"; done
ln -s "$build"/cuda_host/lib{ambit_cuda_host.so,cublas.so.13,cublasLt.so.13,cudnn.so.9,cusolver.so.12} \
  "$plugin"
cd "$build"
ninja -t commands cuda_host/libambit_cuda.so >"$work/commands"
ninja -t deps >"$work/deps"

# make <file>: build the plugin with the copy's version of a file of the backend.
make() {
  local objects link object command out
  objects=$(awk -v file="/$1" '
    /^[^ ]/ { object = $1; sub(/:$/, "", object) }
    /^ / && substr($0, length($0) - length(file) + 1) == file { print object }' "$work/deps" |
    grep -E '/ambit_cuda_(on_host|host_kernels)\.dir/' | sort -u)
  link=$(tail -n 1 "$work/commands")
  rm -rf "$work/objects"
  mkdir "$work/objects"
  : >"$work/compile"
  for object in $objects; do
    out=$work/objects/$(basename "$object")
    command=$(grep -F -- " -o $object -c " "$work/commands")
    command=${command//$root/$copy}
    printf '%s\0' "${command//$object/$out}" >>"$work/compile"
    link=${link//$object/$out}
  done
  xargs -0 -r -P "$(nproc)" -I{} bash -c {} <"$work/compile" &&
    bash -c "${link//cuda_host\/libambit_cuda.so/$plugin/libambit_cuda.so}"
}
# field <patch> <name>: print the value in the patch's head.
field() { sed -n "/^--- /q; s/^$2: //p" "$1"; }
# try <folder of the plugin> <command>: return its exit code; the output is in a file.
try() {
  local code=0
  (ulimit -c 0; AMBIT_BACKEND_PATH=$1 timeout 900 env $2) >"$work/log" 2>&1 || code=$?
  echo "$code"
}

failed=0
wrong() {
  echo "$1" && tail -n 8 "$work/log"
  failed=1
}
set -f # commands contain patterns that the shell must not expand
declare -A passes
for patch in "${patches[@]}"; do
  command=$(field "$patch" "Found by")
  [[ -z ${passes[$command]:-} ]] || continue
  passes[$command]=1
  [[ $(try "$build/cuda_host" "$command") == 0 ]] || wrong "without a fault: FAILED: $command"
done
for patch in "${patches[@]}"; do
  name=$(basename "$patch" .patch)
  file=$(sed -n 's/^--- a\///p' "$patch")
  says=$(field "$patch" Says)
  if ! patch -d "$copy" -p1 -F0 -s -f <"$patch" >"$work/log" 2>&1; then
    wrong "$name: does not apply"
  elif ! make "$file" >"$work/log" 2>&1; then
    wrong "$name: does not compile"
  else
    code=$(try "$plugin" "$(field "$patch" "Found by")")
    case $code in
      0) wrong "$name: NOT FOUND" ;;
      2 | 124 | 126 | 127) wrong "$name: the command itself failed ($code)" ;;
      *) if ! grep -qF -- "$says" "$work/log"; then
        wrong "$name: found, but expected it to say \"$says\""
      elif [[ -z $says ]] && grep -qF 'did not end within' "$work/log"; then
        wrong "$name: a case did not end, which may be the machine's fault"
      else
        echo "$name: found: $(grep -om 1 -E 'CUDA on the host: .*|ERROR: .*|^FAILED .*' \
          "$work/log" | cut -c -140)"
      fi ;;
    esac
  fi
  cp "$root/$file" "$copy/$file"
done
exit $failed
