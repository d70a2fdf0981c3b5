// The child process: the only one that touches devices. It runs cases one after the other and
// writes a line of JSON to a pipe before and after each.
//   {"plan": {...}}      once, or {"refused": "..."} where there is no such device
//   {"start": 17}        the position in the plan
//   {"result": {...}}    what came of it
//   {"done": true}       nothing is left; the process ends by itself
#pragma once

#include "options.h"

namespace conformance {

void work(const Options& options);

}  // namespace conformance
