// An ONNX model: an error, or a graph that prints and that is the same after it is written, in its
// own mode and in evaluation. The file "data" of 64 bytes is next to the model. The graph is not
// run, because it may need any amount of memory.
#include <ambit/error.h>
#include <ambit/graph/graph.h>

#include <fstream>
#include <string>
#include <string_view>

#include "memory_file.h"

using namespace ambit;

namespace {

void write(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const LinkFolder folder;
  const std::string file = folder.path() + "/model.onnx", copy = folder.path() + "/copy.onnx",
                    evaluated = folder.path() + "/evaluated.onnx";
  static const bool has_data = [] {
    write(folder.path() + "/data", std::string(64, '\x3d'));
    return true;
  }();
  if (!has_data) std::abort();
  write(file, std::string_view(reinterpret_cast<const char*>(data), size));
  std::string text;
  try {
    const graph::Graph net = graph::load(file);
    text = net->text();
    if (!net->dot().starts_with("digraph")) std::abort();
    graph::save(net, copy);
    net->eval();  // rewrites the calls
    graph::save(net, evaluated);
  } catch (const SerializationError&) {
    return 0;
  } catch (const NotImplementedError&) {
    return 0;
  }
  if (graph::load(copy)->text() != text) std::abort();
  graph::load(evaluated);
  return 0;
}
