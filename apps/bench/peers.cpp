#include "peers.h"

#include <ambit/error.h>
#include <ambit/parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace bench {
namespace {

namespace fs = std::filesystem;

// Return the folder of libambit.
fs::path library_folder() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&ambit::set_num_threads), &library) == 0) return {};
  return fs::path(library.dli_fname).parent_path();
}

}  // namespace

const Peer& open_peer(const std::string& name) {
  const fs::path file = name.find('/') != name.npos ? fs::path(name)
                                                    : library_folder() / "ambit" / "bench" /
                                                          fmt::format("libambit_bench_{}.so", name);
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

std::vector<std::string> include_folders() {
  // <libdir> is lib, or lib/x86_64-linux-gnu.
  for (const char* up : {"..", "../.."}) {
    const fs::path folder = library_folder() / up / "include";
    if (fs::exists(folder / "ambit" / "ambit.h")) return {folder.string()};
  }
  // CMake writes this file into the build folder, one folder per line.
  std::ifstream file(library_folder() / "ambit" / "bench" / "include_folders");
  std::vector<std::string> folders;
  for (std::string line; std::getline(file, line);) folders.push_back(line);
  if (folders.empty()) throw ambit::Error("compile: expected <ambit/ambit.h> next to the library");
  return folders;
}

}  // namespace bench
