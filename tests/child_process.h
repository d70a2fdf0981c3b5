// Runs programs, and hidden test cases of this program in a separate process: for code that ends
// the process, and for settings that are read once.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

struct ChildResult {
  int signal = 0;      ///< signal that ended it; 0: it exited
  int exit_code = -1;  ///< -1: it did not exit
  std::string output;  ///< stdout, and stderr if the command redirects it
};

/// The start of a command that runs a program of this build: an emulator if the build is for
/// another architecture, else empty. cmake/aarch64.cmake sets the variable.
inline std::string emulator() {
  const char* words = std::getenv("AMBIT_EMULATOR");
  return words ? words + std::string(" ") : "";
}

/// Run a shell command. With a leading `exec`, signals are reported as signals, not as exit codes.
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

/// Run the test case of that name, decorated with `* doctest::skip()`, with settings such as
/// "AMBIT_SIM=npu:1" in the environment. The name must not contain quotes.
inline ChildResult run_child(const std::string& test_case, const std::string& environment = "") {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  // No core file: crashes are expected.
  return run_command("ulimit -c 0; exec env " + environment + " " + emulator() + "'" + program +
                     "' --no-skip --no-intro --test-case='" + test_case + "' 2>&1");
}
