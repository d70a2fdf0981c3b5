#!/usr/bin/env bash
# Make a screenshot of TensorBoard's page: apps/tensorboard_screenshot.sh <log folder> <out.png>
# It needs chromium (Debian's package) and a Python with tensorboard; AMBIT_PYTHON names the
# interpreter. From the environment:
#   TAB      timeseries (the default), scalars, images, distributions, histograms or text
#   QUERY    parameters of the page's URL, such as "tagFilter=loss|accuracy&smoothing=0": without
#            a filter each tag has its own row, with one they share rows
#   WIDTH, HEIGHT  of the picture in pixels
set -euo pipefail
trap 'echo "tensorboard_screenshot: failed at: $BASH_COMMAND" >&2' ERR

fail() {
  echo "tensorboard_screenshot: $*" >&2
  exit 1
}

[[ $# == 2 ]] || fail "expected <log folder> <out.png>, got $# arguments"
logs=$1 out=$(realpath -m "$2")
python=${AMBIT_PYTHON:-python3}
[[ -d $logs ]] || fail "expected a folder with event files, got '$logs'"
"$python" -c 'import tensorboard' 2>/dev/null || fail "$python has no tensorboard (pip install it)"
command -v chromium >/dev/null || fail "chromium is not installed"

work=$(mktemp -d)
server=
stop() {
  [[ -z $server ]] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT

# Port 0: the system chooses a free one. With a blocking reload TensorBoard prints the port, and
# answers, after it has read the files.
log=$work/server.log
: >"$log"
"$python" -m tensorboard.main --logdir "$logs" --port 0 --load_fast=false \
  --reload_task blocking --reload_interval 0 >"$log" 2>&1 &
server=$!
until url=$(grep -oE -m 1 'http://[^ /]+:[0-9]+' "$log"); do
  kill -0 "$server" 2>/dev/null || fail "TensorBoard did not start: $(cat "$log")"
  sleep 0.2
done

# Chromium's sandbox does not work as root. The virtual clock advances as fast as possible, and stops
# during requests, but not for the page's worker threads, which draw the curves unless forceSVG is
# set.
sandbox=()
[[ $(id -u) != 0 ]] || sandbox=(--no-sandbox)
rm -f "$out"
chromium --headless "${sandbox[@]}" --disable-gpu --hide-scrollbars \
  --user-data-dir="$work/profile" --window-size="${WIDTH:-1400},${HEIGHT:-900}" \
  --run-all-compositor-stages-before-draw --virtual-time-budget=60000 --screenshot="$out" \
  "$url/?darkMode=false&forceSVG=true&${QUERY:-}#${TAB:-timeseries}" \
  >"$work/chromium.log" 2>&1 || true
[[ -s $out ]] || fail "chromium made no picture: $(cat "$work/chromium.log")"
echo "$out"
