#!/usr/bin/env bash
# mpirun, ended when it does not end itself though all of its ranks have: Debian 12's sometimes
# waits for ever in PMIx_server_finalize then. Nor is its ranks' memory asked for at their end: Open
# MPI keeps thousands of blocks, and AddressSanitizer's build finds ambit's own where ranks are threads.
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
