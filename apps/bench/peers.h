// What lies beside ambit's library: those that it is compared with, and its headers.
#pragma once

#include <string>
#include <vector>

#include "peer.h"

namespace bench {

/// Open libambit_bench_<name>.so, in ambit/bench beside ambit's own library, or the file if the
/// name has a slash. It stays open. Errors: ambit::Error with the file and what is wrong with it.
const Peer& open_peer(const std::string& name);

/// Return the folders that programs need for <ambit/ambit.h>: of the installation, or of the
/// sources that this was built from. Errors: ambit::Error when there is neither.
std::vector<std::string> include_folders();

}  // namespace bench
