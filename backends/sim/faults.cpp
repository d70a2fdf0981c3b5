#include "faults.h"

namespace ambit::sim {
namespace {

bool count_down(int& calls) { return calls > 0 && --calls == 0; }

}  // namespace

bool Faults::strikes_allocation() {
  const std::lock_guard lock(mutex_);
  return count_down(allocation_);
}

bool Faults::strikes_copy() {
  const std::lock_guard lock(mutex_);
  return count_down(copy_);
}

bool Faults::strikes_kernel(std::string_view op) {
  const std::lock_guard lock(mutex_);
  return (kernel_op_.empty() || kernel_op_ == op) && count_down(kernel_);
}

void Faults::set_allocation(int nth) {
  const std::lock_guard lock(mutex_);
  allocation_ = nth;
}

void Faults::set_copy(int nth) {
  const std::lock_guard lock(mutex_);
  copy_ = nth;
}

void Faults::set_kernel(std::string_view op, int nth) {
  const std::lock_guard lock(mutex_);
  kernel_op_ = op;
  kernel_ = nth;
}

}  // namespace ambit::sim
