// The files of graphs_2.15.tar.xz, which graphs.py made with PyTorch 2.15, and changed ones.
#pragma once

#include <ambit/autograd.h>
#include <ambit/checkpoint.h>
#include <ambit/graph/graph.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/files/pickled_file.h"
#include "tests/files/python.h"
#include "tests/temporary_folder.h"

/// Return the folder with the unpacked files.
inline const std::filesystem::path& graph_folder() {
  static const TemporaryFolder folder;
  static const bool unpacked =
      succeeds("tar -xJf '" AMBIT_GRAPH_FILES "' -C '" + folder.path().string() + "'");
  REQUIRE(unpacked);
  return folder.path();
}

inline std::string graph_file(const std::string& name) {
  return (graph_folder() / (name + ".pt2")).string();
}

/// Return PyTorch's results for a file.
inline ambit::Value graph_record(const std::string& name) {
  return ambit::load_checkpoint((graph_folder() / (name + ".pt")).string());
}

inline std::vector<std::string> graph_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(graph_folder())) {
    if (file.path().extension() == ".pt2") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Return the tensors of a list; None is undefined.
inline std::vector<ambit::Tensor> tensors_of(const ambit::Value& list, ambit::Device device) {
  std::vector<ambit::Tensor> out;
  for (const ambit::Value& v : list.items()) {
    const bool is_tensor = v.kind() == ambit::Value::Kind::tensor;
    out.push_back(is_tensor ? v.to_tensor().to(device) : ambit::Tensor());
  }
  return out;
}

/// Run a saved graph from its file and write ambit's results.
inline void write_record(const std::string& file, const std::vector<ambit::Tensor>& inputs) {
  const ambit::graph::Graph net = ambit::graph::load(file);
  const ambit::NoGradGuard no_grad;
  ambit::Value::List given, outputs;
  for (const ambit::Tensor& t : inputs) given.emplace_back(t.clone());
  for (const ambit::Tensor& t : net->forward(inputs)) {
    outputs.push_back(t.defined() ? ambit::Value(t.clone()) : ambit::Value());
  }
  ambit::Value::Dict buffers;
  for (const auto& [name, buffer] : net->named_buffers()) {
    // ambit counts no steps in evaluation mode; a graph of PyTorch counts them if it was exported
    // in training mode.
    if (!name.ends_with("num_batches_tracked")) buffers.emplace_back(name, buffer);
  }
  ambit::save_checkpoint(ambit::Value::dict({{"inputs", ambit::Value::list(std::move(given))},
                                             {"outputs", ambit::Value::list(std::move(outputs))},
                                             {"buffers", ambit::Value::dict(std::move(buffers))}}),
                         file.substr(0, file.size() - 1));
}
