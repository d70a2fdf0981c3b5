// Pictures as PNG files.
#pragma once

#include <ambit/tensor.h>

#include <cstdint>
#include <string>

namespace zoo {

/// Lay pictures [N,C,H,W] out as one, `columns` in a row, with a dark line between them: [C,h,w].
ambit::Tensor grid(const ambit::Tensor& pictures, int64_t columns);

/// Write [C,H,W], grey or red, green and blue, floats in [0, 1] of any device; what is outside is
/// cut off. Errors: ambit::ShapeError; ambit::Error naming the file and the reason.
void write_png(const std::string& path, const ambit::Tensor& picture);

/// Read a PNG file of any kind: float32 [3,H,W] in [0, 1]. Errors: ambit::Error, as above.
ambit::Tensor read_png(const std::string& path);

}  // namespace zoo
