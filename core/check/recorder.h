// Writes the events of a process to a file of $AMBIT_CHECK: one JSON object per line, the first
// time that an event occurs at a place, and the counts at the end of the process.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "stack.h"

namespace ambit::check {

/// One event at one place.
struct Event {
  std::string
      kind;         ///< "mismatch", "missing", "to_device", "to_host", "device_copy", "kernel", ...
  std::string key;  ///< distinguishes events of one kind at one place: an op, a device
  std::function<nlohmann::json()> facts;  ///< written with the first event
  size_t bytes = 0;
  size_t contents = 0;  ///< a hash of the data; 0: unknown
};

/// Return [[file, address], ...], as events hold them.
nlohmann::json json_of(const Stack& stack);
/// As above; null for an unknown stack.
nlohmann::json json_of(const SharedStack& stack);

class Recorder {
 public:
  /// Return the recorder of the process. It is never destroyed.
  static Recorder& get();

  /// Return false if only the origins of errors are recorded.
  static bool writes();
  void add(const Event& event, const Stack& stack);
  /// Write the counts, and the peaks of memory.
  void finish() noexcept;

 private:
  Recorder();
  struct Count {
    size_t id = 0, count = 0, bytes = 0, repeated = 0, contents = 0;
    size_t steps = 0, last_step = 0;  // number of steps in which it occurred, and the last one; 0:
                                      // before the first step
  };
  void open();
  void write(const nlohmann::json& line);

  std::mutex mutex_;  // guards the members below
  std::FILE* file_ = nullptr;
  int process_ = 0;
  std::map<std::pair<std::string, Stack>, Count> counts_;
};

}  // namespace ambit::check
