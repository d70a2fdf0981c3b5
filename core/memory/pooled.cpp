// Each thread's lists of freed blocks, one for each multiple of 64 bytes.
#include <ambit/detail/pooled.h>

#include <array>
#include <cstdint>
#include <new>

#include "sanitizer.h"

namespace ambit {

#if defined(AMBIT_ASAN) || defined(AMBIT_TSAN)

// A block that is handed out again would hide a use after free, and a race about it.
void* allocate_object(size_t bytes) { return ::operator new(bytes); }
void free_object(void* p, size_t) noexcept { ::operator delete(p); }

#else

namespace {

constexpr size_t kStep = 64, kLists = 8;  // the step is a cache line; larger objects are rare
constexpr uint32_t kMostBlocks = 1024;    // in a list: those of a step of training, of most nets

struct Block {
  Block* next;
};

struct List {
  Block* first = nullptr;
  uint32_t size = 0;
  uint32_t most = 0;  // the list takes none before the thread has seen to their end, and none after
};

// Without a destructor, so that it outlives the tensors in globals, and at a fixed place in the
// thread's memory, which saves the call that finds it.
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<List, kLists> lists;

void set_most(uint32_t blocks) {
  for (List& list : lists) list.most = blocks;
}

// Opens the thread's lists when it is made, and at the thread's end closes and empties them.
struct Lifetime {
  Lifetime() { set_most(kMostBlocks); }
  ~Lifetime() {
    set_most(0);
    for (List& list : lists) {
      while (Block* block = list.first) {
        list.first = block->next;
        ::operator delete(block);
      }
      list.size = 0;
    }
  }
};

// Of a full list, and of a thread that has freed nothing yet or is at its end.
[[gnu::noinline]] void free_unlisted(void* p) noexcept {
  thread_local const Lifetime lifetime;
  static_cast<void>(lifetime);
  ::operator delete(p);
}

}  // namespace

void* allocate_object(size_t bytes) {
  const size_t which = (bytes - 1) / kStep;
  if (which >= kLists) return ::operator new(bytes);
  List& list = lists[which];
  Block* const block = list.first;
  if (!block) return ::operator new((which + 1) * kStep);
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
