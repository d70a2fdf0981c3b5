#include "events.h"

#include <algorithm>

#include "blocks.h"
#include "pending.h"
#include "record.h"

namespace ambit::check {
namespace {

auto device_facts(Device device) {
  return [device] { return nlohmann::json{{"device", device.str()}}; };
}

// Add an event at the place of each copy; `now`: the stack of the misuse, null if unknown.
void add_misused(const char* kind, const std::vector<PendingCopy>& copies, const SharedStack& now) {
  for (const PendingCopy& copy : copies) {
    const Event event{
        .kind = kind,
        .key = copy.device.str(),
        .facts =
            [&] {
              return nlohmann::json{{"device", copy.device.str()}, {"maker", json_of(now)}};
            },
        .bytes = copy.bytes};
    Recorder::get().add(event, *copy.stack);
  }
}

void add_to_device(Device device, const void* host, size_t bytes) {
  const Origin origin = Blocks::get().origin_of(host);
  constexpr size_t kMost = 1 << 16;
  const size_t contents = hash_of(host, std::min(bytes, kMost));
  const auto facts = [&] {
    nlohmann::json factories = nlohmann::json::array();
    for (const SharedStack& f : origin.factories) factories.push_back(json_of(f));
    return nlohmann::json{{"device", device.str()},
                          {"first_bytes", bytes},
                          {"contents", contents},
                          {"maker", json_of(origin.made)},
                          {"factories", factories}};
  };
  Recorder::get().add({.kind = "to_device",
                       .key = device.str(),
                       .facts = facts,
                       .bytes = bytes,
                       .contents = contents},
                      current_stack());
}

}  // namespace

void allocated(Device device, const void* memory, size_t bytes) noexcept {
  record([&] { Blocks::get().allocated(device, memory, bytes); });
}

void freed(const void* memory) noexcept {
  record([&] {
    const size_t bytes = Blocks::get().freed(memory);
    add_misused("changed_during_copy", PendingCopies::get().forget(memory, bytes), nullptr);
  });
}

void host_copy(Device device, const void* memory, bool to_device, const void* host, size_t bytes,
               bool non_blocking) noexcept {
  record([&] {
    if (Recorder::writes() && to_device) add_to_device(device, host, bytes);
    if (Recorder::writes() && !to_device) {
      Recorder::get().add(
          {.kind = "to_host", .key = device.str(), .facts = device_facts(device), .bytes = bytes},
          current_stack());
    }
    if (to_device) {
      Blocks::get().moved(kCPU, host, memory);
    } else {
      Blocks::get().moved(device, memory, host);
    }
    if (!Recorder::writes()) return;
    if (non_blocking) {
      PendingCopies::get().add({.device = device,
                                .to_device = to_device,
                                .host = static_cast<const char*>(host),
                                .bytes = bytes,
                                .stack = shared_stack()});
    } else if (!to_device) {  // this copy waits for all earlier work of the device
      add_misused("changed_during_copy", PendingCopies::get().finish(device), nullptr);
    }
  });
}

void device_copy(Device from_device, const void* from, Device to_device, const void* to,
                 size_t bytes) noexcept {
  record([&] {
    if (Recorder::writes()) {
      const auto facts = [&] {
        return nlohmann::json{{"device", to_device.str()}, {"from", from_device.str()}};
      };
      Recorder::get().add({.kind = "device_copy",
                           .key = from_device.str() + to_device.str(),
                           .facts = facts,
                           .bytes = bytes},
                          current_stack());
    }
    Blocks::get().moved(from_device, from, to);
  });
}

void waited(Device device, const void* host) noexcept {
  record([&] {
    if (!Recorder::writes()) return;
    const SharedStack stack = shared_stack();
    PendingCopies& copies = PendingCopies::get();
    if (host) add_misused("read_during_copy", copies.read(device, host), stack);
    add_misused("changed_during_copy", copies.finish(device), nullptr);
    if (host) return;
    Recorder::get().add({.kind = "synchronize", .key = device.str(), .facts = device_facts(device)},
                        *stack);
  });
}

void host_written(const void* memory, size_t bytes) noexcept {
  record([&] {
    const std::vector<PendingCopy> copies = PendingCopies::get().written(memory, bytes);
    if (!copies.empty()) add_misused("changed_during_copy", copies, shared_stack());
  });
}

}  // namespace ambit::check
