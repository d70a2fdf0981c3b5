// Lack of memory while plugins are searched and loaded: a typed error, and the next attempt finds
// them as if it were the first. Each case runs in a separate process, because plugins stay loaded.
#include <ambit/ambit.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/late_library.h>
#include <ambit/plugins.h>
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "child.h"
#include "refused.h"
#include "tests/faults/faults.h"

using namespace ambit;

namespace {

bool is_loaded(const std::string& file) {
  const auto report = load_report();
  return std::any_of(report.begin(), report.end(),
                     [&](const LoadAttempt& a) { return a.loaded && a.file == file; });
}

bool is_pending() {
  const auto report = load_report();
  return std::any_of(report.begin(), report.end(), [](const LoadAttempt& a) {
    return a.result.find("while it is loading") != std::string::npos;
  });
}

// Fail each request of `work` in turn, in one process: a later attempt must succeed.
template <class Work>
void refuse_each_request(const Work& work) {
  for (long n = 1;; ++n) {
    REQUIRE(n < 20'000);
    std::string error;
    faults::refuse(n);
    try {
      work();
    } catch (const Error& e) {
      error = e.what();
    } catch (const std::exception& e) {
      error = std::string("untyped: ") + e.what();
    }
    const bool refused = faults::stop();
    INFO("request ", n, ": ", error);
    CHECK_FALSE(is_pending());
    if (!refused) {
      CHECK(error.empty());
      CHECK(n > 10);
      return;
    }
    CHECK_FALSE(error.starts_with("untyped"));
  }
}

// Uses up the address space, except for the part that malloc already has.
class NoAddressSpace {
 public:
  NoAddressSpace() {
    std::vector<std::unique_ptr<char[]>> blocks(1000);
    for (auto& block : blocks) block = std::make_unique<char[]>(1000);
    blocks.clear();
    ::getrlimit(RLIMIT_AS, &before_);
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(pages) * 4096;
    REQUIRE(::setrlimit(RLIMIT_AS, &now) == 0);
  }
  ~NoAddressSpace() { ::setrlimit(RLIMIT_AS, &before_); }
  NoAddressSpace(const NoAddressSpace&) = delete;
  NoAddressSpace& operator=(const NoAddressSpace&) = delete;

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("after any failed request in a search for plugins a later search succeeds") {
  const std::string path = plugin_path("nothing") + ":" + plugin_path("toy");
  const auto variables = std::map<std::string, std::string>{{"AMBIT_BACKEND_PATH", path}};
  check_child("child: a device is named without memory", variables);
  check_child("child: a device of another file is named without memory",
              {{"AMBIT_BACKEND_PATH", path + ":" + plugin_path("stand_in")}});
  check_child("child: all plugins are loaded without memory", variables);
  check_child("child: a plugin is loaded without memory");
}
TEST_CASE("child: a device is named without memory" * doctest::skip()) {
  refuse_each_request([] { (void)Device("toy"); });
  CHECK(is_loaded(plugin_path("toy")));
}
TEST_CASE("child: a device of another file is named without memory" * doctest::skip()) {
  // The file with its name has another device, so that all files are tried.
  refuse_each_request([] { (void)Device("understudy"); });
  CHECK(is_loaded(plugin_path("toy")));
}
TEST_CASE("child: all plugins are loaded without memory" * doctest::skip()) {
  refuse_each_request([] { load_all_backends(); });
  CHECK(is_loaded(plugin_path("nothing")));
  CHECK(is_loaded(plugin_path("toy")));
}
TEST_CASE("child: a plugin is loaded without memory" * doctest::skip()) {
  const std::string file = plugin_path("toy");
  refuse_each_request([&file] { load_backend(file); });
  CHECK(is_loaded(plugin_path("toy")));
  CHECK(is_available("toy"));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these need address space
TEST_CASE("a library that did not fit into memory is tried again later") {
  const std::string path = plugin_path("toy") + ":" + plugin_path("toy2");
  check_child("child: a device is named without address space", {{"AMBIT_BACKEND_PATH", path}});
  check_child("child: all plugins are loaded without address space",
              {{"AMBIT_BACKEND_PATH", path}});
}
TEST_CASE("child: a device is named without address space" * doctest::skip()) {
  CHECK(device_count("reference") == 1);
  {
    const NoAddressSpace limit;
    CHECK(device_count("toy") == 0);
  }
  CHECK_FALSE(is_loaded(plugin_path("toy")));
  CHECK(Device("toy").str() == "toy:0");
}
TEST_CASE("child: all plugins are loaded without address space" * doctest::skip()) {
  CHECK(device_count("reference") == 1);
  {
    const NoAddressSpace limit;
    load_all_backends();
  }
  CHECK_FALSE(is_loaded(plugin_path("toy")));
  load_all_backends();
  CHECK(is_loaded(plugin_path("toy")));
  CHECK(is_loaded(plugin_path("toy2")));
}

TEST_CASE("a library opened at run time that did not fit into memory is tried again later") {
  check_child("child: a late library is opened without address space");
}
TEST_CASE("child: a late library is opened without address space" * doctest::skip()) {
  const Tensor spd = eye(3) * 2;
  std::string text;
  bool solved = false;
  {
    const NoAddressSpace limit;
    try {
      (void)late_library("zip");
    } catch (const OutOfMemoryError& e) {
      text = e.what();
    }
    try {
      (void)linalg_cholesky(spd);
      solved = true;
    } catch (const OutOfMemoryError&) {
    }
  }
  INFO(text);
  CHECK(text.starts_with("zip: expected to open "));
  CHECK(late_library("zip") != nullptr);
  CHECK(linalg_cholesky(spd).square().allclose(spd));
  // With LAPACK on this system, the first attempt must not record that there is none.
  for (const auto& [name, value] : backend_of(kCPU).properties(0).details) {
    INFO(name, ": ", value);
    if (name == "LAPACK") CHECK((!solved || value.find("No such file") != value.npos));
  }
}
#endif
