// `ambit info`, run as a program.
#include <ambit/ambit.h>
#include <ambit/checkpoint.h>
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/child_process.h"
#include "tests/temporary_folder.h"
#include "tool.h"

using namespace ambit;
using nlohmann::json;

namespace {

// Calls check(text) for every string of the JSON.
template <class Check>
void for_each_string(const json& j, const Check& check) {
  if (j.is_string()) check(j.get<std::string>());
  if (j.is_structured()) {
    for (const json& item : j) for_each_string(item, check);
  }
}

}  // namespace

TEST_CASE("info prints version, libraries, devices, plugins and why one was refused") {
  const TemporaryFolder folder;
  const std::string text_file = folder.write("libambit_text.so", "no library");
  const std::string settings = kPatchy + ":" + folder.path().string();
  const ChildResult ran = tool("info --json", settings);
  CHECK(ran.exit_code == 0);
  const json info = json::parse(ran.output);

  CHECK(info["ambit"]["version"] == AMBIT_VERSION);
  for (const char* library : {"compiler", "fmt", "zlib", "nlohmann_json"}) {
    INFO(library);
    CHECK_FALSE(info["ambit"][library].get<std::string>().empty());
  }
  const json* cpu = find(info["backends"], "name", "cpu");
  REQUIRE(cpu);
  const json& processor = (*cpu)["devices"][0];
  CHECK(processor["device"] == "cpu");
  CHECK(processor["total_memory_bytes"].get<size_t>() > 0);
  for (const char* detail :
       {"threads", "vector features", "AMBIT_CPU_ISA", "oneDNN", "Highway", "LAPACK"}) {
    INFO(detail);
    CHECK_FALSE(processor["details"][detail].get<std::string>().empty());
  }
#ifndef __x86_64__
  CHECK(processor["details"]["oneDNN"].get<std::string>().find("avx") == std::string::npos);
#endif
  const json* patchy = find(info["backends"], "name", "patchy");
  REQUIRE(patchy);
  CHECK((*patchy)["file"] == kPatchyFile);
  CHECK((*patchy)["devices"].size() == 2);

  const json* loaded = find(info["plugins"], "file", kPatchyFile);
  REQUIRE(loaded);
  CHECK((*loaded)["loaded"] == true);
  CHECK((*loaded)["result"] == "patchy: 2 devices");
  const json* refused = find(info["plugins"], "file", text_file);
  REQUIRE(refused);
  CHECK((*refused)["loaded"] == false);
  CHECK((*refused)["result"].get<std::string>().find("file too short") != std::string::npos);

  const std::string text = tool("info", settings).output;
  CHECK(text.find("refused: expected a loadable library") != std::string::npos);
  for_each_string(info, [&](const std::string& part) {
    INFO(part);
    CHECK(text.find(part) != std::string::npos);
  });
}

TEST_CASE("info of a file prints its kind and its tensors") {
  const TemporaryFolder folder;
  save({{"w", ones({2, 3})}, {"n", ones({}, kInt64)}}, folder / "f.safetensors");
  const std::string path = folder / "f.safetensors";
  const ChildResult shown = tool("info " + path);
  CHECK(shown.exit_code == 0);
  CHECK(shown.output == path + ": a safetensors file\n  w: float32[2, 3]\n  n: int64[]\n");
  const json info = json::parse(tool("info --json " + path).output);
  CHECK(info["kind"] == "a safetensors file");
  CHECK(info["tensors"]["w"] == "float32[2, 3]");

  const Value device = Value::opaque({"torch.device", "torch.device", {"cpu"}});
  save_checkpoint(Value::dict({{"model", StateDict{{"w\x1b[2J", ones({1})}}}, {"d", device}}),
                  folder / "f.pth");
  const std::string text = tool("info " + (folder / "f.pth")).output;
  CHECK(text.find("  model.w\\x1b[2J: float32[1]\n") != text.npos);
  CHECK(text.find("not represented by ambit\n  d: torch.device\n") != text.npos);

  // A dtype that ambit does not have.
  const std::string header = R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                             R"("b":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[1,3]}} )";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  const ChildResult float8 =
      tool("info " + folder.write("f8.safetensors", length + header + "abc") + " 2>&1");
  CHECK(float8.exit_code == 0);
  CHECK_MESSAGE(float8.output.ends_with("  a: uint8[1]\n"
                                        "not represented by ambit\n  b: F8_E4M3 tensor\n"),
                float8.output);

  const std::string page = folder.write("net.pth", "<!DOCTYPE html><html>");
  const ChildResult refused = tool("info " + page);
  CHECK(refused.exit_code == 1);
  CHECK(refused.output.starts_with(page + ": an HTML page\n"));
  CHECK(refused.output.find("download the file itself") != refused.output.npos);
  CHECK(tool("info " + (folder / "missing") + " 2>&1").exit_code == 2);
}

TEST_CASE("info counts the threads that it may use") {
  const json info = json::parse(tool("info --json", "OMP_NUM_THREADS=3").output);
  CHECK((*find(info["backends"], "name", "cpu"))["devices"][0]["details"]["threads"] == "3");
}

TEST_CASE("info reports a folder of the path without plugins") {
  const TemporaryFolder folder;
  const std::string settings = "AMBIT_BACKEND_PATH=" + folder.path().string();
  const json info = json::parse(tool("info --json", settings).output);
  const json* refused = find(info["plugins"], "file", folder.path().string());
  REQUIRE(refused);
  CHECK((*refused)["loaded"] == false);
  CHECK((*refused)["result"] == "expected libambit_<name>.so in the folder, got no such file");
  CHECK(tool("info", settings).output.find(folder.path().string() + "\n    refused: ") !=
        std::string::npos);
}

TEST_CASE("a plugin can be named by its file") {
  const json coverage = ops("--backend " + kPatchyFile);
  CHECK(coverage.size() == 1);
  CHECK(coverage.contains("patchy"));
}

namespace {

/// Return the CPU's line of `info` with a limit of instruction sets; empty: no limit.
json cpu_details(const std::string& limit, const std::string& onednn = "") {
  const std::string command =
      "env -u DNNL_MAX_CPU_ISA -u ONEDNN_MAX_CPU_ISA AMBIT_CPU_ISA=" + limit + " " + onednn + " " +
      emulator() + AMBIT_TOOL " info --json";
  const json info = json::parse(run_command(command).output);
  return (*find(info["backends"], "name", "cpu"))["devices"][0]["details"];
}
bool ends_with(const json& details, const char* library, const std::string& set) {
  return details[library].get<std::string>().ends_with(", " + set);
}

}  // namespace

#ifdef __x86_64__
TEST_CASE("AMBIT_CPU_ISA limits Highway, oneDNN and ambit's own choices, and info prints it") {
  const json all = cpu_details("");
  CHECK(all["AMBIT_CPU_ISA"] == "none");
  for (const std::string limit : {"sse4", "avx2", "avx512", "avx512_bf16"}) {
    INFO(limit);
    CHECK(cpu_details(limit)["AMBIT_CPU_ISA"] == limit);
  }
  const json sse4 = cpu_details("sse4");
  CHECK(ends_with(sse4, "oneDNN", "sse41"));
  CHECK(sse4["Highway"].get<std::string>().find("AVX") == std::string::npos);
  const auto product = [](const std::string& limit) {
    return ops("--backend cpu", "AMBIT_CPU_ISA=" + limit)["cpu"]["ops"]["matmul"]["bfloat16"];
  };
  CHECK(product("sse4") == "upcast");
  // A limit above the CPU's instruction sets changes nothing.
  if (!__builtin_cpu_supports("avx2")) {
    CHECK(cpu_details("avx2")["Highway"] == all["Highway"]);
    return;
  }
  CHECK(ends_with(cpu_details("avx2"), "oneDNN", "avx2"));
  CHECK(ends_with(cpu_details("avx2"), "Highway", "AVX2"));
  CHECK(product("avx2") == "upcast");
  // A user's ONEDNN_MAX_CPU_ISA has priority for oneDNN.
  const json both = cpu_details("avx2", "ONEDNN_MAX_CPU_ISA=SSE41");
  CHECK(ends_with(both, "oneDNN", "sse41"));
  CHECK(ends_with(both, "Highway", "AVX2"));
  const json avx512 = cpu_details("avx512"), newer = cpu_details("avx512_bf16");
  CHECK(avx512["Highway"] == all["Highway"]);
  CHECK(newer["Highway"] == all["Highway"]);
  if (!__builtin_cpu_supports("avx512bw")) {
    CHECK(avx512["oneDNN"] == all["oneDNN"]);
    return;
  }
  CHECK(ends_with(avx512, "oneDNN", "avx512_core"));
  CHECK(product("avx512") == "upcast");
  if (!__builtin_cpu_supports("avx512bf16")) return;
  CHECK(ends_with(newer, "oneDNN", "avx512_core_bf16"));
  CHECK(product("avx512_bf16") == "native");
}
#endif

TEST_CASE("an unknown instruction set in AMBIT_CPU_ISA is an error that lists the known ones") {
  for (const char* arguments : {"info", "ops", "conformance --device cpu --filter nll_loss"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1", "AMBIT_CPU_ISA=avx");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.ends_with(
        "AMBIT_CPU_ISA: expected sse4, avx2, avx512 or avx512_bf16, got \"avx\"\n"));
  }
}
