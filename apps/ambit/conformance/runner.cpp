#include "runner.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <stdexcept>

#include "worker_process.h"

namespace conformance {
namespace {

using nlohmann::json;

class Runner {
 public:
  Runner(const Options& options, const std::function<void(const Run&)>& on_result)
      : options_(options), on_result_(on_result) {}

  Run run() {
    while (!finished_) run_worker();
    return std::move(run_);
  }

 private:
  using Event = WorkerProcess::Event;

  WorkerProcess::Deadline deadline() const {
    return std::chrono::steady_clock::now() +
           std::chrono::ceil<std::chrono::nanoseconds>(
               std::chrono::duration<double>(options_.timeout_s));
  }

  /// Return whether the run can stop early.
  bool has_enough() const {
    const bool planned = !run_.plan.device.empty();
    const size_t limit = options_.max_failures;
    return (options_.list && planned) || (limit > 0 && failures_ >= limit);
  }

  /// Run one worker until it ends.
  void run_worker() {
    WorkerProcess worker(options_);
    running_.reset();
    done_ = false;
    began_with_ = options_.first;
    const std::string problem = listen(worker);
    finished_ = done_;
    if (!problem.empty()) blame(problem);
    finished_ = finished_ || has_enough();
  }

  /// Return an error of the worker; empty if it ran all cases and ended normally.
  std::string listen(WorkerProcess& worker) {
    std::string line;
    while (true) {
      const Event event = worker.read_line(line, deadline());
      if (event == Event::line) {
        if (!take(line)) return fmt::format("wrote \"{:.60}\" into the pipe for results", line);
        if (has_enough()) return "";
        continue;
      }
      if (event == Event::timeout) {
        worker.kill();
        return quote(fmt::format("did not end within {:g} s", options_.timeout_s), worker);
      }
      const std::string ending = worker.wait(deadline());
      if (ending.empty() && done_) return "";
      return quote(ending.empty() ? "exited before all cases had run" : ending, worker);
    }
  }

  static std::string quote(const std::string& ending, const WorkerProcess& worker) {
    const std::string words = worker.last_words();
    return words.empty() ? ending : fmt::format("{}; its last output: {}", ending, words);
  }

  /// Process a line. Return false if it is not a valid message.
  bool take(const std::string& line) {
    const json message = json::parse(line, nullptr, false);
    if (!message.is_object()) return false;
    try {
      if (message.contains("refused")) throw Refused(message["refused"].get<std::string>());
      if (message.contains("plan")) {
        run_.plan = message["plan"].get<Plan>();
        if (run_.plan.cases.empty()) {
          throw Refused(
              fmt::format("--filter: expected part of a case's name, got \"{}\"; --list "
                          "shows them all",
                          options_.filter));
        }
      } else if (message.contains("start")) {
        running_ = message["start"].get<size_t>();
      } else if (message.contains("result") && running_) {
        options_.first = *running_ + 1;
        running_.reset();
        add(message["result"].get<Result>());
      } else {
        done_ = message.contains("done");
      }
    } catch (const json::exception&) {
      return false;
    }
    return true;
  }

  void blame(const std::string& problem) {
    const auto& cases = run_.plan.cases;
    if (running_ && *running_ < cases.size()) {
      options_.first = *running_ + 1;
      finished_ = options_.first == cases.size();
      return add({cases[*running_].name, cases[*running_].op, Outcome::failed, problem});
    }
    // A failure outside of any case. Start another worker, unless this one made no progress.
    finished_ = done_ || options_.first == began_with_;
    const bool loaded = !run_.plan.device.empty();
    add({done_ ? "exit" : loaded ? "between cases" : "load", "", Outcome::failed, problem});
  }

  void add(Result result) {
    failures_ += result.outcome == Outcome::failed ? 1 : 0;
    run_.results.push_back(std::move(result));
    on_result_(run_);
  }

  Options options_;
  const std::function<void(const Run&)>& on_result_;
  Run run_;
  std::optional<size_t> running_;  // index in the plan of the case that a worker is running
  size_t began_with_ = 0;          // the first case of the worker
  bool done_ = false;              // the worker has reported that it ran all cases
  size_t failures_ = 0;
  bool finished_ = false;
};

}  // namespace

Run run_cases(const Options& options, const std::function<void(const Run&)>& on_result) {
  return Runner(options, on_result).run();
}

}  // namespace conformance
