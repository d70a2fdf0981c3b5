#include "cases.h"

#include <ambit/kernels.h>

#include <algorithm>

namespace conformance {

Cases all_cases() {
  Cases cases;
  add_copy_cases(cases);
  add_memory_cases(cases);
  add_order_cases(cases);
  add_elementwise_cases(cases);
  add_reduction_cases(cases);
  add_index_cases(cases);
  add_random_cases(cases);
  add_layer_cases(cases);
  add_mismatch_cases(cases);
  add_gradient_cases(cases);
  return cases;
}

}  // namespace conformance
