// Convolutions with channels innermost, as tensor cores take them: operands are laid out so in
// memory of our own and the result back, a part of the batch at a time. Given rows of images,
// cuDNN does the same to the whole batch in its workspace, which are hundreds of megabytes.
#pragma once

#include <ambit/function_table.h>

#include <array>
#include <optional>

#include "backends/cuda/libraries/conv_plan.h"

namespace ambit::cuda {

/// The memory of one problem: x, w, y and, where there is a bias, b.
using ConvPointers = std::array<void*, 4>;

/// Return whether tensor cores may convolve the problem, and are worth another layout.
bool wants_channels_last(const ConvProblem& problem);

/// Convolve operands that are contiguous; `run` convolves those that lie as their problem says.
/// Return whether `map` is applied to y: on its way back, unless y is where it belongs. Errors:
/// those of `run`; OutOfMemoryError, and some of the result may have been written.
bool convolve_channels_last(ConvProblem problem, const ConvPointers& pointers,
                            bool (*run)(const ConvProblem&, const ConvPointers&),
                            std::optional<UnaryOp> map);

}  // namespace ambit::cuda
