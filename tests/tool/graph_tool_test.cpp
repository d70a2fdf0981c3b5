// `ambit graph`, run as a program.
#include <ambit/ops/creation.h>

#include <string>

#include "tests/graph/graph_files.h"
#include "tool.h"

TEST_CASE("graph show prints the calls, and a picture for Graphviz") {
  const ChildResult text = tool("graph show " + graph_file("net"));
  CHECK(text.exit_code == 0);
  CHECK(text.output.starts_with("graph(x: float32[s77, 3, 32, 32]):\n"));
  const ChildResult dot = tool("graph show --dot " + graph_file("net"));
  CHECK(dot.exit_code == 0);
  CHECK(dot.output.starts_with("digraph"));
}

TEST_CASE("graph run reads and writes NumPy arrays") {
  const TemporaryFolder folder;
  // numpy.save(f, numpy.ones((1, 3), dtype="<f4"))
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }";
  header.resize(117, ' ');
  std::string array = std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + "\n";
  for (int i = 0; i < 3; ++i) array += std::string("\x00\x00\x80\x3f", 4);
  const std::string in = folder.write("x.npy", array), out = folder / "y.npy";
  const std::string file = (graph_folder() / "tiny.pt2").string();
  for (const char* device : {"cpu", "sim:0"}) {
    INFO(device);
    const ChildResult ran = tool("graph run " + file + " --in " + in + " --out " + out +
                                 " --device " + device + " 2>&1");
    INFO(ran.output);
    CHECK(ran.exit_code == 0);
    const std::string result = read_bytes(out);
    CHECK(result.size() == 128 + 2 * 4);
    CHECK(result.find("'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)") != result.npos);
    for (const char* plan : {" --plan", " --exact"}) {
      const ChildResult planned = tool("graph run " + file + " --in " + in + " --out " + out +
                                       " --device " + device + plan + " 2>&1");
      INFO(planned.output);
      CHECK(planned.exit_code == 0);
      CHECK(planned.output.starts_with("graph("));
      CHECK(planned.output.find(std::string(" in one block on ") + device) != std::string::npos);
      CHECK(read_bytes(out) == result);
    }
  }
}

TEST_CASE("graph bench measures the graph and its plans at each batch") {
  const ChildResult ran =
      tool("graph bench " + graph_file("net") + " --batch 3 5 --seconds 0.01 2>&1");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  CHECK(ran.output.starts_with("batch  graph "));
  for (const char* part : {"exact plan", "\n3 ", "\n5 ", " us", " MiB"}) {
    INFO(part);
    CHECK(ran.output.find(part) != std::string::npos);
  }
  // Tokens of any length: the size after the first is not a number.
  const ChildResult refused = tool("graph bench " + graph_file("gpt") + " --batch 2 2>&1");
  INFO(refused.output);
  CHECK(refused.exit_code == 2);
  CHECK(refused.output.starts_with("ambit: graph bench: expected sizes"));
}

TEST_CASE("graph convert writes a file with the same calls") {
  const TemporaryFolder folder;
  const std::string to = folder / "b.pt2";
  const ChildResult ran = tool("graph convert " + graph_file("net") + " " + to + " 2>&1");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  CHECK(tool("graph show " + to).output == tool("graph show " + graph_file("net")).output);
}

TEST_CASE("graph convert writes an ONNX model") {
  const TemporaryFolder folder;
  const std::string to = folder / "b.onnx";
  const ChildResult ran =
      tool("graph convert " + (graph_folder() / "tiny.pt2").string() + " " + to + " 2>&1");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  const std::string text = tool("graph show " + to).output, again = folder / "c.onnx";
  CHECK(text.find("Gemm(") != std::string::npos);
  CHECK(tool("graph convert " + to + " " + again + " 2>&1").exit_code == 0);
  CHECK(tool("graph show " + again).output == text);
}

TEST_CASE("errors in the use of graphs name the cause") {
  const TemporaryFolder folder;
  const std::string wrong = folder.write("x.npy", "no array");
  const std::string file = (graph_folder() / "tiny.pt2").string();
  for (const std::string& arguments :
       {std::string("graph"), std::string("graph show"), std::string("graph show /no/such.pt2"),
        "graph show " + wrong, "graph run " + file, "graph run " + file + " --in " + wrong,
        "graph bench " + file + " --batch 0", "graph convert " + file,
        "graph convert " + file + " " + (folder / "a.txt")}) {
    INFO(arguments);
    const ChildResult ran = tool(arguments + " 2>&1");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.starts_with("ambit: "));
  }
}
