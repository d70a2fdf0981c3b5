// The file that a profile leaves, in the format of Chrome's traces.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>

#include "tests/child_process.h"
#include "tests/temporary_folder.h"

using namespace ambit;

TEST_CASE("Chrome's trace has every call, and Python reads it") {
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
  const auto trace = nlohmann::json::parse(read_bytes(path));
  size_t calls = 0, on_device = 0, counters = 0;
  std::set<std::string> threads;
  for (const auto& e : trace.at("traceEvents")) {
    const std::string kind = e.at("ph"), category = e.value("cat", "");
    if (kind == "M" && e.at("name") == "thread_name") threads.insert(e.at("args").at("name"));
    if (kind == "C") ++counters;
    if (kind != "X") continue;
    CHECK(e.at("dur").get<double>() >= 0);
    ++(category == "kernel" ? on_device : calls);
    if (category == "cpu_op") CHECK(!e.at("args").at("Input Dims").get<std::string>().empty());
  }
  CHECK(calls == profile.events().size());
  CHECK(on_device == static_cast<size_t>(std::ranges::count_if(
                         profile.events(), [](const auto& e) { return e.device_start >= 0; })));
  CHECK(on_device > 10);
  CHECK(counters > 10);
  CHECK(threads == std::set<std::string>{"thread 0", "thread 1", "sim:0"});

  const char* const named = std::getenv("AMBIT_PYTHON");
  const std::string python = named && *named ? named : "python3";
  const ChildResult result = run_command(python + " -c \"import json; print(len(json.load(open('" +
                                         path + "'))['traceEvents']))\"");
  if (result.exit_code == 127) {
    MESSAGE("skipped: no python3");
  } else {
    CHECK(result.output == std::to_string(trace.at("traceEvents").size()) + "\n");
  }
  CHECK_THROWS_AS(profile.export_chrome_trace("/nowhere/trace.json"), SerializationError);
}
