// The child process, the only one that uses devices. It runs cases one after the other and writes a
// line of JSON to a pipe before and after each.
//   {"plan": {...}}      once, or {"refused": "..."} if the device does not exist
//   {"start": 17}        index in the plan
//   {"result": {...}}    of that case
//   {"done": true}       all cases have run; the process exits
#pragma once

#include "options.h"

namespace conformance {

void work(const Options& options);

}  // namespace conformance
