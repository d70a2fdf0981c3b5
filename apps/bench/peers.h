// Finds files relative to ambit's library: peers, and headers.
#pragma once

#include <string>
#include <vector>

#include "peer.h"

namespace bench {

/// Open libambit_bench_<name>.so in ambit/bench next to ambit's library, or the file if the name
/// contains a slash. It is never closed. Errors: ambit::Error with the file and the reason.
const Peer& open_peer(const std::string& name);

/// Return the include folders for <ambit/ambit.h>: of the installation, or of the sources of this
/// build. Errors: ambit::Error if there is neither.
std::vector<std::string> include_folders();

}  // namespace bench
