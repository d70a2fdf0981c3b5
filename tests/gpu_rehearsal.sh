#!/usr/bin/env bash
# Rehearse tests/gpu.sh without a GPU, as root, with debootstrap and a network:
#   tests/gpu_rehearsal.sh FOLDER PART...
# on a bare Debian 12 in FOLDER with a compiler, CMake, Python, this machine's CUDA toolkit, and cuDNN
# in the folder of Python's wheel; ambit's packages are passed by --deps. The GPU is CUDA on the host
# without its checks, from build/release/cuda_host of this machine, because `build` does not build it.
# Nothing is written into this tree: the files of `build` are in FOLDER/changes, where later parts and
# an interrupted `build` find them. Parts without `build` use this machine's build. compute-sanitizer
# and speed have no results; tests of the suite that fill a GPU's memory or use the real cuDNN fail.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(realpath -m -- "${1:?expected a folder}")
shift
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
system=$folder/system

if [[ ! -d $folder/packages ]]; then
  bash "$root/tests/gpu_packages.sh" "$folder/packages"
fi
if [[ ! -d $system/usr/local/cuda ]]; then
  debootstrap --variant=minbase --include=g++,cmake,ninja-build,python3 bookworm "$system"
  cp -a "$cuda/." "$system/usr/local/cuda"
  wheel=$(chroot "$system" python3 -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  mkdir -p "$system$wheel/nvidia/cudnn/lib" "$system$wheel/nvidia/cudnn/include"
  find "$system/usr/local/cuda/" -name 'libcudnn*.so.9' -exec mv -t "$system$wheel/nvidia/cudnn/lib" {} +
  find "$system/usr/local/cuda/" -name 'cudnn*.h' -exec mv -t "$system$wheel/nvidia/cudnn/include" {} +
  find "$system/usr/local/cuda/" \( -name '*cudnn*' -o -name '*nccl*' \) ! -type d -delete
  cat >"$system/usr/local/bin/nvidia-smi" <<'SMI'
#!/bin/sh
case "$*" in
  *compute_cap*) echo 9.0 ;;
  *) echo "CUDA on the host" ;;
esac
SMI
  chmod +x "$system/usr/local/bin/nvidia-smi"
fi

mkdir -p "$folder/changes" "$folder/work" "$system$root" "$system/packages" "$system/cuda_host"
unshare -m bash -euc '
  system=$1 folder=$2 root=$3
  shift 3
  mount -t overlay overlay "$system$root" \
    -o "lowerdir=$root,upperdir=$folder/changes,workdir=$folder/work"
  mount --bind "$folder/packages" "$system/packages"
  mount --bind "$root/build/release/cuda_host" "$system/cuda_host"
  mount -t proc proc "$system/proc"
  mount --rbind /dev "$system/dev"
  mount --rbind /sys "$system/sys"
  # Hide the build of this machine, but keep that of an earlier rehearsal.
  if [[ " $* " == *" build "* && ! -f $folder/changes/build/release/CMakeCache.txt ]]; then
    rm -rf "$system$root/build/release"
  fi
  exec chroot "$system" env -i PATH=/usr/local/cuda/bin:/usr/local/bin:/usr/bin:/bin HOME=/root \
    AMBIT_LIMIT_FACTOR=20 AMBIT_BACKEND_PATH=/cuda_host LD_LIBRARY_PATH=/cuda_host:/cuda_host/nccl \
    AMBIT_CUDA_HOST_CHECKS=0 bash "$root/tests/gpu.sh" --deps /packages --logs /root/logs "$@"
' rehearsal "$system" "$folder" "$root" "$@"
