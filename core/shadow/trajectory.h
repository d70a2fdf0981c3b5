// AMBIT_SHADOW_MODE=trajectory: the differences between the tensors of a program and their twins,
// step by step, and the report at exit.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "call.h"
#include "report.h"

namespace ambit::shadow {

/// Return true if $AMBIT_SHADOW_MODE is trajectory. Errors: Error for an unknown mode.
bool follows_trajectory();

class Trajectory {
 public:
  /// Return the trajectory of the process, which is reported at exit.
  static Trajectory& get();

  /// Look up the twins of a prepared call's operands, before its kernel runs.
  void begin(Call& call);
  /// Count a call that is wrong for the device's inputs, and print the first one.
  void add_fault(const Call& call, const std::string& fault, const Place& place);
  /// Compare the results of the device with those of the twins, `expected`. `is_computed` is false
  /// if the shadow could not compute them.
  void end(const Call& call, const Place& place, bool is_computed);

  std::string report() const;

 private:
  /// The largest differences of one step, or of several ones.
  struct Row {
    uint64_t last = 0;  // step
    uint64_t calls = 0;
    double parameters = -1, results = -1;  // -1: none
    std::string at;                        // the call with `results`
  };
  struct Growth {
    double factor = 0;
    std::string text;
  };

  /// Return the step of a call, and count the steps that it ends.
  uint64_t step_of(const Call& call);

  std::set<std::string> devices_;
  std::map<uint64_t, Row> rows_;  // the key is the first step of the row
  Growth largest_;
  uint64_t steps_ = 0, wrong_ = 0, not_computed_ = 0;
  std::string first_wrong_;
};

}  // namespace ambit::shadow
