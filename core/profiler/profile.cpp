// The public interface of profiles.
#include <ambit/error.h>
#include <ambit/node.h>
#include <ambit/profiler.h>

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "recorder.h"
#include "results.h"

namespace ambit::profiler {

bool is_enabled() { return Recorder::current() != 0; }

RecordFunction::RecordFunction(std::string_view name) {
  if (is_enabled()) profile_ = begin_scope(name);
}

RecordFunction::~RecordFunction() {
  if (profile_ != 0) end_call(profile_);
}

std::string shown_name(const char* name, EventKind kind) {
  return kind == EventKind::backward ? Node::name_of(name) : name;
}

namespace {

std::string input_shapes(std::string_view shapes) {
  return std::string(shapes.substr(shapes.find(kOutputsEnd) + 1));
}

FunctionEvent event_of(const Recorder::Recording& all, int thread, const Call& call,
                       const More& more, const Whole& whole) {
  const auto host = [&](int64_t ticks) {
    return static_cast<double>(ticks) * all.microseconds_per_tick;
  };
  FunctionEvent event;
  event.name = shown_name(call.name, call.kind);
  event.kind = call.kind;
  event.thread = thread;
  event.depth = static_cast<int>(call.depth);
  event.start = host(call.start - all.start.ticks);
  event.cpu_time = host(whole.time);
  event.self_cpu_time = host(whole.self);
  if (more.device_start >= 0) {
    event.device_start = microseconds(more.device_start - all.start.nanoseconds);
  }
  event.device_time = microseconds(whole.device_time);
  event.self_device_time = microseconds(more.device_self);
  event.device = call.device;
  event.dtypes = dtypes_text(call.dtypes);
  if (more.shapes) {
    const std::string_view shapes = more.shapes;
    event.output_shapes = shapes.substr(0, shapes.find(kOutputsEnd));
    event.input_shapes = input_shapes(more.shapes);
  }
  event.kernels = whole.kernels;
  event.bytes = call.bytes;
  event.allocated = more.allocated;
  event.freed = more.freed;
  event.in_use = more.in_use;
  event.reserved = more.reserved;
  return event;
}

}  // namespace

void for_each_event(const Recorder::Recording& all, const std::function<void(FunctionEvent)>& f) {
  for (const ThreadLog::Collected& thread : all.threads) {
    Nesting nesting;
    for (const Block& block : thread.blocks) {
      for (const Call& call : block.calls) {
        const More more = block.more_of(call);
        f(event_of(all, thread.thread, call, more, nesting.add(call, more)));
      }
    }
  }
}

Profile::Profile(const ProfileOptions& options) : results_(std::make_unique<Results>()) {
  results_->profile = Recorder::get().start(options);
}

Profile::~Profile() {
  try {
    stop();
  } catch (...) {  // no memory; the results are discarded anyway
  }
}

void Profile::stop() {
  if (std::exchange(results_->profile, 0) == 0) return;
  results_->recorded = Recorder::get().stop();
  for (const auto& thread : results_->recorded.threads) results_->dropped += thread.dropped;
}

const Profile::Results& Profile::results() const {
  if (results_->profile != 0) throw Error("Profile: expected stop() before its results are read");
  return *results_;
}

EventAverages Profile::key_averages(bool group_by_input_shape) const {
  using Key = std::tuple<std::string, EventKind, DeviceKind, int, std::string, std::string>;
  std::map<Key, Sums> merged;
  for (const auto& thread : results().recorded.threads) {
    for (const auto& [key, sums] : thread.sums) {
      merged[{shown_name(key.name, key.kind), key.kind, key.device.kind(), key.device.index(),
              dtypes_text(key.dtypes),
              group_by_input_shape && key.shapes ? input_shapes(key.shapes) : ""}]
          .add(sums);
    }
  }
  const double tick = results().recorded.microseconds_per_tick;
  EventAverages rows;
  for (const auto& [key, sums] : merged) {
    const auto& [name, kind, device, index, dtypes, shapes] = key;
    rows.push_back({.key = name,
                    .kind = kind,
                    .device = Device(device, index),
                    .dtypes = dtypes,
                    .input_shapes = shapes,
                    .count = sums.count,
                    .kernels = sums.kernels,
                    .bytes = sums.bytes,
                    .cpu_time_total = static_cast<double>(sums.time) * tick,
                    .self_cpu_time_total = static_cast<double>(sums.self) * tick,
                    .device_time_total = microseconds(sums.device_time),
                    .self_device_time_total = microseconds(sums.device_self),
                    .allocated = sums.allocated,
                    .freed = sums.freed,
                    .peak = sums.peak});
  }
  return rows;
}

std::vector<FunctionEvent> Profile::events() const {
  std::vector<FunctionEvent> events;
  for_each_event(results().recorded,
                 [&](FunctionEvent event) { events.push_back(std::move(event)); });
  return events;
}

size_t Profile::dropped() const { return results().dropped; }

}  // namespace ambit::profiler
