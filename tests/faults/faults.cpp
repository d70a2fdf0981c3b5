#include "faults.h"

#include <ambit/error.h>
#include <dlfcn.h>
#include <doctest/doctest.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <new>
#include <thread>

namespace {

std::atomic<long> until_refusal{0};         // 0: no request fails
std::atomic<long> until_thread_refusal{0};  // 0: no start of a thread fails
std::atomic<bool> refused{false};
std::atomic<long> blocks{0};

bool is_due(std::atomic<long>& until) {
  if (until.load(std::memory_order_relaxed) <= 0 || until.fetch_sub(1) != 1) return false;
  refused = true;
  return true;
}

void* take(size_t bytes, size_t alignment) {
  if (is_due(until_refusal)) return nullptr;
  void* p = alignment ? memalign(alignment, bytes) : std::malloc(bytes);
  if (p) ++blocks;
  return p;
}

void give(void* p) {
  if (p) --blocks;
  std::free(p);
}

void* take_or_throw(size_t bytes, size_t alignment = 0) {
  if (void* p = take(bytes, alignment)) return p;
  throw std::bad_alloc();
}

}  // namespace

// Not inlined: otherwise g++ warns of a free() of memory from another operator new.
#define AMBIT_REPLACED [[gnu::noinline]]
AMBIT_REPLACED void* operator new(size_t n) { return take_or_throw(n); }
AMBIT_REPLACED void* operator new(size_t n, std::align_val_t a) {
  return take_or_throw(n, static_cast<size_t>(a));
}
AMBIT_REPLACED void* operator new(size_t n, const std::nothrow_t&) noexcept { return take(n, 0); }
AMBIT_REPLACED void* operator new[](size_t n) { return take_or_throw(n); }
AMBIT_REPLACED void* operator new[](size_t n, const std::nothrow_t&) noexcept { return take(n, 0); }
AMBIT_REPLACED void operator delete(void* p) noexcept { give(p); }
AMBIT_REPLACED void operator delete(void* p, size_t) noexcept { give(p); }
AMBIT_REPLACED void operator delete(void* p, std::align_val_t) noexcept { give(p); }
AMBIT_REPLACED void operator delete(void* p, size_t, std::align_val_t) noexcept { give(p); }
AMBIT_REPLACED void operator delete[](void* p) noexcept { give(p); }
AMBIT_REPLACED void operator delete[](void* p, size_t) noexcept { give(p); }
#undef AMBIT_REPLACED

// Memory of tensors on the cpu, and pinned memory.
extern "C" int posix_memalign(void** p, size_t alignment, size_t bytes) noexcept {
  *p = is_due(until_refusal) ? nullptr : memalign(alignment, bytes);
  return *p ? 0 : ENOMEM;
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (is_due(until_thread_refusal)) return EAGAIN;
  return create(thread, attributes, start, argument);
}

namespace faults {

void refuse(long nth) {
  refused = false;
  until_refusal = nth;
}

void refuse_thread(long nth) {
  refused = false;
  until_thread_refusal = nth;
}

bool stop() {
  until_refusal = until_thread_refusal = 0;
  return refused.exchange(false);
}

long blocks_in_use() { return blocks; }

Outcome run(long nth, const std::function<void()>& work) {
  Outcome outcome;
  std::exception_ptr error;
  std::thread([&] {
    refuse(nth);
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    outcome.refused = stop();
  }).join();
  if (!error) return outcome;
  outcome.threw = true;
  try {
    std::rethrow_exception(error);
  } catch (const ambit::Error& e) {
    outcome.error = e.what();
  } catch (const std::exception& e) {
    outcome.error = std::string("untyped: ") + e.what();
  }
  return outcome;
}

long at_every_point(const std::function<Outcome(long)>& attempt) {
  for (long n = 1;; ++n) {
    INFO("request ", n);
    const Outcome outcome = attempt(n);
    INFO(outcome.error);
    CHECK_FALSE(outcome.error.starts_with("untyped"));
    if (outcome.refused) continue;
    CHECK_FALSE(outcome.threw);
    return n - 1;
  }
}

}  // namespace faults
