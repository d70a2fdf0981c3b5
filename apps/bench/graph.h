// Compares the speed and memory of a graph's plans with those of the graph itself.
#pragma once

#include <ambit/graph/graph.h>

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

struct GraphOptions {
  std::vector<int64_t> batches{};  ///< sizes of dim 0 of all inputs; empty: those of the inputs
  double seconds = 1;              ///< for each way to run the graph
  bool cpu_time = false;           ///< measure the processor time of the process
};

/// Return inputs with random values, of the dtypes and sizes that the graph's text shows; dynamic
/// sizes are `batch`. Errors: ambit::Error for a dynamic size that is not dim 0, and for numbers.
std::vector<ambit::Tensor> example_inputs(const ambit::graph::Graph& net, int64_t batch,
                                          ambit::Device device);

/// Return a table: for each batch the medians of the graph, of its exact and of its default plan,
/// which run alternately; the ratios to the first, and the memory of the tensors between inputs and
/// outputs. `inputs`: empty, or those of one batch. Errors: those of the graph and of plan().
std::string graph_table(const ambit::graph::Graph& net, const std::vector<ambit::Tensor>& inputs,
                        ambit::Device device, const GraphOptions& options);

}  // namespace bench
