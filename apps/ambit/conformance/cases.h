// All cases in the order of execution; later ones rely on earlier ones.
#pragma once

#include "case.h"

namespace conformance {

Cases all_cases();

// The runtime
void add_copy_cases(Cases& cases);
void add_memory_cases(Cases& cases);
void add_order_cases(Cases& cases);
void add_random_cases(Cases& cases);
void add_mismatch_cases(Cases& cases);
void add_gradient_cases(Cases& cases);
// The kernels
void add_unary_cases(Cases& cases);
void add_binary_cases(Cases& cases);
void add_ternary_cases(Cases& cases);
void add_scalar_cases(Cases& cases);
void add_elementwise_cases(Cases& cases);
void add_reduction_cases(Cases& cases);
void add_scan_cases(Cases& cases);
void add_sorting_cases(Cases& cases);
void add_index_cases(Cases& cases);
void add_bag_cases(Cases& cases);
void add_product_cases(Cases& cases);
void add_factor_cases(Cases& cases);
void add_fourier_cases(Cases& cases);
void add_convolution_cases(Cases& cases);
void add_pool_cases(Cases& cases);
void add_image_cases(Cases& cases);
void add_norm_cases(Cases& cases);
void add_sequence_cases(Cases& cases);
void add_alignment_cases(Cases& cases);
void add_training_cases(Cases& cases);

}  // namespace conformance
