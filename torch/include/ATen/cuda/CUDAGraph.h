// at::cuda::CUDAGraph is ambit's; each graph has its own memory.
#pragma once

#include <ambit/cuda_graph.h>
#include <torch/lacks.h>

namespace ambit::cuda {

AMBIT_TORCH_LACKS_FUNCTION(graph_pool_handle, "each graph of ambit has its own memory");

}  // namespace ambit::cuda
