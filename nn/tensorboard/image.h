// A tensor's pixels.
#pragma once

#include <ambit/tensor.h>

#include "encoder/encoder.h"

namespace ambit::tensorboard {

/// See SummaryWriter::add_image.
Image make_image(const Tensor& image);

}  // namespace ambit::tensorboard
