// Source lines of recorded addresses.
#pragma once

#include <ambit/detail/check.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace check {

struct Place {
  std::string file, function;  ///< empty: unknown
  int line = 0;
  /// Return "net.cpp:12"; the function if the line is unknown, "?" if both are.
  std::string text() const;
};

/// Resolves addresses in the program's own files; addresses in ambit and in the C++ library are
/// skipped.
class Places {
 public:
  /// Look up all frames of the events' members "stack", "maker" and "factories". Errors: Error if
  /// addr2line cannot be started.
  void look_up(const std::vector<nlohmann::json>& events);
  /// Return the program's calls, innermost first, with inlined ones.
  std::vector<Place> calls(const nlohmann::json& frames) const;
  /// Return true if CHECK_DEVICE_MISMATCH of <ambit/testing.h> made the call: its error is
  /// expected.
  bool is_expected(const nlohmann::json& frames) const;

 private:
  using Address = std::pair<std::string, uint64_t>;
  std::map<Address, std::vector<ambit::SourceCall>> known_;
};

}  // namespace check
