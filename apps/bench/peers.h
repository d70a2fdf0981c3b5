// Finding and opening the libraries that ambit is compared with.
#pragma once

#include <string>

#include "peer.h"

namespace bench {

/// Open libambit_bench_<name>.so, in ambit/bench beside ambit's own library. It stays open.
/// Errors: ambit::Error with the file and what is wrong with it.
const Peer& open_peer(const std::string& name);

}  // namespace bench
