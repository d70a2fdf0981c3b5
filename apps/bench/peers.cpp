#include "peers.h"

#include <ambit/error.h>
#include <ambit/parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace bench {
namespace {

std::filesystem::path folder() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&ambit::set_num_threads), &library) == 0) return {};
  return std::filesystem::path(library.dli_fname).parent_path() / "ambit" / "bench";
}

}  // namespace

const Peer& open_peer(const std::string& name) {
  const std::filesystem::path file = folder() / fmt::format("libambit_bench_{}.so", name);
  // RTLD_DEEPBIND is out of the question: the C++ runtime must be one.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    throw ambit::Error(
        fmt::format("--against: expected a library to compare with, got: {}", dlerror()));
  }
  using Entry = decltype(&ambit_bench_peer);
  const auto entry = reinterpret_cast<Entry>(dlsym(library, "ambit_bench_peer"));
  if (!entry) {
    throw ambit::Error(fmt::format("--against: expected ambit_bench_peer in {}", file.string()));
  }
  return *entry();
}

}  // namespace bench
