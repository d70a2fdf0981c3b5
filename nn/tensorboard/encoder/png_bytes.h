// An image as the bytes of a PNG file.
#pragma once

#include <string>

#include "encoder.h"

namespace ambit::tensorboard {

/// Errors: Error with libpng's reason.
std::string png_bytes(const Image& image);

}  // namespace ambit::tensorboard
