// The emulation's engines, their ranking by heuristics, and plans.
#pragma once

#include "graph.h"

namespace ambit::cuda::host::cudnn {

/// An engine's arithmetic, which its numerical notes describe.
enum class Arithmetic : uint8_t {
  plain,
  tf32,      ///< rounds operands as tensor cores do
  shuffled,  ///< adds in arbitrary order
  narrow,    ///< stores sums in the output's dtype
};

struct Engine {
  int64_t index;
  std::vector<cudnnBackendNumericalNote_t> notes;
  Arithmetic arithmetic;
  bool (*suits)(const Graph& graph);
  /// Return true if a plan can be made; heuristics do not check it.
  bool (*works)(const Graph& graph);
  int64_t (*workspace_bytes)(const Graph& graph);
};

/// An engine for a graph.
struct Configuration {
  std::shared_ptr<const Graph> graph;
  const Engine* engine = nullptr;
};

/// Made by finalizing a descriptor; a member is set for the kinds of descriptor in its comment.
struct Made {
  std::shared_ptr<const Graph> graph;  // for an operation graph; null if no engine supports it
  std::vector<Configuration> ranked;   // for a heuristic
  Configuration chosen;                // for a configuration, its engine, or a plan
  int64_t workspace_bytes = 0;         // for a plan, as the next two members
  int rank = 0;                        // position among the plans of its graph
  int device = -1;                     // device of its handle
};

/// Return the engines that may suit, the best first; empty for an unknown mode.
std::vector<Configuration> rank_engines(std::shared_ptr<const Graph> graph, int64_t mode);

}  // namespace ambit::cuda::host::cudnn
