// load_backend(): what a good plugin brings, what is refused and why, and that a refused one leaves
// nothing behind.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/fallback.h>
#include <ambit/plugins.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <thread>

#include "child.h"
#include "refused.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

// All that registration can change.
struct Registered {
  std::vector<std::string> names;
  std::vector<bool> kernels;  // by op and kind
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

// The reason for which a file is refused, from the error; the report must say the same.
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

TEST_CASE("every kind of bad plugin is refused with its reason and leaves nothing behind") {
  const Registered before = registered();
  for (const Refused& plugin : refused_plugins()) {
    INFO(plugin.name);
    const std::string file = plugin_path(plugin.name);
    const std::string reason = refusal(file);
    INFO(reason);
    CHECK(
        (plugin.whole ? reason == plugin.reason : reason.find(plugin.reason) != std::string::npos));
    CHECK_FALSE(is_mapped(file));
    CHECK(registered() == before);
  }
  CHECK_THROWS_AS(Device("half"), Error);
  CHECK_THROWS_AS(Device("own"), Error);
}

TEST_CASE("a file that is no library is refused in the words of the system's loader") {
  const TemporaryFolder folder;
  const std::string text = folder.write("libambit_text.so", std::string(1000, 'x'));
  CHECK(refusal(text).find("invalid ELF header") != std::string::npos);
  CHECK(refusal(folder.write("libambit_empty.so", "")).find("file too short") != std::string::npos);
  CHECK(refusal(folder.path().string()).starts_with("expected a loadable library, got: "));
  CHECK_THROWS_AS(load_backend(""), BackendError);
  const std::string pipe = folder / "libambit_pipe.so";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(refusal(pipe) == "expected a file, got a pipe");
}

TEST_CASE("a file that was refused can be loaded once it is right") {
  const TemporaryFolder folder;
  const std::string file = folder / "libambit_late.so";
  CHECK(refusal(file) == "expected a file, got none of that name");
  std::filesystem::copy_file(plugin_path("nothing"), file);
  load_backend(file);
  CHECK(result_of(file) == "no backends");
}

TEST_CASE("a good plugin brings a device that computes, and loading it again does nothing") {
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
  CHECK(explain(kernels::conv2d, "toy") == "conv2d on toy:0: kernel of " + plugin_path("toy"));
}

TEST_CASE("a name that another plugin has taken is refused with both libraries") {
  load_backend(plugin_path("toy"));
  const Registered before = registered();
  const std::string both =
      "expected a new backend name, got \"toy\", which " + plugin_path("toy") + " has taken";
  CHECK(refusal(plugin_path("claims_toy")) == both);
  // A copy is another library: it would bring the same kernels twice.
  const TemporaryFolder folder;
  std::filesystem::copy_file(plugin_path("toy"), folder / "libambit_toy.so");
  CHECK(refusal(folder / "libambit_toy.so") == both);
  CHECK(registered() == before);
}

TEST_CASE("three plugins in one process copy to each other, and do not mix") {
  for (const char* name : {"toy", "toy2", "toy3"}) load_backend(plugin_path(name));
  const Tensor x = arange(24, TensorOptions(kFloat32)).view({2, 3, 4});
  // sim is unlike the toys: its memory traps, and its work is done later.
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
  // A chain of devices is differentiable: y = sum((2 x)^2), dy/dx = 8 x.
  Tensor w = full({3}, 1.5).requires_grad_();
  ((w.to("toy") * 2).to("toy2").square().to("toy3").sum()).backward();
  CHECK(w.grad().equal(full({3}, 12.0)));
}

TEST_CASE("two threads that load at once load once") {
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

TEST_CASE("the names of the built-in backends are theirs, whatever is loaded first") {
  check_child("child: the first thing that happens is a plugin that claims the cpu");
}
TEST_CASE("child: the first thing that happens is a plugin that claims the cpu" * doctest::skip()) {
  CHECK_THROWS_AS(load_backend(plugin_path("claims_cpu")), BackendError);
  CHECK_THROWS_AS(load_backend(plugin_path("claims_reference")), BackendError);
  load_backend(plugin_path("toy"));
  CHECK(backend_names() == std::vector<std::string>{"cpu", "meta", "reference", "toy"});
  CHECK((ones({2}) + 1).equal(full({2}, 2.0)));
}

TEST_CASE("a backend without devices gives way to one of its name that has some") {
  check_child("child: the idle backend gives way");
}
TEST_CASE("child: the idle backend gives way" * doctest::skip()) {
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
  // Nothing of the one that gave way is left: a library answers for all kernels of its devices.
  CHECK_FALSE(kernels::fill.has_kernel(device.kind()));
  CHECK(ones({2}).to("idle:1").cpu().equal(ones({2})));
}

TEST_CASE("a backend with devices does not give way, not even to the like") {
  check_child("child: the busy backend stays");
}
TEST_CASE("child: the busy backend stays" * doctest::skip()) {
  load_backend(plugin_path("with_devices"));
  CHECK(refusal(plugin_path("without_devices")) ==
        "expected a new backend name, got \"idle\", which " + plugin_path("with_devices") +
            " has taken");
  CHECK(device_count("idle") == 2);
}
