// Execution of plans.
#pragma once

#include "engines.h"

namespace ambit::cuda::host::cudnn {

/// Queue a plan on the handle's stream. BAD_PARAM and its variants: the pack lacks an operand or
/// the workspace, or one is not aligned as declared; EXECUTION_FAILED: requested by
/// AMBIT_CUDA_HOST_CUDNN, or the stream is unusable.
cudnnStatus_t execute(const cudnnContext& handle, const Made& plan, const Node& pack);

}  // namespace ambit::cuda::host::cudnn
