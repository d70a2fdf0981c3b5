// load_backend(): effects of a good plugin; errors for refused ones, which have no effects.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/fallback.h>
#include <ambit/plugins.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "child.h"
#include "refused.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

// The state that registration can change.
struct Registered {
  std::vector<std::string> names;
  std::vector<bool> kernels;  // whether there is a kernel, by op and kind
  bool operator==(const Registered&) const = default;
};

Registered registered() {
  Registered now{backend_names(), {}};
  for (const OpBase* op : all_ops()) {
    for (int k = 0; k < kMaxDeviceKinds; ++k) {
      now.kernels.push_back(op->has_kernel(static_cast<DeviceKind>(k)));
    }
  }
  return now;
}

// Return the reason for which a file is refused, from the error; the report must have the same
// reason.
std::string refusal(const std::string& file) {
  std::string text;
  try {
    load_backend(file);
    FAIL("not refused: " << file);
  } catch (const BackendError& e) {
    text = e.what();
  }
  REQUIRE(text.starts_with(file + ": "));
  const std::string reason = text.substr(file.size() + 2);
  int lines = 0;
  for (const LoadAttempt& attempt : load_report()) {
    if (attempt.file != file) continue;
    ++lines;
    CHECK_FALSE(attempt.loaded);
    CHECK(attempt.result == reason);
  }
  CHECK(lines == 1);
  return reason;
}

std::string result_of(const std::string& file) {
  for (const LoadAttempt& attempt : load_report()) {
    if (attempt.file == file) return (attempt.loaded ? "" : "refused: ") + attempt.result;
  }
  return "never tried";
}

bool is_mapped(const std::string& file) {
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle) dlclose(handle);
  return handle;
}

}  // namespace

TEST_CASE("every kind of bad plugin is refused with its reason and has no effects") {
  const Registered before = registered();
  for (const Refused& plugin : refused_plugins()) {
    INFO(plugin.name);
    const std::string file = plugin_path(plugin.name);
    const std::string reason = refusal(file);
    INFO(reason);
    CHECK(
        (plugin.whole ? reason == plugin.reason : reason.find(plugin.reason) != std::string::npos));
    // A refused plugin stays loaded after it was opened, because its code may have started a
    // thread.
    CHECK(is_mapped(file) == (plugin.name != "no_such_file" && plugin.name != "needs_absent"));
    CHECK(registered() == before);
  }
  CHECK_THROWS_AS(Device("half"), Error);
  CHECK_THROWS_AS(Device("own"), Error);
}

TEST_CASE("a file that is not a library is refused with the message of the system's loader") {
  const TemporaryFolder folder;
  const std::string text = folder.write("libambit_text.so", std::string(1000, 'x'));
  CHECK(refusal(text).find("invalid ELF header") != std::string::npos);
  CHECK(refusal(folder.write("libambit_empty.so", "")).find("file too short") != std::string::npos);
  CHECK(refusal(folder.path().string()) == "expected a plugin, got a folder of plugins");
  std::filesystem::create_directory(folder / "empty");
  CHECK(refusal(folder / "empty") == "expected libambit_<name>.so in the folder, got no such file");
  CHECK_THROWS_AS(load_backend(""), BackendError);
  const std::string pipe = folder / "libambit_pipe.so";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(refusal(pipe) == "expected a file, got a pipe or a device");
}

TEST_CASE("an incomplete copy of a file is refused with its size, without a crash") {
  const TemporaryFolder folder;
  const std::string whole = read_bytes(plugin_path("nothing"));
  std::string reason;
  // Pages are mapped as a whole, so the end of the last one may appear to exist.
  for (size_t part = 64; part < whole.size(); part += whole.size() / 50) {
    const std::string file =
        folder.write("libambit_part" + std::to_string(part) + ".so", whole.substr(0, part));
    reason = refusal(file);
    INFO(part, ": ", reason);
    CHECK(reason.starts_with("expected a whole library of at least "));
    CHECK(reason.ends_with(" bytes, got " + std::to_string(part) + ": not all of it was copied"));
  }
  const std::string last = folder.write("libambit_last.so", whole.substr(0, whole.size() - 1));
  CHECK(refusal(last).starts_with("expected a whole library of at least " +
                                  std::to_string(whole.size())));
  const std::string file = folder.write("libambit_all.so", whole);
  load_backend(file);
  CHECK(result_of(file) == "no backends");
}

TEST_CASE("false headers of a library are refused, and nothing beyond the file is read") {
  const TemporaryFolder folder;
  const std::string whole = read_bytes(plugin_path("nothing"));
  int count = 0;
  // phoff, shoff, and the counts and sizes of their tables.
  for (const size_t at : {32, 40, 56, 60}) {
    std::string lying = whole;
    lying.replace(at, 2, "\xff\xff");
    if (at < 56) lying.replace(at + 2, 6, "\xff\xff\xff\xff\xff\x7f");
    const std::string file = folder.write("libambit_" + std::to_string(++count) + ".so", lying);
    INFO(at);
    CHECK(refusal(file).starts_with("expected a whole library of at least "));
  }
}

TEST_CASE("a refused library stays loaded, since its threads may run") {
  check_child("child: a refused library keeps running");
}
TEST_CASE("child: a refused library keeps running" * doctest::skip()) {
  const std::string file = plugin_path("starts_a_thread");
  CHECK(refusal(file) ==
        "expected load() to succeed, got an error: no such hardware, but a thread");
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(library);
  const auto beats = reinterpret_cast<int (*)()>(dlsym(library, "ambit_fixture_beats"));
  REQUIRE(static_cast<bool>(beats));
  for (const int before = beats(); beats() < before + 1000;) std::this_thread::yield();
}

TEST_CASE(
    "a plugin that waits for a thread which waits for plugins gets an error instead of a "
    "deadlock") {
  check_child("child: a plugin joins a thread", {{"AMBIT_LOAD_TIMEOUT", "0.2"}});
}
TEST_CASE("child: a plugin joins a thread" * doctest::skip()) {
  const std::string file = plugin_path("joins_a_thread");
  CHECK(refusal(file) ==
        "expected load() to succeed, got an error: expected another thread to have "
        "loaded " +
            file +
            " within 0.2 s, but it has not finished; does its load() wait "
            "for this thread? ($AMBIT_LOAD_TIMEOUT sets the limit)");
  CHECK_THROWS_AS(Device("unheard_of"), Error);
  load_backend(plugin_path("toy"));
  CHECK(is_available("toy"));
}
TEST_CASE("an invalid timeout changes nothing") {
  for (const char* timeout : {"soon", "-1", "0", "1e9", "5 s", "nan"}) {
    check_child("child: a bad timeout",
                {{"AMBIT_LOAD_TIMEOUT", timeout}, {"AMBIT_BACKEND_PATH", AMBIT_TEST_PLUGINS}});
  }
}
TEST_CASE("child: a bad timeout" * doctest::skip()) {
  CHECK(device_count("toy") == 1);
  load_backend(plugin_path("toy2"));
  CHECK(is_available("toy2"));
}

TEST_CASE("world-writable files are not loaded unless this is permitted") {
  const TemporaryFolder folder;
  const std::string file = folder / "libambit_shared.so";
  std::filesystem::copy_file(plugin_path("nothing"), file);
  const std::string end = "; AMBIT_TRUST_PLUGINS=1 loads it anyway";
  const std::string begin = "expected a plugin that other users may not write, got the ";
  for (const mode_t mode : {0777, 01777, 0703}) {
    REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
    const std::string octal = mode == 0777 ? "777" : mode == 01777 ? "1777" : "703";
    CHECK(refusal(file) ==
          begin + "folder " + folder.path().string() + " with mode " + octal + end);
  }
  REQUIRE(::chmod(folder.path().c_str(), 0775) == 0);
  REQUIRE(::chmod(file.c_str(), 0757) == 0);
  CHECK(refusal(file) == begin + "file " + file + " with mode 757" + end);
  CHECK_FALSE(is_mapped(file));
  // Load the same file through a symbolic link.
  const TemporaryFolder link_folder;
  std::filesystem::create_symlink(file, link_folder / "libambit_link.so");
  CHECK_THROWS_AS(load_backend(link_folder / "libambit_link.so"), BackendError);
  check_child("child: every user is trusted", {{"AMBIT_TRUST_PLUGINS", "1"}, {"TEST_FILE", file}});
  REQUIRE(::chmod(file.c_str(), 0755) == 0);
  load_backend(file);
  CHECK(result_of(file) == "no backends");
}
TEST_CASE("child: every user is trusted" * doctest::skip()) {
  const std::string file = std::getenv("TEST_FILE");
  load_backend(file);
  CHECK(result_of(file) == "no backends");
}

TEST_CASE("a refused file can be loaded after it is corrected") {
  const TemporaryFolder folder;
  const std::string file = folder / "libambit_late.so";
  CHECK(refusal(file) == "expected a file, got none of that name");
  std::filesystem::copy_file(plugin_path("nothing"), file);
  load_backend(file);
  CHECK(result_of(file) == "no backends");
  // A library stays in the process, and the system's loader identifies it by its name.
  const std::string again = folder / "libambit_again.so", better = folder / "better";
  std::filesystem::copy_file(plugin_path("throws_error"), again);
  for (int i = 0; i < 3; ++i) CHECK(refusal(again).ends_with("no such hardware"));
  std::filesystem::copy_file(plugin_path("nothing"), better);
  std::filesystem::rename(better, again);
  load_backend(again);
  CHECK(result_of(again) == "no backends");
}

TEST_CASE("a good plugin adds a device that computes, and loading it again does nothing") {
  load_backend(plugin_path("toy"));
  const Registered once = registered();
  const size_t lines = load_report().size();
  load_backend(plugin_path("toy"));
  load_backend(AMBIT_TEST_PLUGINS "/../plugins/libambit_toy.so");
  CHECK(registered() == once);
  CHECK(load_report().size() == lines);
  CHECK(result_of(plugin_path("toy")) == "toy: 1 device");

  CHECK(is_available("toy"));
  CHECK(device_count("toy") == 1);
  const Tensor x = arange(6, Device("toy")).view({2, 3});
  CHECK((x + x).device().str() == "toy:0");
  CHECK((x + x).t().cpu().equal(tensor({{0, 6}, {2, 8}, {4, 10}})));
  CHECK_THROWS_WITH_AS(ones({1}, "toy:1"), "expected an existing toy device, got toy:1: there is 1",
                       BackendError);
  CHECK(explain(kernels::convolution, "toy") ==
        "convolution on toy:0: kernel of " + plugin_path("toy"));
}

TEST_CASE("a name that another plugin has taken is refused with both libraries") {
  load_backend(plugin_path("toy"));
  const Registered before = registered();
  const std::string both =
      "expected a new backend name, got \"toy\", which " + plugin_path("toy") + " has taken";
  CHECK(refusal(plugin_path("claims_toy")) == both);
  // A copy is another library, which would register the same kernels again.
  const TemporaryFolder folder;
  std::filesystem::copy_file(plugin_path("toy"), folder / "libambit_toy.so");
  CHECK(refusal(folder / "libambit_toy.so") == both);
  CHECK(registered() == before);
}

TEST_CASE("three plugins in one process copy to each other and do not interfere") {
  for (const char* name : {"toy", "toy2", "toy3"}) load_backend(plugin_path(name));
  const Tensor x = arange(24, TensorOptions(kFloat32)).view({2, 3, 4});
  // sim differs from the toy backends: accesses to its memory trap, and its work runs later.
  const std::string names[] = {"cpu", "reference", "toy", "toy2", "toy3", "sim"};
  for (const std::string& from : names) {
    CHECK((x.to(from) * 2 + 1).cpu().equal(x * 2 + 1));
    for (const std::string& to : names) {
      INFO(from, " to ", to);
      const Tensor there = x.to(from).transpose(0, 2).to(to);
      CHECK(there.device() == Device(to));
      CHECK(there.cpu().equal(x.transpose(0, 2)));
      const Tensor target = zeros({4, 3}, Device(to)).t();
      target.copy_(x.to(from)[0]);
      CHECK(target.cpu().equal(x[0]));
      if (Device(from) == Device(to)) continue;
      CHECK_THROWS_WITH_AS(
          x.to(from) * x.to(to),
          ("expected device " + Device(from).str() + " but got device " + Device(to).str()).c_str(),
          DeviceMismatchError);
    }
  }
  // Gradients pass through several devices: y = sum((2 x)^2), dy/dx = 8 x.
  Tensor w = full({3}, 1.5).requires_grad_();
  ((w.to("toy") * 2).to("toy2").square().to("toy3").sum()).backward();
  CHECK(w.grad().equal(full({3}, 12.0)));
}

TEST_CASE("two threads that load at the same time load once") {
  check_child("child: two threads load one plugin and another");
}
TEST_CASE("child: two threads load one plugin and another" * doctest::skip()) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([i] {
      load_backend(plugin_path(i % 2 == 0 ? "toy" : "toy2"));
      load_backend(plugin_path(i % 2 == 0 ? "toy2" : "toy"));
      ones({1}, "toy").add_(1);
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(load_report().size() == 2);
  const auto names = backend_names();
  CHECK(std::count(names.begin(), names.end(), "toy") == 1);
  CHECK(std::count(names.begin(), names.end(), "toy2") == 1);
}

TEST_CASE("the names of built-in backends are reserved, whatever is loaded first") {
  check_child("child: the first thing that happens is a plugin that claims the cpu");
}
TEST_CASE("child: the first thing that happens is a plugin that claims the cpu" * doctest::skip()) {
  CHECK_THROWS_AS(load_backend(plugin_path("claims_cpu")), BackendError);
  CHECK_THROWS_AS(load_backend(plugin_path("claims_reference")), BackendError);
  load_backend(plugin_path("toy"));
  CHECK(backend_names() == std::vector<std::string>{"cpu", "meta", "reference", "toy"});
  CHECK((ones({2}) + 1).equal(full({2}, 2.0)));
}

TEST_CASE("a backend without devices is replaced by one of its name with devices") {
  check_child("child: the idle backend is replaced");
}
TEST_CASE("child: the idle backend is replaced" * doctest::skip()) {
  const std::string idle = plugin_path("without_devices"), busy = plugin_path("with_devices");
  load_backend(idle);
  CHECK(result_of(idle) == "idle: 0 devices");
  CHECK_FALSE(is_available("idle"));
  const Device device("idle");
  CHECK_THROWS_WITH_AS(ones({1}, device),
                       "expected an existing idle device, got idle:0: there are 0", BackendError);
  for (const Device d : all_devices()) CHECK(d.type() != "idle");
  CHECK(kernels::fill.has_kernel(device.kind()));

  load_backend(busy);
  CHECK(result_of(busy) == "idle: 2 devices");
  CHECK(device_count("idle") == 2);
  CHECK(Device("idle").kind() == device.kind());
  CHECK(explain(kernels::copy, device) == "copy on idle:0: kernel of " + busy);
  // Nothing of the replaced backend remains: all kernels of its devices name the new library.
  CHECK_FALSE(kernels::fill.has_kernel(device.kind()));
  CHECK(ones({2}).to("idle:1").cpu().equal(ones({2})));
}

TEST_CASE("a backend with devices is not replaced") {
  check_child("child: the busy backend stays");
}
TEST_CASE("child: the busy backend stays" * doctest::skip()) {
  load_backend(plugin_path("with_devices"));
  CHECK(refusal(plugin_path("without_devices")) ==
        "expected a new backend name, got \"idle\", which " + plugin_path("with_devices") +
            " has taken");
  CHECK(device_count("idle") == 2);
}
