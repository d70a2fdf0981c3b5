#!/usr/bin/env bash
# Set up, build and run the quickstart; arguments go to the program (--help lists them).
exec bash "$(dirname "${BASH_SOURCE[0]}")/../run.sh" quickstart "$@"
