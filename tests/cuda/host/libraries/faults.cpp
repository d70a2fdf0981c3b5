#include "faults.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace ambit::cuda::host {
namespace {

// Return the value of the entry "kind:rank=value" or "kind:*=value" of the list: "" for an entry
// without "=", nullopt if there is none.
std::optional<std::string> find(const std::string& list, const std::string& kind, int rank) {
  std::istringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    const size_t colon = entry.find(':'), equals = entry.find('=');
    if (colon == std::string::npos) misuse("expected kind:rank in a list of faults, got " + entry);
    const std::string place = entry.substr(colon + 1, equals - colon - 1);
    if (entry.substr(0, colon) != kind || (place != "*" && place != std::to_string(rank))) continue;
    return equals == std::string::npos ? "" : entry.substr(equals + 1);
  }
  return std::nullopt;
}

}  // namespace

Faults::Faults(const char* variable) {
  if (const char* text = std::getenv(variable)) text_ = text;
}

bool Faults::fails(int rank) const { return find(text_, "execute", rank).has_value(); }

std::optional<int64_t> Faults::workspace(int rank) const {
  const std::optional<std::string> bytes = find(text_, "workspace", rank);
  return bytes ? std::optional<int64_t>(std::stoll(*bytes)) : std::nullopt;
}

void misuse(const std::string& what) {
  std::fprintf(stderr, "CUDA on the host: %s\n", what.c_str());
  std::abort();
}

}  // namespace ambit::cuda::host
