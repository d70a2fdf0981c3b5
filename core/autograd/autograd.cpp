// backward() and grad(): start gradients and results. The engine is in engine.cpp.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/detail/warning.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "engine.h"

namespace ambit {
namespace {

std::atomic<bool> anomaly{false}, anomaly_nan{true};

// A start gradient may be omitted for a one-element tensor; it is 1 then.
void check_starting_gradient(const char* op, const Tensor& root, const Tensor& given) {
  if (given.defined()) {
    check_devices(op, {{"tensor", root}, {"gradient", given}}, DeviceRule::in_place);
    if (given.dtype() != root.dtype()) {
      throw DTypeError(fmt::format("{}: expected a gradient of dtype {}, got {}", op,
                                   name(root.dtype()), name(given.dtype())));
    }
    if (given.sizes() != root.sizes()) {
      throw ShapeError(fmt::format("{}: expected a gradient of sizes {}, got {}", op,
                                   str(root.sizes()), str(given.sizes())));
    }
  } else if (root.numel() != 1) {
    throw ShapeError(
        fmt::format("{}: expected a one-element tensor where no gradient is given, got sizes {}",
                    op, str(root.sizes())));
  }
}

PooledVector<Edge> root_edges(const char* op, TensorList roots) {
  PooledVector<Edge> edges;
  edges.reserve(roots.size());
  for (const Tensor& root : roots) {
    edges.push_back(gradient_edge(root));
    if (!edges.back()) {
      throw AutogradError(
          fmt::format("{}: expected a tensor that requires grad, got one that does not", op));
    }
  }
  return edges;
}

void start(Engine& engine, const char* op, TensorList roots, std::span<const Edge> edges,
           TensorList gradients) {
  if (!gradients.empty() && gradients.size() != roots.size()) {
    throw AutogradError(fmt::format("{}: expected {} gradients, one per tensor, got {}", op,
                                    roots.size(), gradients.size()));
  }
  PooledVector<Tensor> first(gradients.begin(), gradients.end());
  first.resize(roots.size());
  for (size_t i = 0; i < roots.size(); ++i) check_starting_gradient(op, roots[i], first[i]);
  for (size_t i = 0; i < roots.size(); ++i) {
    if (!engine.is_wanted(edges[i])) continue;
    if (!first[i].defined()) first[i] = ones_like(roots[i]);
    engine.add(edges[i], std::move(first[i]));
  }
  engine.run();
}

}  // namespace

namespace autograd {

void backward(TensorList roots, TensorList gradients, std::optional<bool> retain_graph,
              bool create_graph, TensorList inputs) {
  typed_memory_errors("backward", [&] {
    const PooledVector<Edge> edges = root_edges("backward", roots);
    if (create_graph) detail::warn(detail::Warning::create_graph, "backward");
    Engine engine(retain_graph.value_or(create_graph), create_graph);
    if (!inputs.empty()) {
      const PooledVector<Edge> places = root_edges("backward", inputs);
      for (const Tensor& t : inputs) t.retain_grad();
      engine.capture(places, /*accumulate=*/true);
      engine.find_needed(edges);
    }
    start(engine, "backward", roots, edges, gradients);
  });
}

namespace {

std::vector<Tensor> capture_grad(TensorList outputs, TensorList inputs, TensorList grad_outputs,
                                 bool retain_graph, bool create_graph, bool allow_unused) {
  if (inputs.empty()) throw AutogradError("grad: expected one input or more, got none");
  const PooledVector<Edge> edges = root_edges("grad", outputs);
  const PooledVector<Edge> places = root_edges("grad", inputs);
  Engine engine(retain_graph, create_graph);
  engine.capture(places);
  engine.find_needed(edges);
  start(engine, "grad", outputs, edges, grad_outputs);
  std::vector<Tensor> result;
  for (size_t i = 0; i < places.size(); ++i) {
    result.push_back(engine.captured(places[i]));
    if (!result.back().defined() && !allow_unused) {
      throw AutogradError(fmt::format(
          "grad: expected inputs that the outputs depend on, got input {}, which they do not; pass "
          "allow_unused = true",
          i));
    }
  }
  return result;
}

}  // namespace

std::vector<Tensor> grad(TensorList outputs, TensorList inputs, TensorList grad_outputs,
                         std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
  return typed_memory_errors("grad", [&] {
    return capture_grad(outputs, inputs, grad_outputs, retain_graph.value_or(create_graph),
                        create_graph, allow_unused);
  });
}

bool AnomalyMode::is_enabled() { return anomaly; }
bool AnomalyMode::should_check_nan() { return anomaly_nan; }
void AnomalyMode::set_enabled(bool on, bool check_nan) {
  anomaly_nan = check_nan;
  anomaly = on;
}

}  // namespace autograd
}  // namespace ambit
