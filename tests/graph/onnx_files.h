// Small ONNX models, and the files of onnx_nodes_1.23.tar.xz.
#pragma once

#include <ambit/graph/graph.h>
#include <ambit/serialize.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "onnx_messages.h"
#include "tests/files/python.h"
#include "tests/temporary_folder.h"

namespace onnx_model {

/// Load a model from bytes.
inline ambit::graph::Graph load(const std::string& content) {
  static const TemporaryFolder folder;
  return ambit::graph::load(folder.write("a.onnx", content));
}

}  // namespace onnx_model
