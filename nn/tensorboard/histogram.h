// A tensor's distribution.
#pragma once

#include <ambit/tensor.h>

#include "encoder/encoder.h"

namespace ambit::tensorboard {

/// As SummaryWriter::add_histogram says; `left_out` becomes the number of values that are not
/// finite.
Histogram make_histogram(const Tensor& values, size_t& left_out);

}  // namespace ambit::tensorboard
