// What tests have an emulated library do wrong on request, and how it ends the process when a
// program does what the real one would answer with wrong results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ambit::cuda::host {

/// Faults of plans, by the place that the heuristics gave them, 0 the first. The variable is read
/// anew by each object; it holds a list such as "execute:0,workspace:1=4000000000": the first plan
/// fails when it is run, the second asks for 4 GB of workspace. "*" is every plan.
class Faults {
 public:
  explicit Faults(const char* variable);
  /// Return whether the plan at `rank` fails when it is run.
  bool fails(int rank) const;
  /// Return the bytes of workspace that the plan at `rank` asks for instead of its own.
  std::optional<int64_t> workspace(int rank) const;

 private:
  std::string text_;
};

/// Print what the program did wrong, and abort.
[[noreturn]] void misuse(const std::string& what);

}  // namespace ambit::cuda::host
