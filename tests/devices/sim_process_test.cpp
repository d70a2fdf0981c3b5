// Effects of a simulated device on its process: the trap for host reads, a clean exit with queued
// work, and the values of $AMBIT_SIM. Each test runs in a child process.
#include <ambit/ambit.h>
#include <ambit/plugins.h>
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include "tests/child_process.h"

using namespace ambit;

namespace {
// Hide the devices of this machine.
const std::string kNoGpus = "AMBIT_BACKEND_PATH= CUDA_VISIBLE_DEVICES= AMBIT_SIM=";
}  // namespace

TEST_CASE("child: reads the memory of sim" * doctest::skip()) {
  const Tensor t = ones({3}, Device("sim:0"));
  synchronize(t.device());
  std::printf("address %p\n", t.data_ptr());
  std::fflush(stdout);
  const volatile float* p = t.data_ptr<float>();
  const float value = *p;
  std::printf("read %g\n", static_cast<double>(value));
}

TEST_CASE("child: writes the memory of npu:1" * doctest::skip()) {
  const Tensor t = zeros({3}, Device("npu:1"));
  *const_cast<volatile float*>(t.data_ptr<float>()) = 1;
}

TEST_CASE("child: follows a null pointer" * doctest::skip()) {
  const Tensor t = zeros({3}, Device("sim:0"));
  volatile float* volatile null = nullptr;
  *null = 1;
}

TEST_CASE("child: names the devices" * doctest::skip()) {
  std::string text = "devices:";
  for (const Device d : all_devices()) text.append(" ").append(d.str());
  std::puts(text.c_str());
  std::puts(("best: " + best_device().str()).c_str());
  for (const LoadAttempt& a : load_report()) std::puts(a.result.c_str());
}

TEST_CASE("child: ends with work queued" * doctest::skip()) {
  static Tensor held = ones({100}, Device("sim:0"));  // lives until after main
  held.mul_(2);
  CHECK(true);
}

TEST_CASE("child: forks after the first use of sim" * doctest::skip()) {
  const Tensor t = ones({3}, Device("sim:0"));
  if (const pid_t fork_of_this = fork()) {
    int status = 0;
    waitpid(fork_of_this, &status, 0);
    return;
  }
  try {
    t.cpu();
  } catch (const BackendError& e) {
    std::puts(e.what());
    std::fflush(stdout);
  }
  _exit(0);
}

#ifndef __SANITIZE_THREAD__  // ThreadSanitizer handles a null pointer itself
TEST_CASE("a fault outside of sim's memory is passed to the previous handler") {
  const ChildResult child = run_child("child: follows a null pointer", "AMBIT_SIM=sim:1");
  INFO(child.output);
  CHECK((child.signal != 0 || child.exit_code != 0));
  CHECK(child.output.find("ambit: host access") == std::string::npos);
}
#endif

TEST_CASE("a host read of sim memory ends the process by SIGSEGV after one line with the reason") {
  const ChildResult child = run_child("child: reads the memory of sim", "AMBIT_SIM=sim:1");
  INFO(child.output);
  CHECK(child.signal == SIGSEGV);
  const size_t begin = child.output.find("address "), end = child.output.find('\n', begin);
  REQUIRE(begin != std::string::npos);
  const std::string address = child.output.substr(begin + 8, end - begin - 8);
  CHECK(child.output.substr(end + 1) ==
        "ambit: host access to memory of sim:0 at " + address + "; copy it to the cpu first\n");
}

TEST_CASE("a host write to the memory of a device with another name is trapped, too") {
  const ChildResult child = run_child("child: writes the memory of npu:1", "AMBIT_SIM=npu:2");
  INFO(child.output);
  CHECK(child.signal == SIGSEGV);
  CHECK(child.output.find("ambit: host access to memory of npu:1 at 0x") != std::string::npos);
}

TEST_CASE("AMBIT_SIM names the simulated devices") {
  const auto names = [](const std::string& value) {
    return run_child("child: names the devices", kNoGpus + value).output;
  };
  CHECK(names("").find(" sim:0\n") != std::string::npos);
  CHECK(names("npu:2,tpu:1").find(" npu:0 npu:1 tpu:0\n") != std::string::npos);
  CHECK(names("npu:2,tpu:1").find("npu: 2 devices, tpu: 1 device\n") != std::string::npos);
  // A name that has devices is not simulated.
  CHECK(names("reference:3,npu:1").find(" reference:0 npu:0\n") != std::string::npos);
  // Under the name sim the simulator is not an accelerator; under another name it is one.
  CHECK(names("sim:1").find("best: cpu\n") != std::string::npos);
  CHECK(names("npu:1").find("best: npu:0\n") != std::string::npos);
  CHECK(names("cpu:2").find("expected the name of a kind without real devices, got \"cpu:2\"") !=
        std::string::npos);
}

TEST_CASE("a malformed AMBIT_SIM is refused with its reason") {
  for (const char* value : {"npu", "npu:", ":1", "npu:0", "npu:-1", "npu:1x", "npu:1,", ",npu:1",
                            "npu:1,npu:2", "npu:65", "npu:40,tpu:40", "npu:99999999999"}) {
    INFO(value);
    const std::string output =
        run_child("child: names the devices", kNoGpus + std::string(value)).output;
    INFO(output);
    CHECK(output.find("AMBIT_SIM: expected names and counts of devices such as \"cuda:2,npu:1\", "
                      "got \"" +
                      std::string(value) + "\"") != std::string::npos);
    CHECK(output.find(" npu:0") == std::string::npos);
  }
  const std::string output = run_child("child: names the devices", kNoGpus + "Npu:1").output;
  CHECK(output.find("expected a backend name [a-z][a-z0-9_]*, got \"Npu\"") != std::string::npos);
}

TEST_CASE("a fork of a process that has used sim gets an error") {
  const ChildResult child = run_child("child: forks after the first use of sim", "AMBIT_SIM=sim:1");
  INFO(child.output);
  CHECK(
      child.output.find("sim:0: expected the process that used it first, got a forked child, which "
                        "has no such device\n") != std::string::npos);
}

TEST_CASE("a process ends cleanly with work queued on sim") {
  const ChildResult child = run_child("child: ends with work queued", "AMBIT_SIM=sim:1");
  INFO(child.output);
  CHECK(child.signal == 0);
  CHECK(child.exit_code == 0);
}
