// The faults that tests ask for, each counted down by the calls that it may strike.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

namespace ambit::sim {

/// Faults of one device. Thread-safe. Each function tells whether the call at hand must fail.
class Faults {
 public:
  bool strikes_allocation();
  bool strikes_copy();
  bool strikes_kernel(std::string_view op);

  /// Strike the nth call from now on; 0: none.
  void set_allocation(int nth);
  void set_copy(int nth);
  void set_kernel(std::string_view op, int nth);

 private:
  std::mutex mutex_;                            // guards what follows
  int allocation_ = 0, copy_ = 0, kernel_ = 0;  // calls until the fault; 0: none
  std::string kernel_op_;                       // empty: any
};

}  // namespace ambit::sim
