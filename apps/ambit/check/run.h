// Runs a program with recording enabled, and reads the recorded events of its processes.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace check {

/// The bytes in use on a device at its peak, also by module.
struct Peak {
  std::string device;
  size_t bytes = 0;
  std::map<std::string, size_t> modules;  ///< "": none
};

/// One run of the program.
struct Run {
  std::string device;                  ///< "cuda:2": two simulated devices named cuda; "cpu": none
  int exit_code = 0;                   ///< 128 + the signal that ended it; 127: it did not start
  size_t processes = 0;                ///< number of processes that recorded something
  std::vector<nlohmann::json> events;  ///< each with "count", "bytes", "repeated", "steps"
  std::vector<Peak> peaks;
  size_t steps = 0;            ///< number of optimizer steps, or of calls of a module; 0: none
  bool has_optimizer = false;  ///< the steps are those of an optimizer

  /// Return "cuda".
  std::string name() const { return device.substr(0, device.find(':')); }
};

/// Run the command. Arguments "cuda" and "cuda:N", also as the value in "--x=cuda", and "{device}"
/// become the name of the run's device. Standard output goes to standard error. Errors: Error if no
/// process or temporary folder can be made.
Run run_program(std::vector<std::string> command, const std::string& device);

}  // namespace check
