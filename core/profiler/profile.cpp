// The profile as programs see it.
#include <ambit/error.h>
#include <ambit/node.h>
#include <ambit/profiler.h>

#include <map>
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

FunctionEvent event_of(const Call& call, int thread, int64_t origin) {
  FunctionEvent event;
  event.name = shown_name(call.name, call.kind);
  event.kind = call.kind;
  event.thread = thread;
  event.depth = static_cast<int>(call.depth);
  event.start = microseconds(call.start - origin);
  event.cpu_time = microseconds(call.end - call.start);
  event.self_cpu_time = microseconds(call.self);
  if (call.device_start >= 0) event.device_start = microseconds(call.device_start - origin);
  event.device_time = microseconds(call.device_time);
  event.self_device_time = microseconds(call.device_self);
  event.device = call.device;
  event.dtypes = dtypes_text(call.dtypes);
  if (call.shapes) event.input_shapes = call.shapes;
  event.kernels = call.kernels;
  event.bytes = call.bytes;
  event.allocated = call.allocated;
  event.freed = call.freed;
  event.in_use = call.in_use;
  return event;
}

Profile::Profile(const ProfileOptions& options) : results_(std::make_unique<Results>()) {
  results_->profile = Recorder::get().start(options);
}

Profile::~Profile() {
  try {
    stop();
  } catch (...) {  // no memory for what nobody will ask for
  }
}

void Profile::stop() {
  if (std::exchange(results_->profile, 0) == 0) return;
  results_->recorded = Recorder::get().stop();
  for (const auto& thread : results_->recorded.threads) results_->dropped += thread.dropped;
}

const Profile::Results& Profile::results() const {
  if (results_->profile != 0)
    throw Error("Profile: expected stop() before its results are asked for");
  return *results_;
}

EventAverages Profile::key_averages(bool group_by_input_shape) const {
  using Key = std::tuple<std::string, EventKind, DeviceKind, int, std::string, std::string>;
  std::map<Key, Sums> merged;
  for (const auto& thread : results().recorded.threads) {
    for (const auto& [key, sums] : thread.sums) {
      merged[{shown_name(key.name, key.kind), key.kind, key.device.kind(), key.device.index(),
              dtypes_text(key.dtypes), group_by_input_shape && key.shapes ? key.shapes : ""}]
          .add(sums);
    }
  }
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
                    .cpu_time_total = microseconds(sums.time),
                    .self_cpu_time_total = microseconds(sums.self),
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
  const Recorder::Everything& all = results().recorded;
  for (const auto& thread : all.threads) {
    for (const std::vector<Call>& calls : thread.calls) {
      for (const Call& call : calls) events.push_back(event_of(call, thread.thread, all.start));
    }
  }
  return events;
}

size_t Profile::dropped() const { return results().dropped; }

}  // namespace ambit::profiler
