// A tensor's distribution.
#pragma once

#include <ambit/tensor.h>

#include "encoder/encoder.h"

namespace ambit::tensorboard {

/// As SummaryWriter::add_histogram says.
Histogram make_histogram(const Tensor& values);

}  // namespace ambit::tensorboard
