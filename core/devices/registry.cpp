// The process-wide table of backends: the kind of each name, and commit(), the only function that
// changes it.
#include "registry.h"

#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/check.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/plugins.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>

#include "backend_call.h"
#include "communicators.h"
#include "shadow.h"

namespace ambit {
namespace {

struct Slot {
  std::string name;                        // never changes once the slot is published
  std::atomic<Backend*> backend{nullptr};  // null: meta. Leaked, even if replaced
  std::atomic<const std::string*> library{nullptr};
};

// Slots are only appended and published by the release store of `count`: readers need no lock. A
// Device of a kind comes from an acquire load of `count`, here or in the thread that passed it on.
struct Backends {
  std::mutex mutex;
  std::array<Slot, kMaxDeviceKinds> slots;
  std::atomic<int> count{0};
  // Replaced entries of slots: a replaced backend may still be in use.
  std::vector<Backend*> retired;
  std::vector<std::unique_ptr<const std::string>> libraries;
};

bool is_profiled = false;  // guarded by the mutex of the backends

Backends& raw_backends() {
  // Leaked: tensors in globals free their memory through it after main.
  static auto* b = [] {
    auto all = std::make_unique<Backends>();
    all->slots[0].name = "cpu";  // kinds 0 and 1 are known to core
    all->slots[1].name = "meta";
    all->libraries.push_back(std::make_unique<const std::string>("core"));
    all->slots[1].library = all->libraries.back().get();
    all->count = 2;
    return all.release();
  }();
  return *b;
}

// The built-in backends are registered before all others, so that no other backend can have
// their names. The thread that registers them must not wait for itself.
thread_local bool loading_builtin = false;

// The release store of `ready` follows the registration of the built-in backends.
constinit std::atomic<Backends*> ready{nullptr};

[[gnu::noinline]] Backends& load_backends() {
  if (!loading_builtin) {
    static const bool loaded = [] {
      loading_builtin = true;
      const std::unique_ptr<bool, void (*)(bool*)> reset(&loading_builtin,
                                                         [](bool* on) { *on = false; });
      typed_memory_errors("load", load_builtin_backends);  // retried after a failure
      return true;
    }();
    static_cast<void>(loaded);
    ready.store(&raw_backends(), std::memory_order_release);
  }
  return raw_backends();
}

// Called for each new tensor: a single load once the backends are registered.
[[gnu::always_inline]] inline Backends& backends() {
  if (Backends* all = ready.load(std::memory_order_acquire)) [[likely]]
    return *all;
  return load_backends();
}

// Choose the kind of a backend: a new one, or that of a backend of the same name without devices,
// which it replaces.
int choose_kind(const Backends& all, const std::string& name, int next,
                const std::string& library) {
  for (int k = 0; k < all.count; ++k) {
    const Slot& slot = all.slots[static_cast<size_t>(k)];
    if (slot.name != name) continue;
    const Backend* holder = slot.backend.load(std::memory_order_acquire);
    const bool gives_way = k != 1 && (!holder || usable_devices(*holder) == 0);
    if (gives_way) return k;
    throw BackendError(
        fmt::format("{}: expected a new backend name, got \"{}\", which {} has taken", library,
                    name, *slot.library.load()));
  }
  if (next >= kMaxDeviceKinds) {
    throw BackendError(fmt::format("{}: expected at most {} backends", library, kMaxDeviceKinds));
  }
  return next;
}

}  // namespace

bool is_valid_name(std::string_view name) {
  if (name.empty() || !(name[0] >= 'a' && name[0] <= 'z')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

struct Registry::Entry {
  std::unique_ptr<Backend> backend;
  std::string name;
  struct Kernel {
    OpBase* op;
    AnyKernel kernel;
    DTypeSet native;
  };
  std::vector<Kernel> kernels;
};

struct Registry::CommunicatorEntry {
  NamedCommunicator communicator;
  std::string about;
};

Registry::Registry(std::string library) : library_(std::move(library)) {}
Registry::~Registry() = default;

void Registry::add_backend(std::unique_ptr<Backend> backend) {
  if (!backend) throw BackendError(fmt::format("{}: expected a backend, got null", library_));
  std::string name = backend->name();
  if (!is_valid_name(name)) {
    throw BackendError(fmt::format("{}: expected a backend name [a-z][a-z0-9_]*, got \"{}\"",
                                   library_, one_line(name)));
  }
  for (const Entry& entry : entries_) {
    if (entry.name == name) {
      throw BackendError(
          fmt::format("{}: expected one backend named \"{}\", got two", library_, name));
    }
  }
  entries_.push_back({std::move(backend), std::move(name), {}});
}

void Registry::add_kernel(OpBase& op, AnyKernel kernel, DTypeSet native) {
  if (entries_.empty()) {
    throw BackendError(
        fmt::format("{}: expected add_backend before the kernel of {}", library_, op.name()));
  }
  if (!kernel) {
    throw BackendError(fmt::format("{}: expected a kernel of {} for {}, got null", library_,
                                   op.name(), entries_.back().name));
  }
  auto& kernels = entries_.back().kernels;
  for (const Entry::Kernel& known : kernels) {
    if (known.op == &op) {
      throw BackendError(fmt::format("{}: expected one kernel of {} for {}, got two", library_,
                                     op.name(), entries_.back().name));
    }
  }
  kernels.push_back({&op, kernel, native});
}

// Both functions require the mutex of the backends. The release stores publish everything that the
// kernel uses: its library and its static objects existed before the store. Relaxed stores suffice
// for native_: a call needs a tensor of the device, which exists only after Slot::backend was
// stored, and that store follows all stores here.
void OpBase::set_kernel(size_t kind, AnyKernel kernel) {
  kernels_[kind].store(kernel, std::memory_order_release);
  table_[kind].store(is_profiled ? nullptr : kernel, std::memory_order_release);
}

void OpBase::set_profiled(bool on) {
  Backends& all = backends();
  const std::lock_guard lock(all.mutex);
  is_profiled = on;
  for (OpBase* op : all_ops()) {
    for (size_t kind = 0; kind < op->kernels_.size(); ++kind) {
      op->set_kernel(kind, op->kernels_[kind].load(std::memory_order_relaxed));
    }
  }
}

void Registry::add_communicator(std::string name, distributed::CommunicatorFactory make,
                                std::string about) {
  if (!is_valid_name(name) || !make) {
    throw BackendError(fmt::format(
        "{}: expected a communicator named [a-z][a-z0-9_]* and its factory, got \"{}\"{}", library_,
        one_line(name), make ? "" : " without one"));
  }
  communicators_.push_back({{std::move(name), make}, std::move(about)});
}

std::vector<std::string> Registry::commit() {
  Backends& all = backends();
  const std::lock_guard lock(all.mutex);
  // Everything that may fail comes first, then all changes.
  int count = all.count;
  std::vector<size_t> kinds;                  // kind of each entry
  std::vector<const ShadowLibrary*> shadows;  // of each entry; null: its kernels run as they are
  const CheckLibrary* const check = check_library();
  if (check) {
    for (Entry& entry : entries_) entry.backend = check->watch(std::move(entry.backend));
    std::erase_if(entries_, [](const Entry& entry) { return !entry.backend; });
  }
  std::vector<std::string> brought;
  for (const Entry& entry : entries_) {
    const int kind = choose_kind(all, entry.name, count, library_);
    count = std::max(count, kind + 1);
    kinds.push_back(static_cast<size_t>(kind));
    shadows.push_back(shadow_library(entry.name));
    const int devices = entry.backend->device_count();
    if (devices < 0 || devices > kMostDevices) {
      throw BackendError(fmt::format("{}: expected device_count() of {} to be 0 to {}, got {}",
                                     library_, entry.name, kMostDevices, devices));
    }
    const std::string reason = devices == 0 ? one_line(entry.backend->reason_for_none()) : "";
    brought.push_back(fmt::format("{}: {} device{}{}", entry.name, devices, devices == 1 ? "" : "s",
                                  reason.empty() ? "" : ", " + reason));
  }
  std::vector<NamedCommunicator> communicators;
  for (const CommunicatorEntry& entry : communicators_) {
    communicators.push_back(entry.communicator);
    brought.push_back(
        fmt::format("{}: a communicator, {}", entry.communicator.name, one_line(entry.about)));
  }
  all.retired.reserve(all.retired.size() + entries_.size());
  all.libraries.push_back(std::make_unique<const std::string>(library_));
  add_communicators(communicators);  // the last step that may fail

  for (size_t i = 0; i < entries_.size(); ++i) {
    for (OpBase* op : all_ops()) op->set_kernel(kinds[i], nullptr);
    for (const auto& [op, kernel, native] : entries_[i].kernels) {
      op->native_[kinds[i]].store(native.bits, std::memory_order_relaxed);
      AnyKernel run = shadows[i] ? shadows[i]->wrap(*op, kinds[i], kernel) : kernel;
      if (check) run = check->wrap(*op, kinds[i], run);
      op->set_kernel(kinds[i], run);
    }
    Slot& slot = all.slots[kinds[i]];
    if (slot.name.empty()) slot.name = std::move(entries_[i].name);
    slot.library.store(all.libraries.back().get(), std::memory_order_release);
    Backend* before = slot.backend.exchange(entries_[i].backend.release());
    if (before) all.retired.push_back(before);
  }
  all.count.store(count, std::memory_order_release);
  entries_.clear();
  return brought;
}

namespace {

// Return a line for each file that the loader refused and that mentions `name`.
std::string refusals(std::string_view name = {}) {
  std::string text;
  for (const LoadAttempt& attempt : load_report()) {
    if (attempt.loaded) continue;
    const std::string file = std::filesystem::path(attempt.file).filename();
    if (file.find(name) == file.npos && attempt.result.find(name) == attempt.result.npos) continue;
    text += fmt::format("\n  {}: {}", printable(attempt.file), attempt.result);
  }
  return text.empty() ? text : "; refused plugins:" + text;
}

// Every allocation calls the two below: separate functions that throw keep them short.

[[noreturn, gnu::noinline]] void throw_no_memory(Device device) {
  throw BackendError(fmt::format("{} has no memory", device.str()));
}

[[noreturn, gnu::noinline]] void throw_no_device(Device device, Backend& b) {
  const int count = usable_devices(b);
  const std::string reason =
      count == 0
          ? one_line(call_backend(device, "reason_for_none()", [&] { return b.reason_for_none(); }))
          : "";
  const std::string text =
      fmt::format("expected an existing {} device, got {}: there {} {}{}{}", device.type().name(),
                  device.str(), count == 1 ? "is" : "are", count,
                  reason.empty() ? "" : ", " + reason, refusals(device.type().name()));
  if (const CheckLibrary* check = check_library()) check->missing_device(text);
  throw BackendError(text);
}

[[gnu::always_inline]] inline Backend& registered(Device device) {
  Backend* b =
      backends().slots[static_cast<size_t>(device.kind())].backend.load(std::memory_order_acquire);
  if (!b) throw_no_memory(device);
  return *b;
}

}  // namespace

Backend& backend_of(Device device) { return registered(device); }

Backend& usable_backend(Device device) {
  Backend& b = registered(device);
  if (device.index() >= b.device_count()) [[unlikely]]
    throw_no_device(device, b);
  return b;
}

std::vector<std::string> backend_names() {
  const Backends& all = backends();
  std::vector<std::string> names;
  for (int k = 0; k < all.count.load(std::memory_order_acquire); ++k) {
    names.push_back(all.slots[static_cast<size_t>(k)].name);
  }
  return names;
}

namespace {

std::optional<DeviceKind> find_kind(std::string_view name) {
  const Backends& all = backends();
  for (int k = 0; k < all.count.load(std::memory_order_acquire); ++k) {
    if (all.slots[static_cast<size_t>(k)].name == name) return static_cast<DeviceKind>(k);
  }
  return std::nullopt;
}

}  // namespace

const std::string& backend_library(DeviceKind kind) {
  return *backends().slots[static_cast<size_t>(kind)].library.load(std::memory_order_acquire);
}

bool has_devices(std::string_view name) {
  const std::optional<DeviceKind> kind = find_kind(name);
  if (!kind) return false;
  return *kind == DeviceKind::meta || usable_devices(backend_of(Device(*kind))) > 0;
}

DeviceKind device_kind(std::string_view name) {
  if (!has_devices(name) && is_valid_name(name)) load_backends_for(name);
  if (const std::optional<DeviceKind> kind = find_kind(name)) return *kind;
  const std::string text =
      fmt::format("Device: expected the name of a backend, got \"{}\"; existing: {}{}",
                  one_line(name), fmt::join(backend_names(), ", "), refusals());
  if (const CheckLibrary* check = check_library()) check->missing_device(text);
  throw Error(text);
}

const std::string& device_name(DeviceKind kind) {
  return backends().slots[static_cast<size_t>(kind)].name;
}

}  // namespace ambit
