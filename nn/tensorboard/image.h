// A tensor's pixels.
#pragma once

#include <ambit/tensor.h>

#include "encoder/encoder.h"

namespace ambit::tensorboard {

/// As SummaryWriter::add_image says.
Image make_image(const Tensor& image);

}  // namespace ambit::tensorboard
