// Each thread's lists of freed blocks, one for each multiple of 64 bytes.
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/pooled.h>
#include <pthread.h>

#include <array>
#include <cstdint>
#include <new>

#include "sanitizer.h"

namespace ambit {
namespace {

[[gnu::noinline]] void* from_system(size_t bytes) {
  void* const p = ::operator new(bytes, std::nothrow);
  if (!p) throw_out_of_host_memory("allocate");
  return p;
}

}  // namespace

#if defined(AMBIT_ASAN) || defined(AMBIT_TSAN)

// Reusing blocks would hide use after free and races from sanitizers.
void* allocate_object(size_t bytes) { return from_system(bytes); }
void free_object(void* p, size_t) noexcept { ::operator delete(p); }

#else

namespace {

constexpr size_t kStep = 64, kLists = 16;  // the step is a cache line; larger objects are rare
constexpr uint32_t kMostBlocks = 1024;     // per list: enough for a training step of most nets

struct Block {
  Block* next;
};

struct List {
  Block* first = nullptr;
  uint32_t size = 0;
  uint32_t most = 0;  // 0 until the thread has registered end_of_thread, and after its call
};

// No destructor, so that the lists outlive tensors in globals; initial-exec TLS avoids a call for
// each access.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<List, kLists> lists;

enum class Stage : uint8_t { unused, open, ended };
[[gnu::tls_model("initial-exec")]] constinit thread_local Stage stage = Stage::unused;

void set_most(uint32_t blocks) {
  for (List& list : lists) list.most = blocks;
}

// Called at the thread's end: close and empty its lists.
void end_of_thread(void*) {
  stage = Stage::ended;
  set_most(0);
  for (List& list : lists) {
    while (Block* block = list.first) {
      list.first = block->next;
      ::operator delete(block);
    }
    list.size = 0;
  }
}

// Return true if end_of_thread is registered. Not a thread_local object with a destructor: the C
// library aborts if it has no memory to register one.
bool register_end_of_thread() noexcept {
  static const int64_t key = [] {
    pthread_key_t made = 0;
    return pthread_key_create(&made, end_of_thread) == 0 ? int64_t{made} : int64_t{-1};
  }();
  return key >= 0 && pthread_setspecific(static_cast<pthread_key_t>(key), &lists) == 0;
}

// Free a block if the list is full, or if the thread has freed nothing yet or is ending.
[[gnu::noinline]] void free_unlisted(void* p) noexcept {
  if (stage == Stage::unused && register_end_of_thread()) {
    stage = Stage::open;
    set_most(kMostBlocks);
  }
  ::operator delete(p);
}

}  // namespace

void* allocate_object(size_t bytes) {
  const size_t which = (bytes - 1) / kStep;
  if (which >= kLists) return from_system(bytes);
  List& list = lists[which];
  Block* const block = list.first;
  if (!block) return from_system((which + 1) * kStep);
  list.first = block->next;
  --list.size;
  return block;
}

void free_object(void* p, size_t bytes) noexcept {
  const size_t which = (bytes - 1) / kStep;
  if (which >= kLists) return ::operator delete(p);
  List& list = lists[which];
  if (list.size >= list.most) return free_unlisted(p);
  list.first = new (p) Block{list.first};
  ++list.size;
}

#endif

}  // namespace ambit
