// The JSON of a .pt2 file: an error, or a graph that prints and that is the same after saving. The
// input: the program, a NUL, the names of the weights. The graph is not run, because it may need
// any amount of memory.
#include <ambit/error.h>
#include <ambit/graph/graph.h>

#include <string_view>

#include "graph_parts.h"
#include "memory_file.h"

using namespace ambit;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t nul = input.find('\0');
  const std::string bytes =
      graph_bytes(input.substr(0, nul), nul == input.npos ? kGraphWeights : input.substr(nul + 1));
  const MemoryFile file(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  static const LinkFolder folder;
  const std::string copy = folder.path() + "/copy.pt2";
  std::string text;
  try {
    const graph::Graph net = graph::load(file.path());
    text = net->text();
    if (!net->dot().starts_with("digraph")) std::abort();
    graph::save(net, copy);
    net->train();  // rewrites the calls
    graph::save(net, folder.path() + "/training.pt2");
  } catch (const SerializationError&) {
    return 0;
  } catch (const NotImplementedError&) {
    return 0;
  }
  if (graph::load(copy)->text() != text) std::abort();
  graph::load(folder.path() + "/training.pt2");
  return 0;
}
