// Running plans.
#pragma once

#include "engines.h"

namespace ambit::cuda::host::cudnn {

/// Queue a plan on the handle's stream. BAD_PARAM and its kinds: the pack lacks an operand or the
/// workspace, or has one that is not aligned as promised; EXECUTION_FAILED: as was asked for by
/// AMBIT_CUDA_HOST_CUDNN, or since the stream cannot be used.
cudnnStatus_t execute(const cudnnContext& handle, const Made& plan, const Node& pack);

}  // namespace ambit::cuda::host::cudnn
