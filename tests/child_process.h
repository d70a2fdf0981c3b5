// Runs a hidden test case of this program in a process of its own: for what ends a process, and
// for settings that are read once.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

struct ChildResult {
  int signal = 0;      ///< that ended it; 0: it exited
  int exit_code = 0;   ///< where it exited
  std::string output;  ///< stdout and stderr
};

/// Run the test case of that name, which is decorated `* doctest::skip()`, with settings such as
/// "AMBIT_SIM=npu:1" in the environment. No name may hold a quote.
inline ChildResult run_child(const std::string& test_case, const std::string& environment = "") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  // No core file: the crashes are wanted. exec: the shell must not translate the signal.
  const std::string command = "ulimit -c 0; exec env " + environment + " '" + program +
                              "' --no-skip --no-intro --test-case='" + test_case + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("popen failed: " + command);
  ChildResult result;
  std::array<char, 4096> chunk;
  while (const size_t read = fread(chunk.data(), 1, chunk.size(), pipe)) {
    result.output.append(chunk.data(), read);
  }
  const int status = pclose(pipe);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}
