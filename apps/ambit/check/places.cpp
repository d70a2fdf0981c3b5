#include "places.h"

#include <ambit/detail/late_library.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace check {
namespace {

// Call `use` for each list of frames of an event.
template <class Use>
void for_each_stack(const nlohmann::json& event, const Use& use) {
  for (const char* member : {"stack", "maker"}) {
    if (event.contains(member)) use(event[member]);
  }
  if (!event.contains("factories")) return;
  for (const nlohmann::json& frames : event["factories"]) use(frames);
}

}  // namespace

std::string Place::text() const {
  if (line == 0) return function.empty() || function == "??" ? "?" : function;
  return fmt::format("{}:{}", file, line);
}

void Places::look_up(const std::vector<nlohmann::json>& events) {
  std::map<std::string, std::set<uint64_t>> wanted;
  for (const nlohmann::json& event : events) {
    for_each_stack(event, [&](const nlohmann::json& frames) {
      for (const nlohmann::json& frame : frames) {
        const Address address(frame[0], frame[1]);
        if (!known_.contains(address)) wanted[address.first].insert(address.second);
      }
    });
  }
  static const auto* const library =
      static_cast<const ambit::CheckLibrary*>(ambit::late_library("check"));
  for (const auto& [file, addresses] : wanted) {
    const std::vector<uint64_t> all(addresses.begin(), addresses.end());
    const auto calls = library->source_calls(file, all);
    for (size_t i = 0; i < all.size(); ++i) known_[{file, all[i]}] = calls[i];
  }
}

std::vector<Place> Places::calls(const nlohmann::json& frames) const {
  std::vector<Place> calls;
  for (const nlohmann::json& frame : frames) {
    const auto found = known_.find(Address(frame[0], frame[1]));
    if (found == known_.end()) continue;
    for (const ambit::SourceCall& call : found->second) {
      if (!call.is_library) calls.push_back({call.file, call.function, call.line});
    }
  }
  return calls;
}

bool Places::is_expected(const nlohmann::json& frames) const {
  return std::ranges::any_of(frames, [&](const nlohmann::json& frame) {
    const auto found = known_.find(Address(frame[0], frame[1]));
    if (found == known_.end()) return false;
    return std::ranges::any_of(found->second, [](const ambit::SourceCall& call) {
      return call.function.starts_with("ambit::test::device_mismatch");
    });
  });
}

}  // namespace check
