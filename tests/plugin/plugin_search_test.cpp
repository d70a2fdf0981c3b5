// The search for plugins: when $AMBIT_BACKEND_PATH is read, the report, and the error for an
// unknown name. Each case runs in a separate process, because a process tries a file once.
#include <ambit/ambit.h>
#include <ambit/backend/registry.h>
#include <ambit/plugins.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#include "child.h"
#include "refused.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

// Return the report for the files of $AMBIT_BACKEND_PATH; an installed folder may add more.
std::string result_of(const std::string& file) {
  for (const LoadAttempt& attempt : load_report()) {
    if (attempt.file == file) return (attempt.loaded ? "" : "refused: ") + attempt.result;
  }
  return "never tried";
}

bool has_backend(const std::string& name) {
  const auto names = backend_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string folder_of_child() { return std::getenv("TEST_FOLDER"); }

void add_plugin(const TemporaryFolder& folder, const std::string& plugin, const std::string& file) {
  std::filesystem::copy_file(plugin_path(plugin), folder / file);
}

}  // namespace

TEST_CASE("nothing is loaded before a name is unknown, and then only the file with its name") {
  const TemporaryFolder folder;
  add_plugin(folder, "toy", "libambit_toy.so");
  add_plugin(folder, "toy2", "libambit_toy2.so");
  const auto variables = std::map<std::string, std::string>{{"AMBIT_BACKEND_PATH", folder.path()},
                                                            {"TEST_FOLDER", folder.path()}};
  check_child("child: devices are loaded when they are named", variables);
  check_child("child: asking for all devices loads all plugins", variables);
  check_child("child: two threads name one unknown device", variables);
}
TEST_CASE("child: devices are loaded when they are named" * doctest::skip()) {
  CHECK((ones({2}, "reference") + 1).to(kCPU).equal(full({2}, 2.0)));
  CHECK(load_report().empty());
  CHECK_FALSE(has_backend("toy"));
  CHECK(Device("toy2:0").str() == "toy2:0");
  CHECK(result_of(folder_of_child() + "/libambit_toy2.so") == "toy2: 1 device");
  CHECK(load_report().size() == 1);
  CHECK(is_available("toy"));
  CHECK(load_report().size() == 2);
}
TEST_CASE("child: asking for all devices loads all plugins" * doctest::skip()) {
  std::string all;
  for (const Device d : all_devices()) all += d.str() + " ";
  CHECK(all.starts_with("cpu reference:0 toy:0 toy2:0 "));
  CHECK(best_device().str() == "toy:0");
}
TEST_CASE("child: two threads name one unknown device" * doctest::skip()) {
  std::vector<std::thread> threads;
  std::array<std::string, 4> found;
  for (size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&found, i] {
      try {
        found[i] = Device("toy").str();
      } catch (const Error& e) {
        found[i] = e.what();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& device : found) CHECK(device == "toy:0");
}

TEST_CASE("plugins that simulate others are loaded after them, in any order of the path") {
  const std::string path = plugin_path("stand_in") + ":" + plugin_path("toy");
  check_child("child: a stand-in comes last", {{"AMBIT_BACKEND_PATH", path}});
  check_child("child: a stand-in is loaded alone", {{"AMBIT_BACKEND_PATH", path}});
}
TEST_CASE("child: a stand-in comes last" * doctest::skip()) {
  CHECK(best_device().str() == "toy:0");
  const auto report = load_report();
  REQUIRE(report.size() >= 2);
  CHECK(report.front().file == plugin_path("toy"));
  CHECK(result_of(plugin_path("stand_in")) == "understudy: 1 device");
  const auto names = backend_names();
  CHECK(std::find(names.begin(), names.end(), "toy") <
        std::find(names.begin(), names.end(), "understudy"));
}
TEST_CASE("child: a stand-in is loaded alone" * doctest::skip()) {
  load_backend(plugin_path("stand_in"));
  CHECK(load_report().size() == 1);
  CHECK(is_available("understudy"));
  load_all_backends();
  CHECK(result_of(plugin_path("toy")) == "toy: 1 device");
}

TEST_CASE("an unknown name quotes the report") {
  std::string path;
  for (const Refused& plugin : refused_plugins()) path += plugin_path(plugin.name) + ":";
  check_child("child: every refusal is quoted", {{"AMBIT_BACKEND_PATH", path}});
}
TEST_CASE("child: every refusal is quoted" * doctest::skip()) {
  std::string text;
  try {
    Device("foo");
  } catch (const Error& e) {
    text = e.what();
  }
  INFO(text);
  CHECK(
      text.starts_with("Device: expected the name of a backend, got \"foo\"; existing: cpu, meta, "
                       "reference"));
  CHECK(text.find("; refused plugins:\n") != std::string::npos);
  for (const Refused& plugin : refused_plugins()) {
    INFO(plugin.name);
    const std::string line = result_of(plugin_path(plugin.name));
    REQUIRE(line.starts_with("refused: "));
    CHECK(line.find(plugin.reason) != std::string::npos);
    CHECK(text.find("\n  " + plugin_path(plugin.name) + ": " + line.substr(9)) !=
          std::string::npos);
  }
  for (const char* name : {"half", "other_half", "own", "twin", "repeating"}) {
    CHECK_FALSE(has_backend(name));
  }
  CHECK_FALSE(is_available("foo"));
  CHECK(device_count("foo") == 0);
}

TEST_CASE(
    "the path has files, folders and empty entries, in order, and missing ones are reported") {
  const TemporaryFolder folder;
  add_plugin(folder, "toy3", "libambit_zebra.so");
  add_plugin(folder, "nothing", "libambit_ant.so");
  add_plugin(folder, "toy", "not_a_plugin_name.so");
  folder.write("libambit_notes.txt", "not a library either");
  const TemporaryFolder bare;
  const std::string path = "::" + plugin_path("toy2") + ":" + folder.path().string() +
                           "::/no/such/folder:/no/such/libambit_file.so:" + bare.path().string();
  check_child("child: a path of everything", {{"AMBIT_BACKEND_PATH", path},
                                              {"TEST_FOLDER", folder.path()},
                                              {"TEST_BARE_FOLDER", bare.path()}});
}
TEST_CASE("child: a path of everything" * doctest::skip()) {
  load_all_backends();
  const std::string folder = folder_of_child();
  const auto report = load_report();
  REQUIRE(report.size() >= 6);
  const std::pair<std::string, std::string> expected[] = {
      {plugin_path("toy2"), "toy2: 1 device"},
      {folder + "/libambit_ant.so", "no backends"},
      {folder + "/libambit_zebra.so", "toy3: 1 device"},
      {"/no/such/folder", "expected a file, got none of that name"},
      {"/no/such/libambit_file.so", "expected a file, got none of that name"},
      {std::getenv("TEST_BARE_FOLDER"),
       "expected libambit_<name>.so in the folder, got no such file"},
  };
  for (size_t i = 0; i < std::size(expected); ++i) {
    CHECK(report[i].file == expected[i].first);
    CHECK(report[i].result == expected[i].second);
    CHECK(report[i].loaded == (i < 3));
  }
  CHECK_FALSE(has_backend("toy"));
  load_all_backends();
  CHECK(load_report().size() == report.size());
}

TEST_CASE("a name is searched again after the path has changed") {
  check_child("child: the path is set after the first search");
}
TEST_CASE("child: the path is set after the first search" * doctest::skip()) {
  CHECK_FALSE(is_available("toy"));
  ::setenv("AMBIT_BACKEND_PATH", AMBIT_TEST_PLUGINS, 1);
  CHECK(is_available("toy"));
  CHECK(result_of(plugin_path("toy")) == "toy: 1 device");
}

TEST_CASE("the error for a missing device contains a refused AMBIT_SIM that names it") {
  check_child("child: a device of AMBIT_SIM is missed",
              {{"AMBIT_BACKEND_PATH", plugin_path("without_devices")}, {"AMBIT_SIM", "idle:x"}});
}
TEST_CASE("child: a device of AMBIT_SIM is missed" * doctest::skip()) {
  const Device device("idle");  // known, without devices
  std::string text;
  try {
    ones({1}, device);
  } catch (const BackendError& e) {
    text = e.what();
  }
  INFO(text);
  CHECK(text.starts_with(
      "expected an existing idle device, got idle:0: there are 0; refused plugins:\n  "));
  CHECK(text.find("libambit_sim.so: expected load() to succeed, got an error: AMBIT_SIM: expected "
                  "names and counts of devices such as \"cuda:2,npu:1\", got \"idle:x\"") !=
        std::string::npos);
  // The error for a device that AMBIT_SIM does not name does not mention it.
  CHECK_THROWS_WITH_AS(ones({1}, "reference:1"),
                       "expected an existing reference device, got reference:1: there is 1",
                       BackendError);
}

TEST_CASE("control characters of a path are escaped in output") {
  const TemporaryFolder folder;
  const std::string file = folder.write("libambit_\x1b[31m.so", "no library");
  const std::string shown = folder / "libambit_\\x1b[31m.so";
  try {
    load_backend(file);
    FAIL("not refused");
  } catch (const BackendError& e) {
    const std::string text = e.what();
    INFO(text);
    CHECK(text.starts_with(shown + ": "));
    CHECK(text.find('\x1b') == std::string::npos);
  }
  CHECK(result_of(file).starts_with("refused: "));  // the report has the path itself
  CHECK_THROWS_WITH_AS(Device("n\x1bpu\n:0"), doctest::Contains("got \"n\\x1bpu\\n\""), Error);
  CHECK_THROWS_WITH_AS(Device("cpu:\x07"), doctest::Contains("got \"cpu:\\x07\""), Error);
}

TEST_CASE("a plugin that queries plugins while it loads is loaded once") {
  const std::string path = plugin_path("asks_for_itself") + ":" + plugin_path("toy");
  check_child("child: a curious plugin", {{"AMBIT_BACKEND_PATH", path}});
}
TEST_CASE("child: a curious plugin" * doctest::skip()) {
  CHECK(Device("curious").str() == "curious:0");
  CHECK(result_of(plugin_path("asks_for_itself")) == "curious: 1 device");
  CHECK(result_of(plugin_path("toy")) == "toy: 1 device");
}
