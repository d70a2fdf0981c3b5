// The devices on which a test runs.
#pragma once

#include <ambit/device.h>
#include <ambit/error.h>
#include <ambit/testing/report.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ambit::test {

/// Return the devices to test on: those that $AMBIT_TEST_DEVICES names, such as "cpu,cuda:0", else
/// all available ones: cpu, reference, simulated devices, real ones. CMake's
/// ambit_test_on_devices() sets the variable. Errors: Error for a name without a backend, and for
/// a device that does not exist.
inline std::vector<Device> devices() {
  std::vector<Device> all = all_devices();
  const char* variable = std::getenv("AMBIT_TEST_DEVICES");
  if (!variable || !*variable) return all;
  std::vector<Device> chosen;
  std::string_view names = variable;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    const Device device(name);
    if (std::find(all.begin(), all.end(), device) == all.end()) {
      throw Error("AMBIT_TEST_DEVICES: expected devices of this machine, got " + device.str());
    }
    chosen.push_back(device);
  }
  return chosen;
}

/// During its lifetime, reports of this thread name the device.
class OnDevice {
 public:
  /// Set the device that reports of this thread name.
  explicit OnDevice(Device device) : before_(std::exchange(current_device_name(), device.str())) {}
  /// Restore the previous device.
  ~OnDevice() { current_device_name() = std::move(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  /// Return "on cuda:0" for the current device.
  static Message message() { return {"on " + current_device_name()}; }

 private:
  std::string before_;
};

/// Call `body(device)` with each of devices(). A failed macro of <ambit/testing.h> names the
/// device, and so does an exception: it is rethrown as test::Failure, with the prefix "on sim:0: ".
/// The framework's own checks do not name the device here; in FOR_EACH_DEVICE they do.
template <class Body>
void for_each_device(const Body& body) {
  for (const Device device : devices()) {
    const OnDevice scope(device);
    try {
      body(device);
    } catch (const std::exception& e) {
      throw Failure(message_of(e.what()).text);
    }
  }
}

}  // namespace ambit::test

/// @cond
// INFO of Catch2 2 contains a semicolon.
#define AMBIT_TESTING_INFO_2(message)    \
  const Catch::ScopedMessage ambit_info( \
      Catch::MessageBuilder("INFO", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info) << message)
#define AMBIT_TESTING_INFO_3(message) INFO(message)
#define AMBIT_TESTING_INFO_CATCH_VERSION_MAJOR(message) INFO(message)
#define AMBIT_TESTING_JOINED(first, second) first##second
#define AMBIT_TESTING_INFO_OF(version) AMBIT_TESTING_JOINED(AMBIT_TESTING_INFO_, version)
/// @endcond

/// Run the following block with each of test::devices(), as `device`. Failures in the block,
/// including those of the framework's own checks, name the device.
///   FOR_EACH_DEVICE(device) { CHECK(ones({2}, device).sum().item<int>() == 2); }
#define FOR_EACH_DEVICE(device)                                                    \
  for (const ambit::Device device : ambit::test::devices())                        \
    if (const ambit::test::OnDevice ambit_scope(device); true)                     \
      if (AMBIT_TESTING_INFO_OF(CATCH_VERSION_MAJOR)(ambit_scope.message()); true) \
        if (SCOPED_TRACE(ambit_scope.message()); true)
