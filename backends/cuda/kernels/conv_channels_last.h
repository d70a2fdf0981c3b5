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

/// Return whether tensor cores may convolve the problem, and then whether they are worth another
/// layout.
bool may_lie_channels_last(const ConvProblem& problem);
bool wants_channels_last(const ConvProblem& problem);

/// Return how many images are laid out at a time: as many as are 32 MB, or all of those of a
/// problem that does not want that. The gradient of the weight adds up its images: that of float32
/// by parts, which the caller makes. Of 16 bits it takes all, since parts would be rounded in
/// between: cuDNN has no engine for a result in float32 beside them.
int64_t images_of_part(const ConvProblem& problem);

/// Convolve operands that are contiguous; `run` convolves those that lie as their problem says.
/// Return whether `map` is applied to y: on its way back, unless y is where it belongs. Errors:
/// those of `run`; OutOfMemoryError. Some of the result may have been written.
bool convolve_channels_last(ConvProblem problem, const ConvPointers& pointers,
                            bool (*run)(const ConvProblem&, const ConvPointers&),
                            std::optional<UnaryOp> map);

}  // namespace ambit::cuda
