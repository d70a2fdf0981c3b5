// Faults requested by tests, each counted down by calls to which it may apply.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace ambit::sim {

/// Faults of one device. Thread-safe. strikes_*() return true if the current call must fail.
class Faults {
 public:
  bool strikes_allocation();
  bool strikes_copy();
  bool strikes_kernel(std::string_view op);

  /// Make the nth call from now on fail; 0: none.
  void set_allocation(int nth);
  void set_copy(int nth);
  void set_kernel(std::string_view op, int nth);

 private:
  std::mutex mutex_;                            // guards the members below
  int allocation_ = 0, copy_ = 0, kernel_ = 0;  // calls until the fault; 0: none
  std::string kernel_op_;                       // empty: any
};

}  // namespace ambit::sim
