// The function table of <ambit/cuda_graph.h>.
#include <ambit/cuda_graph.h>

#include "graph.h"
#include "public_device.h"

namespace ambit::cuda {
namespace {

// Return the graph, with its GPU made current.
Graph& current(void* graph) {
  auto& g = *static_cast<Graph*>(graph);
  static_cast<void>(gpu(g.gpu().index()));
  return g;
}

constexpr detail::GraphFunctions kFunctions{
    .make = [](int device) -> void* { return new Graph(public_device(device)); },
    .destroy =
        [](void* g) noexcept {
          try {
            static_cast<void>(current(g));
          } catch (const Error&) {  // an unusable GPU does no work
          }
          delete static_cast<Graph*>(g);
        },
    .begin = [](void* g) { current(g).begin(); },
    .end = [](void* g) { current(g).end(); },
    .replay = [](void* g) { current(g).replay(); },
    .reset = [](void* g) { current(g).reset(); },
};

}  // namespace
}  // namespace ambit::cuda

extern "C" AMBIT_API const ambit::cuda::detail::GraphFunctions* ambit_cuda_graphs() {
  return &ambit::cuda::kFunctions;
}
