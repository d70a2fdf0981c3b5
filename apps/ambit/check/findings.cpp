#include "findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace check {
namespace {

using nlohmann::json;

std::string text_of(const json& event, const char* name) { return event.value(name, ""); }

std::string name_of(const Place& call) { return ambit::check::function_name(call.function); }

// The innermost function of the program named forward.
std::string forward_of(const std::vector<Place>& calls) {
  for (const Place& call : calls) {
    if (std::string name = name_of(call); ambit::check::is_forward(name)) return name;
  }
  return {};
}

// The module of the first parameter in an explanation: "block.fc" of "parameter block.fc.weight".
std::string module_of(const std::string& details) {
  constexpr std::string_view kBefore = "parameter ";
  const size_t at = details.find(kBefore);
  if (at == details.npos) return {};
  const size_t begin = at + kBefore.size();
  const std::string parameter = details.substr(begin, details.find('\n', at) - begin);
  const size_t dot = parameter.rfind('.');
  return dot == parameter.npos ? "" : parameter.substr(0, dot);
}

// Return true if a constructor of the class of `forward` is among the calls.
bool is_constructed_by(const std::string& forward, const std::vector<Place>& calls) {
  return std::ranges::any_of(calls, [&](const Place& call) {
    return ambit::check::is_constructor_of(forward, name_of(call));
  });
}

// Only copies that the program requests count, because arange() on a device may copy, too.
bool is_explicit(const json& event) {
  const std::string function = text_of(event, "function");
  const size_t at = function.rfind(':');
  const std::string name = at == function.npos ? function : function.substr(at + 1);
  return name == "to" || name == "copy_" || name == "cuda";
}

// Remove the suggestion to move an operand: a copy in each call would be another mistake.
std::string without_move(const std::string& details) {
  const size_t at = details.rfind("\n  try: ");
  const bool moves = at != details.npos && details.find(": register_", at) == details.npos;
  return moves ? details.substr(0, at) : details;
}

// The mistake may be in a caller, which passed the tensor.
std::string callers_of(const std::vector<Place>& calls) {
  constexpr size_t kMost = 4;
  std::string text;
  for (size_t i = 1; i < std::min(calls.size(), kMost + 1); ++i) {
    if (calls[i].line > 0) text += "\ncalled from " + calls[i].text();
  }
  return text;
}

class Rules {
 public:
  Rules(const std::vector<Run>& runs, const Places& places) : runs_(runs), places_(places) {}

  Report apply() {
    for (const Run& run : runs_) {
      for (const json& event : run.events) apply(run, event);
    }
    compare_runs();
    report_.steps = runs_[0].steps;
    report_.has_optimizer = runs_[0].has_optimizer;
    report_.peaks = runs_[0].peaks;
    const auto by_place = [](const Finding& f) { return std::tie(f.place.file, f.place.line); };
    std::ranges::stable_sort(report_.faults, {}, by_place);
    std::ranges::stable_sort(report_.copies, std::greater(), &Finding::count);
    return std::move(report_);
  }

 private:
  void apply(const Run& run, const json& event) {
    const std::string kind = event["event"];
    if (kind == "mismatch" && places_.is_expected(event["stack"])) return;
    if (kind == "mismatch") return add_mismatch(run, event);
    if (kind == "missing") return add_missing(run, event);
    if (kind == "changed_during_copy") return add_misused_copy(run, event, kind);
    if (kind == "read_during_copy") return add_misused_copy(run, event, kind);
    if (kind == "to_device") add_copy_in_forward(run, event);
    if (kind != "kernel" && &run == &runs_[0]) add_copy(run, event, kind);
  }

  Finding make(const Run& run, const json& event) const {
    const std::vector<Place> calls = places_.calls(event["stack"]);
    Finding finding;
    if (!calls.empty()) finding.place = calls[0];
    finding.function = forward_of(calls);
    finding.device = run.device;
    finding.count = event["count"];
    finding.bytes = event["bytes"];
    finding.steps = event["steps"];
    return finding;
  }

  // One finding for each place and kind; other runs repeat it.
  void add(Finding finding) {
    for (Finding& known : report_.faults) {
      const bool is_same = known.place.file == finding.place.file &&
                           known.place.line == finding.place.line && known.kind == finding.kind;
      if (!is_same || finding.place.text() == "?") continue;
      if (known.device == finding.device) known.count += finding.count;
      return;
    }
    report_.faults.push_back(std::move(finding));
  }

  void add_mismatch(const Run& run, const json& event) {
    Finding finding = make(run, event);
    finding.kind = "device-mismatch";
    finding.message = fmt::format("{}: {} ({})", text_of(event, "op"), text_of(event, "text"),
                                  text_of(event, "argument"));
    if (run.exit_code == 0) finding.message += "; the program continued";
    finding.details = text_of(event, "details");
    finding.module = module_of(finding.details);
    const std::vector<Place> made = makers(event);
    if (is_constructed_by(finding.function, made)) {
      finding.kind = "unregistered-tensor";
      finding.message += "; to() does not move it: register it in the module";
      finding.details = without_move(finding.details);
    }
    finding.details += callers_of(places_.calls(event["stack"]));
    add(std::move(finding));
  }

  std::vector<Place> makers(const json& event) const {
    const json frames = event.value("maker", json());
    return frames.is_array() ? places_.calls(frames) : std::vector<Place>();
  }

  void add_missing(const Run& run, const json& event) {
    Finding finding = make(run, event);
    const bool is_first = run.device == runs_[0].device;
    const bool is_known = std::ranges::any_of(report_.faults, [&](const Finding& known) {
      return known.kind == "missing-device" && known.place.text() == finding.place.text();
    });
    if (!is_first && is_known) return;
    finding.kind = is_first ? "missing-device" : "hard-coded-device";
    finding.message = text_of(event, "text");
    if (!is_first) {
      finding.message =
          fmt::format("on {} the program asks for another device: {}", run.name(), finding.message);
    }
    add(std::move(finding));
  }

  void add_copy_in_forward(const Run& run, const json& event) {
    Finding finding = make(run, event);
    if (finding.function.empty() || !is_explicit(event)) return;
    const std::string device = text_of(event, "device");
    const std::vector<Place> made = makers(event);
    if (is_made_in(finding.function, event)) {
      finding.kind = "made-on-cpu";
      finding.message = fmt::format(
          "a tensor is created on cpu in {} and copied to {}: pass the input's options() to the "
          "factory function",
          finding.function, device);
      if (!made.empty()) finding.details = "created at " + made[0].text();
    } else if (event["repeated"] > 0 || is_second_copy(run, event, finding.place)) {
      finding.kind = "copied-each-call";
      finding.message = fmt::format(
          "{} copies the same {} bytes to {} in each call: register a buffer, or create the tensor "
          "on the input's device",
          finding.function, event.value("first_bytes", size_t{0}), device);
    } else {
      return;
    }
    add(std::move(finding));
  }

  // All values come from factory functions that the forward, or a forward that it calls, called.
  bool is_made_in(const std::string& forward, const json& event) const {
    const json factories = event.value("factories", json::array());
    return !factories.empty() && std::ranges::all_of(factories, [&](const json& frames) {
      return std::ranges::any_of(places_.calls(frames),
                                 [&](const Place& call) { return name_of(call) == forward; });
    });
  }

  void add_misused_copy(const Run& run, const json& event, const std::string& kind) {
    Finding finding = make(run, event);
    const std::vector<Place> used = makers(event);
    const bool is_changed = kind == "changed_during_copy";
    finding.kind = is_changed ? "changed-during-copy" : "read-during-copy";
    constexpr const char* kChanged =
        "the source of a non_blocking copy to {0} is changed before the copy has ended: call "
        "synchronize(\"{0}\") before the change";
    constexpr const char* kRead =
        "the result of a non_blocking copy from {0} is read before synchronize(\"{0}\"): ambit "
        "waits here, libtorch reads the old value";
    finding.message =
        fmt::format(fmt::runtime(is_changed ? kChanged : kRead), text_of(event, "device"));
    if (!used.empty()) finding.details = (is_changed ? "changed at " : "read at ") + used[0].text();
    add(std::move(finding));
  }

  // The compiler may unroll a loop, so calls of one line can have different addresses.
  bool is_second_copy(const Run& run, const json& event, const Place& place) {
    return !copied_.emplace(run.device, place.text(), event.value("contents", size_t{0})).second;
  }

  void add_copy(const Run& run, const json& event, const std::string& kind) {
    Finding finding = make(run, event);
    finding.kind = kind == "to_host"       ? "copy-to-host"
                   : kind == "to_device"   ? "copy-to-device"
                   : kind == "synchronize" ? "synchronize"
                                           : "copy-between-devices";
    for (Finding& known : report_.copies) {
      if (known.place.text() != finding.place.text() || known.kind != finding.kind) continue;
      known.count += finding.count;
      known.bytes += finding.bytes;
      known.steps = std::max(known.steps, finding.steps);
      return;
    }
    report_.copies.push_back(std::move(finding));
  }

  static bool has_error(const Run& run) {
    return std::ranges::any_of(run.events, [](const json& event) {
      return event["event"] == "mismatch" || event["event"] == "missing";
    });
  }

  // Add a note for runs that end differently without another finding.
  void compare_runs() {
    report_.has_run = std::ranges::any_of(runs_, [](const Run& r) { return r.processes > 0; });
    const auto has_no_line = [](const Finding& f) {
      return f.place.line == 0 && f.kind != "other-exit-code";
    };
    if (std::ranges::any_of(report_.faults, has_no_line)) {
      report_.notes.push_back("some source lines are unknown: compile the program with -g");
    }
    const Run& first = runs_[0];
    for (const Run& run : runs_) {
      const bool used = std::ranges::any_of(run.events, [&](const json& event) {
        return text_of(event, "device").starts_with(run.name() + ":");
      });
      if (!used && run.device != "cpu") {
        report_.notes.push_back(fmt::format(
            "nothing ran on {}; \"{{device}}\" in the arguments becomes its name", run.name()));
      }
      if (run.exit_code == first.exit_code) continue;
      if (has_error(run) || has_error(first)) continue;
      add_exit_code(run);
    }
  }

  // One finding for all runs. Its place is the program, because no line is known.
  void add_exit_code(const Run& run) {
    const std::string text = fmt::format(" and with {} on {}", run.exit_code, run.name());
    if (!report_.faults.empty() && report_.faults.back().kind == "other-exit-code") {
      report_.faults.back().message += text;
      return;
    }
    report_.faults.push_back({.kind = "other-exit-code",
                              .message = fmt::format("the program ended with {} on {}{}",
                                                     runs_[0].exit_code, runs_[0].name(), text),
                              .place = {.file = "", .function = "program"},
                              .device = run.device,
                              .count = 1});
  }

  const std::vector<Run>& runs_;
  const Places& places_;
  Report report_;
  std::set<std::tuple<std::string, std::string, size_t>> copied_;  // device, place, contents
};

}  // namespace

Report find_faults(const std::vector<Run>& runs, const Places& places) {
  return Rules(runs, places).apply();
}

}  // namespace check
