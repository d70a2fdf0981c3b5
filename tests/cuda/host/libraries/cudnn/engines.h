// The engines of the emulation, what the heuristics make of them, and the plans.
#pragma once

#include "graph.h"

namespace ambit::cuda::host::cudnn {

/// How an engine computes what its notes say of it.
enum class Arithmetic : uint8_t {
  plain,
  tf32,      ///< takes operands as tensor cores do
  shuffled,  ///< adds in whatever order the parts come
  narrow,    ///< keeps sums as memory does
};

struct Engine {
  int64_t index;
  std::vector<cudnnBackendNumericalNote_t> notes;
  Arithmetic arithmetic;
  bool (*suits)(const Graph& graph);
  /// Whether a plan can be made, which heuristics do not ask.
  bool (*works)(const Graph& graph);
  int64_t (*workspace_bytes)(const Graph& graph);
};

/// An engine for a graph.
struct Configuration {
  std::shared_ptr<const Graph> graph;
  const Engine* engine = nullptr;
};

struct Made {
  std::shared_ptr<const Graph> graph;  // of an operation graph, null where nothing runs it
  std::vector<Configuration> ranked;   // of a heuristic
  Configuration chosen;                // of a configuration, its engine, or a plan
  int64_t workspace_bytes = 0;         // of a plan, as the next two
  int rank = 0;                        // among the plans of its graph
  int device = -1;                     // that of its handle
};

/// Return the engines that may suit, the best first; none for a mode that there is not.
std::vector<Configuration> rank_engines(std::shared_ptr<const Graph> graph, int64_t mode);

}  // namespace ambit::cuda::host::cudnn
