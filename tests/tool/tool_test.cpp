// `ambit info` and `ambit ops`, run as programs.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/checkpoint.h>
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/child_process.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using nlohmann::json;

namespace {

// Runs the tool with settings such as "AMBIT_SIM=npu:1", and none of the parent's, nor its GPUs.
// Its output is stdout alone, unless the arguments say "2>&1".
ChildResult tool(const std::string& arguments, const std::string& settings = "") {
  return run_command(
      "env -u AMBIT_BACKEND_PATH -u AMBIT_FALLBACK CUDA_VISIBLE_DEVICES= "
      "AMBIT_SIM=sim:1 " +
      settings + " " AMBIT_TOOL " " + arguments);
}

const std::string kPatchy = "AMBIT_BACKEND_PATH=" AMBIT_TEST_PLUGINS;
const std::string kPatchyFile = AMBIT_TEST_PLUGINS "/libambit_patchy.so";

json ops(const std::string& arguments, const std::string& settings = "") {
  return json::parse(tool("ops --format json " + arguments, settings).output);
}

const json* find(const json& list, const char* key, const std::string& value) {
  for (const json& item : list) {
    if (item[key] == value) return &item;
  }
  return nullptr;
}

// Calls check(text) for every string in it.
template <class Check>
void for_each_string(const json& j, const Check& check) {
  if (j.is_string()) check(j.get<std::string>());
  if (j.is_structured()) {
    for (const json& item : j) for_each_string(item, check);
  }
}

}  // namespace

TEST_CASE("info shows version, libraries, devices, plugins and why one was refused") {
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

TEST_CASE("info of a file shows what it is, and the tensors in it") {
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

TEST_CASE("ops has every kernel op, and those of cpu and reference are their own") {
  const json coverage = ops("");
  for (const char* backend : {"cpu", "reference"}) {
    INFO(backend);
    const json& found = coverage[backend]["ops"];
    CHECK(found.size() == all_ops().size());
    for (const OpBase* op : all_ops()) {
      INFO(std::string(op->name()));
      REQUIRE(found.contains(op->name()));
      for (const auto& [dtype, verdict] : found[op->name()].items()) {
        const bool widens = dtype == "float16" || dtype == "bfloat16";
        CHECK((verdict == "native" || (widens && verdict == "widened")));
      }
    }
    for (const char* dtype : {"float16", "bfloat16"}) {
      CHECK(found["copy"][dtype] == "native");
      CHECK(found["gather"][dtype] == "native");  // moved
      // The CPU's loops convert what they need; reference has float32's alone.
      const bool own = std::string(backend) == "cpu";
      CHECK(found["unary"][dtype] == (own ? "native" : "widened"));
      CHECK(found["reduce"][dtype] == (own ? "native" : "widened"));
      // Where the CPU has instructions for products, both kinds are made with them.
      CHECK(found["convolution"][dtype] == found["matmul"][dtype]);
      CHECK(found["convolution_weight_grad"][dtype] == found["matmul"][dtype]);
    }
    CHECK_FALSE(coverage[backend].contains("notes"));
  }
}

TEST_CASE("ops --public finds a function and says which ops it runs") {
  const json all = ops("--public");
  CHECK(all["gelu"] == "unary gelu, unary gelu_tanh");
  CHECK(all["cat"] == "copy");
  CHECK(all["transpose"] == "");
  const std::string text = tool("ops --public sort").output;  // the very name before others
  CHECK(text.find("\nsort ") < text.find("argsort"));
  CHECK(text.find("argsort") < text.size());
  CHECK(text.find("cat") == std::string::npos);
  CHECK(tool("ops --public nobody").exit_code == 2);
  CHECK(tool("ops --public gelu --backend sim").exit_code == 2);
}

TEST_CASE("ops sees that a kernel runs a loop of reference, through a wrapper and later too") {
  const json coverage = ops("--backend sim");
  CHECK(coverage.size() == 1);
  for (const json& op : coverage["sim"]["ops"]) {
    for (const json& verdict : op) CHECK(verdict == "reference");
  }
}

TEST_CASE("ops tells gaps by dtype and by function, and what failed") {
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
  CHECK(found["softmax"]["float32"] == "missing");  // of what it is composed of, too much is
  CHECK(found["index_select"]["float32"] == "missing");

  const std::string notes = patchy["notes"].dump();
  CHECK(notes.find("unary exp missing: exp: expected any other function") != std::string::npos);
  CHECK(notes.find("where missing for float64: where: expected float32") != std::string::npos);
  CHECK(notes.find("softmax missing: reduce: expected a kernel") != std::string::npos);
  CHECK(notes.find("convolution missing") == std::string::npos);  // the verdict says it all
  CHECK(notes.find("matmul failed: matmul: lost the device") != std::string::npos);
}

TEST_CASE("the kernels of a backend without devices are shown, and why it has none") {
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

TEST_CASE("ops names the kernel that ends it") {
  for (const std::string crash : {"fault", "abort"}) {
    const ChildResult ran =
        run_command("ulimit -c 0; exec env CUDA_VISIBLE_DEVICES= " + kPatchy +
                    " PATCHY_CRASH=" + crash + " " AMBIT_TOOL " ops --backend patchy 2>&1");
    INFO(ran.output);
    CHECK(ran.output.find("ambit: matmul of ") != std::string::npos);
    CHECK(ran.output.find(" on patchy:0 crashed\n") != std::string::npos);
    CHECK(ran.signal + ran.exit_code != 0);
  }
}

TEST_CASE("info says of a folder in the path that there are no plugins in it") {
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

TEST_CASE("with a fallback, what is missing falls back, and asking does not count as a call") {
  const ChildResult ran =
      tool("ops --backend patchy --format json 2>&1", kPatchy + " AMBIT_FALLBACK=cpu");
  const json found = json::parse(ran.output)["patchy"]["ops"];  // no summary behind it
  CHECK(found["convolution"]["float32"] == "fallback");
  CHECK(found["softmax"]["float32"] == "fallback");
  CHECK(found["where"]["float64"] == "missing");  // there is a kernel, which refuses
  CHECK(found["unary"]["float32"] == "missing");
  CHECK(found["matmul"]["float32"] == "failed");
}

TEST_CASE("several backends are summed up by dtype, as text and as Markdown") {
  const std::string text = tool("ops", kPatchy).output;
  CHECK(text.starts_with("op "));
  CHECK(text.find("native; missing: float64") != std::string::npos);
  const std::string markdown = tool("ops --format md", kPatchy).output;
  CHECK(
      markdown.starts_with("| op | cpu | reference | patchy | sim |\n"
                           "| --- | --- | --- | --- | --- |\n"
                           "| copy | native | native | native | reference |\n"));
}

TEST_CASE("exit codes tell wrong usage from success, and help is help") {
  CHECK(tool("--version").output == "ambit " AMBIT_VERSION "\n");
  for (const char* arguments : {"--help", "info --help", "ops --help", "info", "ops"}) {
    INFO(arguments);
    const ChildResult ran = tool(arguments);
    CHECK(ran.exit_code == 0);
    CHECK_FALSE(ran.output.empty());
  }
  for (const char* arguments :
       {"", "nonsense", "ops --format xml", "ops --backend nobody", "ops --backend meta",
        "ops --backend /no/such.so", "info --nope", "conformance --device cpu --max-failures -1",
        "conformance --device cpu --seed -1", "conformance --device cpu --timeout nan",
        "conformance --device cpu --timeout inf", "conformance --device cpu --timeout 0",
        "conformance --device cpu --seed 99999999999999999999"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.starts_with("ambit: "));
  }
}

TEST_CASE("a subcommand that there is not is named") {
  CHECK(tool("nonsense 2>&1").output.starts_with("ambit: expected a subcommand, got \"nonsense\""));
}

TEST_CASE("output that nobody can get is no success") {
  for (const char* arguments : {"info", "info --json", "ops", "conformance --device cpu --list",
                                "--help", "--version", "info --help"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1 >/dev/full");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.ends_with(": No space left on device\n"));
  }
}

TEST_CASE("a mistake that cannot be told is one all the same") {
  for (const char* arguments : {"nonsense", "", "ops --backend nobody"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>/dev/full");
    CHECK(ran.signal == 0);
    CHECK(ran.exit_code == 2);
  }
}

namespace {

/// What `info` says of the CPU under a limit of instruction sets; empty: none.
json cpu_details(const std::string& limit, const std::string& onednn = "") {
  const std::string command =
      "env -u DNNL_MAX_CPU_ISA -u ONEDNN_MAX_CPU_ISA AMBIT_CPU_ISA=" + limit + " " + onednn +
      " " AMBIT_TOOL " info --json";
  const json info = json::parse(run_command(command).output);
  return (*find(info["backends"], "name", "cpu"))["devices"][0]["details"];
}
bool ends_with(const json& details, const char* library, const std::string& set) {
  return details[library].get<std::string>().ends_with(", " + set);
}

}  // namespace

#ifdef __x86_64__
TEST_CASE("AMBIT_CPU_ISA limits Highway, oneDNN and ambit's own choices, and info shows it") {
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
  CHECK(product("sse4") == "widened");
  // A limit above what the CPU has changes nothing.
  if (!__builtin_cpu_supports("avx2")) {
    CHECK(cpu_details("avx2")["Highway"] == all["Highway"]);
    return;
  }
  CHECK(ends_with(cpu_details("avx2"), "oneDNN", "avx2"));
  CHECK(ends_with(cpu_details("avx2"), "Highway", "AVX2"));
  CHECK(product("avx2") == "widened");
  // A user's ONEDNN_MAX_CPU_ISA has the last word on oneDNN.
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
  CHECK(product("avx512") == "widened");
  if (!__builtin_cpu_supports("avx512bf16")) return;
  CHECK(ends_with(newer, "oneDNN", "avx512_core_bf16"));
  CHECK(product("avx512_bf16") == "native");
}
#endif

TEST_CASE(
    "an instruction set that AMBIT_CPU_ISA does not know is an error that lists those it does") {
  for (const char* arguments : {"info", "ops", "conformance --device cpu --filter nll_loss"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1", "AMBIT_CPU_ISA=avx");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.ends_with(
        "AMBIT_CPU_ISA: expected sse4, avx2, avx512 or avx512_bf16, got \"avx\"\n"));
  }
}

TEST_CASE("a bad AMBIT_FALLBACK is the user's mistake, not that of the kernels") {
  for (const char* arguments : {"ops", "conformance --device cpu --filter nll_loss"}) {
    INFO(arguments);
    const ChildResult ran = tool(std::string(arguments) + " 2>&1", "AMBIT_FALLBACK=sometimes");
    CHECK(ran.exit_code == 2);
    CHECK(ran.output.ends_with("AMBIT_FALLBACK: expected error, warn or cpu, got \"sometimes\"\n"));
  }
}

TEST_CASE("colour is for terminals, unless they want none") {
  const std::string escape = "\x1b[";
  CHECK(tool("ops", kPatchy).output.find(escape) == std::string::npos);
  // `script` runs a command in a terminal of its own.
  const auto in_terminal = [](const std::string& settings) {
    return run_command("env -u NO_COLOR CUDA_VISIBLE_DEVICES= TERM=xterm " + kPatchy + " " +
                       settings + " script -qec '" AMBIT_TOOL " ops' /dev/null")
        .output;
  };
  CHECK(in_terminal("").find(escape + "31mmissing") != std::string::npos);
  CHECK(in_terminal("NO_COLOR=1").find(escape) == std::string::npos);
}
