// A plugin of qemu-user that prints how many instructions of its program have run:
//   qemu-aarch64 -plugin libcount_instructions.so PROGRAM
// Debian has no package with qemu-plugin.h, so the functions are declared here, as in QEMU 7.2.
// qemu-aarch64-static cannot load plugins.
#include <atomic>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>

extern "C" {

struct qemu_plugin_tb;  // a block of instructions without a branch
struct qemu_info_t;

size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*call)(uint64_t, qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* block, void (*call)(unsigned, void*),
                                          int flags, void* data);
void qemu_plugin_register_atexit_cb(uint64_t id, void (*call)(uint64_t, void*), void* data);

int qemu_plugin_version = 1;
}

namespace {

std::atomic<uint64_t> count{0};

void run(unsigned, void* instructions) {
  count.fetch_add(reinterpret_cast<uintptr_t>(instructions), std::memory_order_relaxed);
}

void translate(uint64_t, qemu_plugin_tb* block) {
  constexpr int kNoRegisters = 0;
  qemu_plugin_register_vcpu_tb_exec_cb(block, run, kNoRegisters,
                                       reinterpret_cast<void*>(qemu_plugin_tb_n_insns(block)));
}

void print(uint64_t, void*) { std::fprintf(stderr, "instructions %" PRIu64 "\n", count.load()); }

}  // namespace

extern "C" int qemu_plugin_install(uint64_t id, const qemu_info_t*, int, char**) {
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, print, nullptr);
  return 0;
}
