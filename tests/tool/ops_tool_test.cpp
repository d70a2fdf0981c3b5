// `ambit ops`, run as a program.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/child_process.h"
#include "tool.h"

using namespace ambit;
using nlohmann::json;

TEST_CASE("ops lists every kernel op, and cpu and reference have their own kernels") {
  const json coverage = ops("");
  for (const char* backend : {"cpu", "reference"}) {
    INFO(backend);
    const json& found = coverage[backend]["ops"];
    CHECK(found.size() == all_ops().size());
    for (const OpBase* op : all_ops()) {
      INFO(std::string(op->name()));
      REQUIRE(found.contains(op->name()));
      for (const auto& [dtype, verdict] : found[op->name()].items()) {
        const bool is_short = dtype == "float16" || dtype == "bfloat16";
        CHECK((verdict == "native" || (is_short && verdict == "upcast")));
      }
    }
    for (const char* dtype : {"float16", "bfloat16"}) {
      CHECK(found["copy"][dtype] == "native");
      CHECK(found["gather"][dtype] == "native");  // the kernel only copies bits
      // The CPU's loops convert as needed; reference has only float32 loops.
      const bool own = std::string(backend) == "cpu";
      CHECK(found["unary"][dtype] == (own ? "native" : "upcast"));
      CHECK(found["reduce"][dtype] == (own ? "native" : "upcast"));
      // CPUs with instructions for products use them for both kinds.
      CHECK(found["convolution"][dtype] == found["matmul"][dtype]);
      CHECK(found["convolution_weight_grad"][dtype] == found["matmul"][dtype]);
    }
    CHECK_FALSE(coverage[backend].contains("notes"));
  }
}

TEST_CASE("ops --public finds a function and prints its ops") {
  const json all = ops("--public");
  CHECK(all["gelu"] == "unary gelu, unary gelu_tanh");
  CHECK(all["cat"] == "copy");
  CHECK(all["transpose"] == "");
  const std::string text = tool("ops --public sort").output;  // the exact name before others
  CHECK(text.find("\nsort ") < text.find("argsort"));
  CHECK(text.find("argsort") < text.size());
  CHECK(text.find("cat") == std::string::npos);
  CHECK(tool("ops --public nobody").exit_code == 2);
  CHECK(tool("ops --public gelu --backend sim").exit_code == 2);
}

TEST_CASE("ops detects that a kernel runs a loop of reference, also through a wrapper and later") {
  const json coverage = ops("--backend sim");
  CHECK(coverage.size() == 1);
  for (const json& op : coverage["sim"]["ops"]) {
    for (const json& verdict : op) CHECK(verdict == "reference");
  }
}

TEST_CASE("ops prints gaps by dtype and by function, and failures") {
  const ChildResult ran = tool("ops --backend patchy --format json", kPatchy);
  CHECK(ran.exit_code == 1);
  const json patchy = json::parse(ran.output)["patchy"];
  CHECK(patchy["file"] == kPatchyFile);
  const json& found = patchy["ops"];
  CHECK(found["copy"]["float32"] == "native");
  CHECK(found["fill"]["float32"] == "reference");
  CHECK(found["where"]["float32"] == "native");
  CHECK(found["where"]["float64"] == "missing");
  CHECK(found["unary"]["int8"] == "reference");
  CHECK(found["unary"]["int64"] == "native");
  CHECK(found["unary"]["float32"] == "missing");
  CHECK(found["matmul"]["float32"] == "failed");
  CHECK(found["convolution"]["float32"] == "missing");
  CHECK(found["softmax"]["float32"] == "missing");  // too many ops of its composite are missing
  CHECK(found["index_select"]["float32"] == "missing");

  const std::string notes = patchy["notes"].dump();
  CHECK(notes.find("unary exp missing: exp: expected any other function") != std::string::npos);
  CHECK(notes.find("where missing for float64: where: expected float32") != std::string::npos);
  CHECK(notes.find("softmax missing: reduce: expected a kernel") != std::string::npos);
  CHECK(notes.find("convolution missing") == std::string::npos);  // the verdict says this already
  CHECK(notes.find("matmul failed: matmul: lost the device") != std::string::npos);
}

TEST_CASE("ops prints the kernels of a backend without devices, and the reason") {
  const std::string settings = kPatchy + " PATCHY_ABSENT=1";
  for (const std::string& backend : {std::string("patchy"), kPatchyFile}) {
    INFO(backend);
    const ChildResult ran = tool("ops --backend " + backend + " --format json", settings);
    CHECK(ran.exit_code == 0);
    const json patchy = json::parse(ran.output)["patchy"];
    CHECK(patchy["device"].is_null());
    CHECK(patchy["reason_for_none"] == "expected a patch, got none");
    const json& found = patchy["ops"];
    CHECK(found.size() == all_ops().size());
    CHECK(found["matmul"]["float32"] == "registered");
    CHECK(found["where"]["float64"] == "registered");
    CHECK(found["softmax"]["float32"] == "composite");
    CHECK(found["gather"]["float32"] == "missing");
  }
  const std::string text = tool("ops --backend patchy", settings).output;
  CHECK(text.ends_with(
      "patchy: no devices, expected a patch, got none; its kernels were not called\n"));
  CHECK_FALSE(ops("", settings).contains("patchy"));  // where devices are compared

  const json info = json::parse(tool("info --json", settings).output);
  const json* patchy = find(info["backends"], "name", "patchy");
  REQUIRE(patchy);
  CHECK((*patchy)["devices"].empty());
  CHECK((*patchy)["kernels"]["own"] == 5);
  const std::string shown = tool("info", settings).output;
  CHECK(shown.find("  no devices: expected a patch, got none\n  kernels: 5 of its own, ") !=
        std::string::npos);
}

TEST_CASE("no kernel is missing on cuda, with and without GPUs") {
  const json info = json::parse(tool("info --json").output);
  const json* cuda = find(info["backends"], "name", "cuda");
  if (!cuda) {
    MESSAGE("skipped: a build without CUDA");
    return;
  }
  CHECK((*cuda)["devices"].empty());
  CHECK_FALSE((*cuda)["reason_for_none"].get<std::string>().empty());
  const json& kernels = (*cuda)["kernels"];
  CHECK(kernels["missing"] == 0);
  CHECK(kernels["own"].get<size_t>() + kernels["composite"].get<size_t>() == all_ops().size());
  const json coverage = ops("--backend cuda");
  for (const auto& [name, op] : coverage["cuda"]["ops"].items()) {
    INFO(name);
    const bool composite = op.begin().value() == "composite";
    for (const json& verdict : op) CHECK(verdict == (composite ? "composite" : "registered"));
  }
}

TEST_CASE("ops names the kernel that ends its process") {
  for (const std::string crash : {"fault", "abort"}) {
    const ChildResult ran = run_command("ulimit -c 0; exec env CUDA_VISIBLE_DEVICES= " + kPatchy +
                                        " PATCHY_CRASH=" + crash + " " + emulator() +
                                        AMBIT_TOOL " ops --backend patchy 2>&1");
    INFO(ran.output);
    CHECK(ran.output.find("ambit: matmul of ") != std::string::npos);
    CHECK(ran.output.find(" on patchy:0 crashed\n") != std::string::npos);
    CHECK(ran.signal + ran.exit_code != 0);
  }
}

TEST_CASE("with a fallback, missing kernels fall back, and probing does not count as a call") {
  const ChildResult ran =
      tool("ops --backend patchy --format json 2>&1", kPatchy + " AMBIT_FALLBACK=cpu");
  const json found = json::parse(ran.output)["patchy"]["ops"];  // no summary follows the JSON
  CHECK(found["convolution"]["float32"] == "fallback");
  CHECK(found["softmax"]["float32"] == "fallback");
  CHECK(found["where"]["float64"] == "missing");  // there is a kernel, but it refuses the dtype
  CHECK(found["unary"]["float32"] == "missing");
  CHECK(found["matmul"]["float32"] == "failed");
}

TEST_CASE("several backends are compared by dtype, as text and as Markdown") {
  const std::string text = tool("ops", kPatchy).output;
  CHECK(text.starts_with("op "));
  CHECK(text.find("native; missing: float64") != std::string::npos);
  const std::string markdown = tool("ops --format md", kPatchy).output;
  CHECK(
      markdown.starts_with("| op | cpu | reference | patchy | sim |\n"
                           "| --- | --- | --- | --- | --- |\n"
                           "| copy | native | native | native | reference |\n"));
}
