// Bugs of the planted backend; $AMBIT_PLANTED_BUG selects one. The test shares this list, so that
// it checks for each.
#pragma once

#include <string_view>

namespace planted {

struct Bug {
  const char* name;
  const char* filter;    // filter of the run that must find the bug
  const char* found_by;  // prefix of the name of the first failing case
};

inline constexpr Bug kRuntimeBugs[] = {
    {"missed_synchronise", "order/", "order/chain"},
    {"idle_synchronise", "copies/", "copies/non_blocking/pinned"},
    {"unawaited_copy", "copies/", "copies/non_blocking/read_at_once"},
    {"early_copy_in", "order/", "order/copy_between_kernels"},
    {"late_host_read", "order/", "order/host_buffer_reused"},
    {"unordered_devices", "copies/", "copies/other_index"},
    {"ignored_index", "copies/", "copies/other_index"},
    {"short_copy", "copies/", "copies/round_trip"},
    {"leak", "memory/returned", "memory/returned/work"},
    {"early_reuse", "memory/reuse_in_flight", "memory/reuse_in_flight"},
    {"misaligned", "memory/", "memory/blocks"},
    {"null_when_out_of_memory", "memory/", "memory/out_of_memory/absurd"},
    {"cache_kept", "memory/", "memory/empty_cache"},
    {"lost_error", "order/", "order/bad_index/gather"},
};

inline constexpr Bug kEndings[] = {
    {"host_pointer_read", "where/float32", "where/float32"},
    {"crash", "convolution/float32", "convolution/float32"},
    {"exit", "scan/sum/float32", "scan/sum/float32"},
    {"exit_on_load", "scan/sum/float32", "load"},
    {"foreign_exception", "nonzero/", "nonzero/"},
    {"hang", "matmul/float32/contiguous", "matmul/float32/contiguous"},
};

inline constexpr Bug kKernelBugs[] = {
    {"ignored_offset", "copy/", "copy/"},
    {"ignored_strides", "binary/add/", "binary/add/bool/transposed"},
    {"cut_to_bool", "copy/bool/", "copy/bool/from_float16"},
    {"dropped_tail", "unary/neg/", "unary/neg/"},
    {"late_parameter", "order/parameters", "order/parameters"},
    {"written_past_end", "fill/", "fill/"},
    {"cleared_alias", "binary/add/", "binary/add/bool/in_place"},
    {"narrow_sum", "reduce/sum/", "reduce/sum/int32/"},
    {"lost_nan", "reduce/max/", "reduce/max/float16/nan"},
    {"last_of_equals", "arg_reduce/", "arg_reduce/"},
    {"modified_input", "scan/sum/", "scan/sum/"},
    {"clamped_index", "bad_index/", "order/bad_index/gather"},
    {"lost_update", "scatter_add/", "scatter_add/"},
    {"lost_update_in_order", "scatter_add/", "scatter_add/float16/contiguous/deterministic"},
    {"changing_winner", "scatter/", "scatter/bool/duplicates/deterministic"},
    {"short_mantissa", "matmul/", "matmul/float32/"},
    {"swapped_stride", "convolution/", "convolution/float16/"},
    {"overwritten_gradient", "gradients/max_pool2d", "gradients/max_pool2d/overlapping"},
    {"forgotten_parameter", "sgd_step/", "sgd_step/float16/plain/contiguous"},
    {"ignored_seed_bits", "random/uniform", "random/uniform/float16"},
    {"ignored_counter", "random/uniform", "random/uniform/float16"},
};

/// Return true if the backend has this bug.
bool has(std::string_view bug);

}  // namespace planted
