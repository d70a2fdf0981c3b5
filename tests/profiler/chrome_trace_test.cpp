// The trace file of a profile, in Chrome's trace format.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "tests/child_process.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using nlohmann::json;

namespace {

std::string python() {
  const char* const named = std::getenv("AMBIT_PYTHON");
  return named && *named ? named : "python3";
}

// Two training steps on a device with its own clock, and the cpu's calls that copy its inputs.
void record_steps(const std::string& trace) {
  manual_seed(3);
  profiler::Profile profile({.record_shapes = true, .profile_memory = true});
  nn::Linear net = nn::Linear(8, 4).to("sim:0");
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.1));
  for (int step = 1; step <= 2; ++step) {
    const profiler::RecordFunction scope("ProfilerStep#" + std::to_string(step));
    sgd.zero_grad();
    relu(net(rand({16, 8}).to("sim:0"))).sum().backward();
    sgd.step();
    synchronize("sim:0");  // otherwise queued work begins only at the next wait
  }
  profile.stop();
  profile.export_chrome_trace(trace);
}

const json& row_named(const json& rows, const char* column, const std::string& name) {
  const auto found =
      std::ranges::find_if(rows, [&](const json& r) { return r.at(column) == name; });
  REQUIRE_MESSAGE(found != rows.end(), "no row of " << name);
  return *found;
}

}  // namespace

TEST_CASE("Chrome's trace has every call, and Python can read it") {
  const TemporaryFolder folder;
  profiler::Profile profile({.record_shapes = true, .profile_memory = true});
  {
    const profiler::RecordFunction scope("quotes \" and \\, \n, \xff and ü");
    for (int i = 0; i < 12; ++i) exp(ones({3}, "sim:0"));
    std::thread([] { exp(ones({3})); }).join();
  }
  profile.stop();
  const std::string path = folder / "trace.json";
  profile.export_chrome_trace(path);
  const json trace = json::parse(read_bytes(path));
  size_t calls = 0, on_device = 0, counters = 0;
  std::set<std::string> threads;
  for (const auto& e : trace.at("traceEvents")) {
    const std::string kind = e.at("ph"), category = e.value("cat", "");
    if (kind == "M" && e.at("name") == "thread_name") threads.insert(e.at("args").at("name"));
    if (kind == "C") ++counters;
    if (kind != "X") continue;
    CHECK(e.at("dur").get<double>() >= 0);
    if (category != "runtime") ++(category == "kernel" ? on_device : calls);
    if (e.at("name") == "exp" && category == "cpu_op") {
      CHECK(e.at("args").at("Input Dims") == json{{3}});
    }
  }
  CHECK(calls == profile.events().size());
  CHECK(on_device == static_cast<size_t>(std::ranges::count_if(
                         profile.events(), [](const auto& e) { return e.device_start >= 0; })));
  CHECK(on_device > 10);
  CHECK(counters > 10);
  CHECK(threads == std::set<std::string>{"thread 0", "thread 1", "sim:0"});

  const ChildResult result = run_command(
      python() + " -c \"import json; print(len(json.load(open('" + path + "'))['traceEvents']))\"");
  if (result.exit_code == 127) {
    MESSAGE("skipped: no python3");
  } else {
    CHECK(result.output == std::to_string(trace.at("traceEvents").size()) + "\n");
  }
  CHECK_THROWS_AS(profile.export_chrome_trace("/nowhere/trace.json"), SerializationError);
}

TEST_CASE("each call has the number of its device work, which is linked to its op") {
  const TemporaryFolder folder;
  record_steps(folder / "trace.json");
  struct Slice {
    double start, end;
  };
  std::map<int64_t, std::map<std::string, Slice>> by_number;
  const json trace = json::parse(read_bytes(folder / "trace.json"));
  for (const json& e : trace.at("traceEvents")) {
    if (e.at("ph") != "X") continue;
    const double start = e.at("ts"), end = start + e.at("dur").get<double>();
    const json& args = e.at("args");
    if (args.contains("External id")) by_number[args.at("External id")][e.at("cat")] = {start, end};
  }
  size_t linked = 0;
  for (const auto& [number, slices] : by_number) {
    if (!slices.contains("runtime")) continue;
    ++linked;
    const Slice &op = slices.at("cpu_op"), &call = slices.at("runtime");
    CHECK(slices.size() == 3);  // the three slices are two calls and a kernel or a copy
    CHECK(op.start <= call.start);
    CHECK(call.end <= op.end);
  }
  CHECK(linked > 10);
}

TEST_CASE("TensorBoard's profiler plugin shows steps, operators, kernels and memory") {
  if (run_command(python() + " -c 'import torch_tb_profiler' 2>&1").exit_code != 0) {
    MESSAGE("skipped: no torch_tb_profiler (AMBIT_PYTHON names a Python that has it)");
    return;
  }
  const TemporaryFolder folder;
  const std::string trace = folder / "machine_1.1700000000000.pt.trace.json";
  record_steps(trace);
  const ChildResult read = run_command(python() + " '" AMBIT_READ_TRACE "' '" + trace + "'");
  REQUIRE(read.exit_code == 0);
  const json shown = json::parse(read.output);
  CHECK(shown["complaints"] == json::array());
  CHECK(shown["worker"] == "machine_1");
  CHECK(shown["views"] == json{"Overview", "Operator", "Kernel", "Trace", "Memory"});
  CHECK(shown["steps"] == json{"1", "2"});
  const json& product = row_named(shown["operators"], "name", "linear");
  CHECK(product["calls"] == 2);
  CHECK(product["shape"] == "[[16, 8], [4, 8], [4]]");
  CHECK(product["host"].get<double>() > 0);
  CHECK(product["device"].get<double>() > 0);
  CHECK(row_named(shown["operators"], "name", "LinearBackward0")["calls"] == 2);
  CHECK(row_named(shown["operators"], "name", "copy_from_host")["device"].get<double>() > 0);
  CHECK(row_named(shown["kernels"], "Name", "linear")["Calls"] == 2);
  CHECK(row_named(shown["kernels"], "Name", "linear")["Operator"] == "linear");
  CHECK(shown["memory"].contains("CPU"));
  CHECK(shown["memory"].contains("GPU0"));
  CHECK(shown["curves"]["CPU"].get<int>() > 2);
  CHECK(shown["curves"]["GPU0"].get<int>() > 2);
}
