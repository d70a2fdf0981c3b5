#include "cases.h"

#include <ambit/backend/kernels.h>

#include <algorithm>

namespace conformance {

Cases all_cases() {
  Cases cases;
  add_copy_cases(cases);
  add_memory_cases(cases);
  add_order_cases(cases);
  add_unary_cases(cases);
  add_binary_cases(cases);
  add_ternary_cases(cases);
  add_scalar_cases(cases);
  add_elementwise_cases(cases);
  add_reduction_cases(cases);
  add_scan_cases(cases);
  add_sorting_cases(cases);
  add_index_cases(cases);
  add_random_cases(cases);
  add_bag_cases(cases);
  add_product_cases(cases);
  add_factor_cases(cases);
  add_fourier_cases(cases);
  add_convolution_cases(cases);
  add_pool_cases(cases);
  add_image_cases(cases);
  add_norm_cases(cases);
  add_sequence_cases(cases);
  add_alignment_cases(cases);
  add_training_cases(cases);
  add_mismatch_cases(cases);
  add_gradient_cases(cases);
  for (const ambit::OpBase* op : ambit::all_ops()) {
    const bool covered =
        std::ranges::any_of(cases, [&](const Case& c) { return c.op == op->name(); });
    if (!covered) throw std::logic_error(std::string("no case for the kernel ") + op->name());
  }
  return cases;
}

}  // namespace conformance
