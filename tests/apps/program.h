// A program of apps/ at work: its output as it comes, and what came of it.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

/// How a program ended.
struct ProgramResult {
  int exit_code = -1;  ///< where it exited
  int signal = 0;      ///< that ended it; 0: it exited
  std::string output;  ///< stdout; on a terminal everything
  std::string errors;  ///< stderr
};

/// What a program starts with. Of the environment it gets nothing that would change its output but
/// what is here.
struct ProgramSettings {
  std::string folder;                    ///< it stands there
  std::vector<std::string> environment;  ///< such as "AMBIT_SIM=cuda:1"
  int columns = 0;                       ///< of its terminal; 0: it has none
  bool stderr_closed = false;            ///< where it has no terminal
  size_t file_bytes = 0;                 ///< no file may grow beyond; 0: any size
};

class Program {
 public:
  /// Start `name` with `arguments`.
  Program(const std::string& name, const std::vector<std::string>& arguments,
          const ProgramSettings& settings);
  /// Kills it if it still runs.
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Wait until it has printed `text`. Throws if it ends without.
  void wait_for(const std::string& text);
  void send(int signal);
  /// Wait until its handler of a signal has run, or was taken away.
  void wait_until_not_caught(int signal) const;
  /// Wait for its end.
  ProgramResult finish();

 private:
  bool read_more();

  pid_t pid_ = -1;
  int output_ = -1;  // to read from
  std::string errors_file_;
  std::string printed_;
};

/// Start it and wait for its end.
ProgramResult run_program(const std::string& name, const std::vector<std::string>& arguments,
                          const ProgramSettings& settings);

/// Return the arguments and some more.
inline std::vector<std::string> with(std::vector<std::string> arguments,
                                     const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}
