// A tensor's distribution.
#pragma once

#include <ambit/tensor.h>

#include "encoder/encoder.h"

namespace ambit::tensorboard {

/// See SummaryWriter::add_histogram. `left_out` is set to the number of non-finite values.
Histogram make_histogram(const Tensor& values, size_t& left_out);

}  // namespace ambit::tensorboard
