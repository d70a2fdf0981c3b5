// Runs programs, and hidden test cases of this program in a process of their own: for what ends a
// process, and for settings that are read once.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>

struct ChildResult {
  int signal = 0;      ///< that ended it; 0: it exited
  int exit_code = -1;  ///< -1: it did not exit
  std::string output;  ///< stdout, and stderr where the command sends it there
};

/// Run a command of the shell. With `exec` before it, the shell translates no signal.
inline ChildResult run_command(const std::string& command) {
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

/// Run the test case of that name, which is decorated `* doctest::skip()`, with settings such as
/// "AMBIT_SIM=npu:1" in the environment. No name may hold a quote.
inline ChildResult run_child(const std::string& test_case, const std::string& environment = "") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  // No core file: the crashes are wanted.
  return run_command("ulimit -c 0; exec env " + environment + " '" + program +
                     "' --no-skip --no-intro --test-case='" + test_case + "' 2>&1");
}
