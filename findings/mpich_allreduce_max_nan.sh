#!/usr/bin/env bash
# MPICH's MPI_Allreduce returns different values on different ranks when one rank holds a NaN, for
# the first four calls.
#
# Run: MPICH 5.0.2 (the PyPI wheel) with 2 and 3 processes on one host. One rank passes NaN, the
#   others pass 1. The same MPI_Allreduce of one float with MPI_MAX is called eight times.
# Seen, 2 processes, NaN on rank 0: rank 0 receives 1 in all calls; rank 1 receives NaN four times,
#   and from the fifth call on 1. With NaN on rank 1 each rank receives what the other passed, four
#   times; from the fifth call on both receive NaN. With 3 processes, only rank 2 receives the NaN.
# Why it surprises: the MPI standard requires that all processes of an allreduce receive identical
#   results. Here each rank first combines its own value with the received one by itself, with a
#   comparison that is false for NaN: which value survives depends on the side that it comes from.
#   After four collective calls MPICH changes to shared memory (MPIR_CVAR_POSIX_NUM_COLLS_THRESHOLD
#   sets the number), and one rank seems to combine for all, so that the same call with the same
#   data gives another result.
# For a framework: the maximum of gradient norms, or of flags for infinite gradients, is a usual
#   allreduce. If ranks disagree, one skips a step that another makes, and the replicas diverge.
#   Reduce an integer flag for NaN and the maximum.
# Needs: a C compiler.
set -euo pipefail
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
python3 -m venv "$tmp/venv"
"$tmp/venv/bin/pip" install -q --no-compile mpich==5.0.2

cat > "$tmp/recorded" <<'TXT'
2 processes, NaN on rank 0, rank 0 receives: 1 1 1 1 1 1 1 1
2 processes, NaN on rank 0, rank 1 receives: NaN NaN NaN NaN 1 1 1 1
2 processes, NaN on rank 1, rank 0 receives: NaN NaN NaN NaN NaN NaN NaN NaN
2 processes, NaN on rank 1, rank 1 receives: 1 1 1 1 NaN NaN NaN NaN
3 processes, NaN on rank 0, rank 0 receives: 1 1 1 1 1 1 1 1
3 processes, NaN on rank 0, rank 1 receives: 1 1 1 1 1 1 1 1
3 processes, NaN on rank 0, rank 2 receives: NaN NaN NaN NaN 1 1 1 1
TXT

cat > "$tmp/experiment.c" <<'C'
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCalls = 8 };

int main(int argc, char** argv) {
  int rank, size;
  float results[kCalls], all[kCalls * 8];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  float value = rank == atoi(argv[1]) ? NAN : 1;
  for (int call = 0; call < kCalls; ++call)
    MPI_Allreduce(&value, &results[call], 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Gather(results, kCalls, MPI_FLOAT, all, kCalls, MPI_FLOAT, 0, MPI_COMM_WORLD);
  for (int r = 0; rank == 0 && r < size; ++r) {
    printf("%d processes, NaN on rank %s, rank %d receives:", size, argv[1], r);
    for (int c = 0; c < kCalls; ++c) printf(" %s", isnan(all[r * kCalls + c]) ? "NaN" : "1");
    printf("\n");
  }
  MPI_Finalize();
}
C
"$tmp/venv/bin/mpicc" -O1 "$tmp/experiment.c" -o "$tmp/experiment" -lm
{
  "$tmp/venv/bin/mpiexec" -n 2 "$tmp/experiment" 0
  "$tmp/venv/bin/mpiexec" -n 2 "$tmp/experiment" 1
  "$tmp/venv/bin/mpiexec" -n 3 "$tmp/experiment" 0
} | tee "$tmp/seen"
diff "$tmp/recorded" "$tmp/seen" || { echo "Changed: < recorded, > seen"; exit 1; }
echo "As recorded."
