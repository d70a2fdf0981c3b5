#!/usr/bin/env bash
# mpirun with a timeout after all of its ranks have ended: Debian 12's sometimes hangs in
# PMIx_server_finalize. Leak checks are off: Open MPI keeps thousands of blocks, and
# AddressSanitizer finds ambit's leaks in the tests with threads.
export ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
mpirun "$@" &
mpirun=$!
(
  for ((alone = 0; alone < 20; ++alone)); do
    sleep 1
    ! pgrep --parent "$mpirun" --runstates D,R,S,T || alone=0
  done
  kill -9 "$mpirun"
) >/dev/null 2>&1 &
watchdog=$!
wait "$mpirun"
code=$?
kill "$watchdog" 2>/dev/null
exit "$code"
