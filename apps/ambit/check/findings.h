// The rules: which events are mistakes, and which are only listed.
#pragma once

#include <string>
#include <vector>

#include "places.h"
#include "run.h"

namespace check {

struct Finding {
  std::string kind;     ///< "device-mismatch", ...; docs/check.md lists them
  std::string message;  ///< one line
  std::string details;  ///< further lines; may be empty
  Place place;
  std::string module;    ///< dotted path of the last module with a parameter; may be empty
  std::string function;  ///< the innermost `forward` of the program; may be empty
  std::string device;    ///< device of the first run with this finding
  size_t count = 0;      ///< number of occurrences in that run
  size_t bytes = 0;      ///< of copies
  size_t steps = 0;      ///< for copies: number of steps in which they occurred
};

struct Report {
  std::vector<Finding> faults;  ///< exit code 1
  /// Copies and synchronisations of the first run by place, most frequent first; not mistakes.
  std::vector<Finding> copies;
  size_t steps = 0;                ///< of the first run's optimizer, or calls of its module
  bool has_optimizer = false;      ///< true if the steps are those of an optimizer
  std::vector<Peak> peaks;         ///< of the first run
  std::vector<std::string> notes;  ///< about the runs
  bool has_run = true;             ///< false: no run used ambit
};

/// Apply the rules to all runs of one program.
Report find_faults(const std::vector<Run>& runs, const Places& places);

/// A line of the list of accepted mistakes.
struct Accepted {
  std::string file;  ///< the list
  int line = 0;
  std::string kind, place;
};

/// Read a list: "kind file:line" in each line, '#' begins a comment. Errors: Error if the file
/// cannot be read or a line is something else.
std::vector<Accepted> read_accepted(const std::string& file);

/// Remove the accepted mistakes; their files may have further leading folders. Add a finding for
/// each line that accepts none.
void allow(Report& report, const std::vector<Accepted>& list);

}  // namespace check
