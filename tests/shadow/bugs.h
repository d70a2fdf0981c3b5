// The bugs of the planted backend's kernels, and the kernel that the shadow device must name.
#pragma once

#include <string_view>

namespace shadow_test {

struct Found {
  std::string_view bug;
  std::string_view kernel;  // as the report names it; empty: the shadow cannot show the bug
};

inline constexpr Found kFound[] = {
    {"ignored_offset", "copy"},
    {"ignored_strides", "binary add"},
    {"cut_to_bool", "copy"},
    {"dropped_tail", "unary neg"},
    // A kernel that reads a parameter after its call: the shadow waits for each call.
    {"late_parameter", ""},
    {"written_past_end", "fill"},
    {"cleared_alias", "binary add"},
    {"narrow_sum", "reduce sum"},
    {"lost_nan", "reduce max"},
    {"last_of_equals", "arg_reduce"},
    {"modified_input", "scan sum"},
    {"clamped_index", "gather"},
    {"lost_update", "scatter_add"},
    {"lost_update_in_order", "scatter_add"},
    {"changing_winner", "scatter"},
    {"short_mantissa", "matmul"},
    {"swapped_stride", "convolution"},
    {"overwritten_gradient", "max_pool_grad"},
    {"forgotten_parameter", "sgd_step"},
    {"ignored_seed_bits", "random"},
    {"ignored_counter", "random"},
};

}  // namespace shadow_test
