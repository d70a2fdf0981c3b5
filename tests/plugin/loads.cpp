// load() functions of every kind, compiled once for all plugins whose entry load_entry.cpp defines.
#include <ambit/backend/registry.h>
#include <ambit/plugins.h>

#include <atomic>
#include <climits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "misbehaving.h"
#include "toy.h"

namespace loads {

using ambit::Registry;

std::unique_ptr<toy::ToyBackend> backend(const char* name, int devices = 1) {
  return std::make_unique<toy::ToyBackend>(name, devices);
}

std::atomic<int> beats{0};

// The code and type information of this class would be unmapped if the library were closed.
struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
  ~OwnError() override {}
  const char* what() const noexcept override { return "an error of its own type"; }
};

void throws_error(Registry&) { throw std::runtime_error("no such hardware"); }
void throws_own_error(Registry&) { throw OwnError("unused"); }
void throws_int(Registry&) { throw 42; }

void fails_half_way(Registry& registry) {
  registry.add_backend(backend("half"));
  toy::borrow<ambit::kernels::copy, ambit::kernels::fill>(registry);
  registry.add_backend(backend("other_half"));
  throw std::runtime_error("half-way");
}

void claims_cpu(Registry& registry) { registry.add_backend(backend("cpu")); }
void claims_meta(Registry& registry) { registry.add_backend(backend("meta")); }
void claims_reference(Registry& registry) {
  registry.add_backend(backend("own"));
  toy::borrow<ambit::kernels::copy>(registry);
  registry.add_backend(backend("reference"));
}
void claims_toy(Registry& registry) { registry.add_backend(backend("toy")); }

void twice_one_name(Registry& registry) {
  registry.add_backend(backend("twin"));
  registry.add_backend(backend("twin"));
}

void twice_one_kernel(Registry& registry) {
  registry.add_backend(backend("repeating"));
  toy::borrow<ambit::kernels::copy, ambit::kernels::fill, ambit::kernels::copy>(registry);
}

void kernel_of_nobody(Registry& registry) { toy::borrow<ambit::kernels::copy>(registry); }

void malformed_name(Registry& registry) { registry.add_backend(backend("My-GPU")); }
void empty_name(Registry& registry) { registry.add_backend(backend("")); }
void odd_name(Registry& registry) { registry.add_backend(backend("a\n\x1b]0;b\x07\xff\xc3\xa9")); }
void odd_error(Registry&) { throw std::runtime_error("no\r\n\x1b[31mred\xc2\x9b"); }

struct NoText : std::exception {
  const char* what() const noexcept override { return nullptr; }
};
void throws_no_text(Registry&) { throw NoText(); }

void negative(Registry& registry) { registry.add_backend(backend("negative", -1)); }
void least(Registry& registry) { registry.add_backend(backend("least", INT_MIN)); }
void too_many(Registry& registry) { registry.add_backend(backend("too_many", 1025)); }

void null_kernel(Registry& registry) {
  registry.add_backend(backend("hollow"));
  registry.add(ambit::kernels::copy, nullptr);
}

struct NoName : toy::ToyBackend {
  NoName() : ToyBackend("no_name", 1) {}
  std::string name() const override { throw 42; }
};
void throws_as_name(Registry& registry) { registry.add_backend(std::make_unique<NoName>()); }

struct NoReason : toy::ToyBackend {
  NoReason() : ToyBackend("no_reason", 0) {}
  std::string reason_for_none() const override { throw 42; }
};
void throws_as_reason(Registry& registry) { registry.add_backend(std::make_unique<NoReason>()); }

void misbehaves(Registry& registry) { toy::add_misbehaving(registry); }

struct NoProperties : toy::ToyBackend {
  NoProperties() : ToyBackend("no_properties", 1) {}
  ambit::DeviceProperties properties(int) const override { throw 42; }
};
void throwing_properties(Registry& registry) {
  registry.add_backend(std::make_unique<NoProperties>());
}

void null_backend(Registry& registry) { registry.add_backend(nullptr); }
void nothing(Registry&) {}

void without_devices(Registry& registry) {
  registry.add_backend(backend("idle", 0));
  toy::borrow<ambit::kernels::copy, ambit::kernels::fill>(registry);
}

void with_devices(Registry& registry) {
  registry.add_backend(backend("idle", 2));
  toy::borrow<ambit::kernels::copy>(registry);
}

// A careless plugin: while it is loaded, it queries devices and plugins, including itself.
void asks_for_itself(Registry& registry) {
  ambit::load_all_backends();
  if (ambit::is_available("curious")) throw std::runtime_error("loaded before it was loaded");
  registry.add_backend(backend("curious"));
}

// A refused library may still have running threads.
void starts_a_thread(Registry&) {
  std::thread([] {
    while (true) {
      ++beats;
      std::this_thread::yield();
    }
  }).detach();
  throw std::runtime_error("no such hardware, but a thread");
}

// A driver may query the devices in its own thread.
void joins_a_thread(Registry&) {
  std::string text = "found it";
  std::thread([&] {
    try {
      ambit::Device("unheard_of");
    } catch (const std::exception& e) {
      text = e.what();
    }
  }).join();
  throw std::runtime_error(text);
}

}  // namespace loads

extern "C" __attribute__((visibility("default"))) int ambit_fixture_beats() { return loads::beats; }
