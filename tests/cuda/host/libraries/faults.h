// Fault injection in emulated libraries, and aborting when a program makes an error that the real
// library would answer with wrong results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ambit::cuda::host {

/// Faults of plans, by their position in the heuristics' result, from 0. Each object reads the
/// variable again; it contains a list such as "execute:0,workspace:1=4000000000": the first plan
/// fails when executed, the second one requests 4 GB of workspace. "*" means every plan.
class Faults {
 public:
  explicit Faults(const char* variable);
  /// Return true if the plan at `rank` fails when executed.
  bool fails(int rank) const;
  /// Return the workspace bytes that the plan at `rank` requests instead of its own.
  std::optional<int64_t> workspace(int rank) const;

 private:
  std::string text_;
};

/// Print the program's error, and abort.
[[noreturn]] void misuse(const std::string& what);

}  // namespace ambit::cuda::host
