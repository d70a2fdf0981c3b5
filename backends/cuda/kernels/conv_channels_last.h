// Channels-last convolution for tensor cores: operands are converted in buffers of our own and the
// result is converted back, a part of the batch at a time. For row-major operands cuDNN converts
// the whole batch in its workspace, which needs hundreds of megabytes.
#pragma once

#include <ambit/function_table.h>

#include <array>
#include <optional>

#include "backends/cuda/libraries/conv_plan.h"

namespace ambit::cuda {

/// The memory of the operands: x, w, y, and b if there is a bias.
using ConvPointers = std::array<void*, 4>;

/// Return whether tensor cores support the problem.
bool may_lie_channels_last(const ConvProblem& problem);
/// As above, but return false for depthwise convolutions, in which tensor cores would be idle.
bool wants_channels_last(const ConvProblem& problem);

/// Return how many images to convert at a time: 32 MB, or all if the problem is not converted. The
/// weight gradient sums over images: in float32 the caller adds the parts; with reduced
/// floating-point types it processes all at once, since partial sums would be rounded: cuDNN has no
/// float32 result for them.
int64_t images_of_part(const ConvProblem& problem);

/// Convolve contiguous operands; `run` convolves operands in the problem's layout. Return true if
/// `map` has been applied to y, which requires that y is converted back. Errors: those of `run`;
/// OutOfMemoryError. The result may be partially written.
bool convolve_channels_last(ConvProblem problem, const ConvPointers& pointers,
                            bool (*run)(const ConvProblem&, const ConvPointers&),
                            std::optional<UnaryOp> map);

}  // namespace ambit::cuda
