// Runs a program of apps/, and reads its output while it runs.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

/// How a program ended.
struct ProgramResult {
  int exit_code = -1;  ///< exit code, if it exited
  int signal = 0;      ///< signal that ended it; 0: it exited
  std::string output;  ///< stdout; on a terminal also stderr
  std::string errors;  ///< stderr
};

/// Settings of a program. Its environment contains no other variable that affects its output.
struct ProgramSettings {
  std::string folder;                    ///< working directory
  std::vector<std::string> environment;  ///< such as "AMBIT_SIM=cuda:1"
  int columns = 0;                       ///< width of its terminal; 0: no terminal
  bool stderr_closed = false;            ///< only without a terminal
  size_t file_bytes = 0;                 ///< file size limit; 0: none
};

class Program {
 public:
  /// Start `name` with `arguments`.
  Program(const std::string& name, const std::vector<std::string>& arguments,
          const ProgramSettings& settings);
  /// Kill the program if it is still running.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Wait until it has printed `text`. Throws if it exits before.
  void wait_for(const std::string& text);
  void send(int signal);
  /// Wait until it no longer catches a signal: the handler has run or was removed.
  void wait_until_not_caught(int signal) const;
  /// Wait until it exits.
  ProgramResult finish();

 private:
  bool read_more();

  pid_t pid_ = -1;
  int output_ = -1;  // read end
  std::string errors_file_;
  std::string printed_;
};

/// Start a program and wait until it exits.
ProgramResult run_program(const std::string& name, const std::vector<std::string>& arguments,
                          const ProgramSettings& settings);

/// Return `arguments` followed by `more`.
inline std::vector<std::string> with(std::vector<std::string> arguments,
                                     const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}
