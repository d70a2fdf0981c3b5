#include "runs.h"

#include <ambit/backend/reference.h>

#include <atomic>

namespace ambit::reference {
namespace {

std::atomic<uint64_t> count{0};  // relaxed: it guards no other data

}  // namespace

void count_run() { count.fetch_add(1, std::memory_order_relaxed); }

uint64_t runs() { return count.load(std::memory_order_relaxed); }

}  // namespace ambit::reference
