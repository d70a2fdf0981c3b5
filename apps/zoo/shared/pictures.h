// Pictures as PNG files.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>
#include <string>

namespace zoo {

/// Arrange pictures [N,C,H,W] in a grid, `columns` per row, with dark lines in between: [C,h,w].
ambit::Tensor grid(const ambit::Tensor& pictures, int64_t columns);

/// Write [C,H,W], grey or RGB, floats in [0, 1], clamped, on any device. Errors: ambit::ShapeError;
/// ambit::Error naming the file and the reason.
void write_png(const std::string& path, const ambit::Tensor& picture);

/// Read a PNG file of any kind: float32 [3,H,W] in [0, 1]. Errors: ambit::Error, as above.
ambit::Tensor read_png(const std::string& path);

}  // namespace zoo
