// The caching allocator, with a fake system allocator that counts and has a limit. The file is
// longer than others: it has many short cases with the same fakes.
#include <ambit/backend/caching_allocator.h>
#include <ambit/error.h>
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

using namespace ambit;

namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Returns at most `limit` bytes; pages are never accessed, so large blocks cost nothing.
class FakeMemory final : public RawMemory {
 public:
  explicit FakeMemory(size_t limit) : limit_(limit) {}
  void* allocate(size_t bytes) override {
    if (bytes > limit_ - used_) return nullptr;
    void* p = std::malloc(bytes);
    if (!p) return nullptr;
    used_ += bytes;
    live_.insert(p);
    return p;
  }
  void free(void* p, size_t bytes) noexcept override {
    REQUIRE(live_.erase(p) == 1);
    used_ -= bytes;
    std::free(p);
  }
  size_t free_bytes() override { return limit_ - used_; }
  size_t used() const { return used_; }

 private:
  size_t limit_, used_ = 0;
  std::set<void*> live_;
};

// As above with pages, which are allocated from the end of an address range to its start. Counts
// the bytes that are not returned, whatever the sizes of the returned pieces.
class FakePages final : public RawMemory {
 public:
  void* allocate(size_t) override { return nullptr; }
  void free(void*, size_t) noexcept override {}
  void* allocate_pages(size_t bytes, void* end) override {
    ++requests;
    char* to = end ? static_cast<char*>(end) : lowest_ - kHole;
    if (bytes % kPage != 0 || (end && end != lowest_) || (end && refuses_to_join)) return nullptr;
    lowest_ = to - bytes;
    for (char* page = lowest_; page < to; page += kPage) REQUIRE(given_.insert(page).second);
    return lowest_;
  }
  void free_pages(void* p, size_t bytes) noexcept override {
    for (char* page = static_cast<char*>(p); page < static_cast<char*>(p) + bytes; page += kPage) {
      REQUIRE(given_.erase(page) == 1);
    }
  }
  size_t free_bytes() override { return 0; }
  size_t used() const { return given_.size() * kPage; }

  int requests = 0;
  bool refuses_to_join = false;

 private:
  static constexpr size_t kPage = 4096, kHole = 16 * kPage;
  char* lowest_ = reinterpret_cast<char*>(uintptr_t{1} << 46);  // never dereferenced
  std::set<char*> given_;
};

}  // namespace

TEST_CASE("a freed block is reused for the next request of its size class") {
  FakeMemory raw(kMiB);
  CachingAllocator a(raw, "fake:0");
  void* p = a.allocate(1000);
  a.free(p, 1000);
  CHECK(a.allocate(1010) == p);  // 961 to 1024 bytes are one class
  CHECK(a.stats().system_allocations == 1);
  void* q = a.allocate(1010);
  CHECK(q != p);
  CHECK(a.stats().system_allocations == 2);
  a.free(p, 1010);
  a.free(q, 1010);
}

TEST_CASE("rounding wastes at most an eighth above 512 bytes, and 63 bytes below") {
  FakeMemory raw(size_t{1} << 40);
  CachingAllocator a(raw, "fake:0");
  std::vector<size_t> sizes;
  for (size_t bytes = 1; bytes < 5000; ++bytes) sizes.push_back(bytes);
  for (size_t power = 8192; power <= 64 * kMiB; power *= 2) {
    sizes.insert(sizes.end(), {power - 1, power, power + 1, power / 8 * 9, power / 8 * 9 + 1});
  }
  for (const size_t bytes : sizes) {
    void* p = a.allocate(bytes);
    const size_t block = a.stats().in_use;
    a.free(p, bytes);
    REQUIRE(block % 64 == 0);
    REQUIRE(block >= bytes);
    REQUIRE(block - bytes <= (bytes <= 512 ? 63 : bytes / 8));
  }
}

TEST_CASE("statistics count every allocation and free") {
  FakeMemory raw(kMiB);
  CachingAllocator a(raw, "fake:0");
  void* p = a.allocate(64);
  void* q = a.allocate(100);
  CHECK(a.stats().in_use == 64 + 128);
  CHECK(a.stats().cached == 0);
  a.free(p, 64);
  CHECK(a.stats().in_use == 128);
  CHECK(a.stats().cached == 64);
  CHECK(a.stats().peak_in_use == 192);
  CHECK(raw.used() == 192);
  a.empty_cache();
  CHECK(a.stats().cached == 0);
  CHECK(raw.used() == 128);
  a.free(q, 100);
  CHECK(a.stats().in_use == 0);
  CHECK(a.stats().peak_in_use == 192);
  CHECK(a.stats().system_allocations == 2);
}

TEST_CASE("when the system has no memory, the cache is returned and the request repeated") {
  FakeMemory raw(kMiB);
  CachingAllocator a(raw, "fake:0");
  a.free(a.allocate(kMiB / 2), kMiB / 2);
  a.free(a.allocate(kMiB / 4), kMiB / 4);
  void* p = a.allocate(kMiB);
  CHECK(a.stats().in_use == kMiB);
  CHECK(a.stats().cached == 0);
  CHECK(a.stats().system_allocations == 4);
  a.free(p, kMiB);
}

TEST_CASE("out of memory states the requested, used, cached and free bytes, and changes nothing") {
  FakeMemory raw(kMiB);
  CachingAllocator a(raw, "fake:3");
  void* p = a.allocate(kMiB / 2);
  a.free(a.allocate(1024), 1024);
  try {
    a.allocate(3 * kMiB / 4);
    FAIL("expected OutOfMemoryError");
  } catch (const OutOfMemoryError& e) {
    // 1 MiB - 512 KiB are in use; the cached 1 KiB was returned before.
    CHECK(std::string(e.what()) ==
          "allocate: expected 786432 bytes (768.0 KiB) on fake:3, got out of memory: in use 524288 "
          "bytes (512.0 KiB), cached 1024 bytes (1.0 KiB), free 524288 bytes (512.0 KiB)");
  }
  CHECK(a.stats().in_use == kMiB / 2);
  CHECK(raw.used() == kMiB / 2);
  a.free(p, kMiB / 2);
}

TEST_CASE("absurd sizes are refused, also for memory of the CPU") {
  HostMemory raw;
  CachingAllocator a(raw, "cpu");
  for (const size_t bytes :
       {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 2, HostMemory::total_bytes() + 1}) {
    CHECK_THROWS_AS(a.allocate(bytes), OutOfMemoryError);
  }
  CHECK(a.stats().in_use == 0);
}

#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer would record each byte
TEST_CASE("cached memory does not allow a block larger than the memory of the CPU") {
  HostMemory raw;
  CachingAllocator a(raw, "cpu");
  const size_t total = HostMemory::total_bytes();
  void* p = nullptr;
  try {
    p = a.allocate(total / 5 * 3);
  } catch (const OutOfMemoryError&) {
    MESSAGE("skipped: less memory than the machine has");
    return;
  }
  a.free(p, total / 5 * 3);
  CHECK_THROWS_AS(a.allocate(total / 5 * 6), OutOfMemoryError);
}
#endif

TEST_CASE("memory of the CPU is aligned to 64 bytes and writable") {
  HostMemory raw;
  CHECK(raw.free_bytes() > 0);
  CachingAllocator a(raw, "cpu");
  for (const size_t bytes : {1, 63, 65, 1000, 100'000, 5'000'000}) {
    auto* p = static_cast<char*>(a.allocate(bytes));
    CHECK(reinterpret_cast<uintptr_t>(p) % 64 == 0);
    for (size_t i = 0; i < bytes; ++i) p[i] = 1;
    a.free(p, bytes);
  }
}

TEST_CASE("the cache stays below its limit and frees the least recently used blocks") {
  FakeMemory raw(size_t{1} << 40);
  CachingAllocator a(raw, "fake:0");
  // The peak is a single block, so the limit is 64 MiB plus two blocks; no block fits into earlier
  // ones.
  const size_t first = 160 * kMiB, second = 176 * kMiB, third = 192 * kMiB;
  a.free(a.allocate(first), first);
  a.free(a.allocate(second), second);
  CHECK(a.stats().cached == first + second);
  a.free(a.allocate(first), first);  // now `second` is the least recently used one
  a.free(a.allocate(third), third);
  CHECK(a.stats().cached == first + third);
  CHECK(raw.used() == first + third);
}

TEST_CASE("large blocks are split, and merged when they are freed") {
  FakeMemory raw(size_t{1} << 40);
  CachingAllocator a(raw, "fake:0");
  const size_t whole = 12 * kMiB;
  auto* p = static_cast<char*>(a.allocate(whole));
  a.free(p, whole);
  // Three parts of one system allocation, all in use.
  CHECK(a.allocate(4 * kMiB) == p + 8 * kMiB);
  CHECK(a.allocate(3 * kMiB) == p + 5 * kMiB);
  CHECK(a.allocate(5 * kMiB) == p);
  CHECK(a.stats().system_allocations == 1);
  CHECK(a.stats().in_use == whole);
  // The best fit is chosen, not the first part that is large enough.
  a.free(p, 5 * kMiB);
  a.free(p + 8 * kMiB, 4 * kMiB);
  CHECK(a.allocate(4 * kMiB - 1) == p + 8 * kMiB);
  a.free(p + 8 * kMiB, 4 * kMiB - 1);
  // One part in use keeps the whole allocation.
  a.empty_cache();
  CHECK(raw.used() == whole);
  CHECK(a.stats().cached == 9 * kMiB);
  // When both neighbours are freed it is one block again.
  a.free(p + 5 * kMiB, 3 * kMiB);
  CHECK(a.allocate(whole) == p);
  CHECK(a.stats().system_allocations == 1);
  a.free(p, whole);
  a.empty_cache();
  CHECK(raw.used() == 0);
  CHECK(a.stats().cached == 0);
}

TEST_CASE("a block much larger than the request is not split") {
  FakeMemory raw(size_t{1} << 40);
  CachingAllocator a(raw, "fake:0");
  void* p = a.allocate(12 * kMiB);
  a.free(p, 12 * kMiB);
  void* small = a.allocate(4 * kMiB - 4096);
  CHECK(a.stats().system_allocations == 2);
  CHECK(a.allocate(12 * kMiB) == p);
  CHECK(a.stats().system_allocations == 2);
  a.free(p, 12 * kMiB);
  a.free(small, 4 * kMiB - 4096);
}

TEST_CASE("segments that happen to be adjacent are not merged") {
  FakeMemory raw(size_t{1} << 40);
  CachingAllocator a(raw, "fake:0");
  std::vector<void*> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back(a.allocate(2 * kMiB));
  for (void* p : blocks) a.free(p, 2 * kMiB);
  a.free(a.allocate(4 * kMiB), 4 * kMiB);
  CHECK(a.stats().system_allocations == 51);
  a.empty_cache();  // FakeMemory accepts only blocks that it allocated
  CHECK(raw.used() == 0);
}

TEST_CASE_TEMPLATE("large blocks in a random order never overlap, and all are returned", Memory,
                   FakeMemory, FakePages) {
  auto raw = [] {
    if constexpr (std::is_same_v<Memory, FakeMemory>) return FakeMemory(size_t{1} << 40);
    if constexpr (std::is_same_v<Memory, FakePages>) return FakePages();
  }();
  CachingAllocator a(raw, "fake:0");
  std::map<char*, size_t> live;
  uint64_t random = 1;
  for (int i = 0; i < 20'000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;  // Knuth's MMIX generator
    const size_t bytes = kMiB + (random >> 33) % (8 * kMiB);
    if (live.size() < 20 || (random >> 32) % 2 == 0) {
      auto* p = static_cast<char*>(a.allocate(bytes));
      const auto [at, is_new] = live.emplace(p, bytes);
      REQUIRE(is_new);
      const auto next = std::next(at);
      REQUIRE((next == live.end() || p + bytes <= next->first));
      REQUIRE((at == live.begin() || std::prev(at)->first + std::prev(at)->second <= p));
    } else {
      auto at = live.lower_bound(std::prev(live.end())->first - random % (64 * kMiB));
      if (at == live.end()) at = live.begin();
      a.free(at->first, at->second);
      live.erase(at);
    }
    if (i % 1000 == 0) {
      REQUIRE(a.stats().in_use + a.stats().cached == raw.used());
      if (random % 4 == 0) a.empty_cache();
    }
  }
  for (const auto& [p, bytes] : live) a.free(p, bytes);
  CHECK(a.stats().in_use == 0);
  a.empty_cache();
  CHECK(a.stats().cached == 0);
  CHECK(raw.used() == 0);
}

TEST_CASE("pages are merged with all free neighbours, and only missing ones are requested") {
  FakePages raw;
  CachingAllocator a(raw, "fake:0");
  std::vector<void*> blocks;
  for (int i = 0; i < 50; ++i) blocks.push_back(a.allocate(2 * kMiB));
  CHECK(a.stats().system_allocations == 50);
  for (void* p : blocks) a.free(p, 2 * kMiB);
  void* large = a.allocate(100 * kMiB);  // as large as all three parts
  CHECK(a.stats().system_allocations == 50);
  a.free(large, 100 * kMiB);
  void* larger = a.allocate(103 * kMiB);
  CHECK(a.stats().system_allocations == 51);
  CHECK(raw.used() == 103 * kMiB);
  a.free(larger, 103 * kMiB);
  void* small =
      a.allocate(kMiB);  // a part of the large block, although the request is much smaller
  CHECK(a.stats().system_allocations == 51);
  a.free(small, kMiB);
}

TEST_CASE("free pages between used ones are returned to the system") {
  FakePages raw;
  CachingAllocator a(raw, "fake:0");
  void *high = a.allocate(3 * kMiB), *middle = a.allocate(2 * kMiB), *low = a.allocate(kMiB);
  a.free(middle, 2 * kMiB);
  a.empty_cache();
  CHECK(raw.used() == 4 * kMiB);
  CHECK(a.stats().cached == 0);
  // The remainders on both sides of the hole are not merged.
  a.free(high, 3 * kMiB);
  a.free(low, kMiB);
  CHECK(a.stats().cached == 4 * kMiB);
  void* p = a.allocate(4 * kMiB);
  CHECK(static_cast<char*>(p) + 3 * kMiB == low);
  CHECK(raw.used() == 7 * kMiB);
  a.free(p, 4 * kMiB);
}

TEST_CASE("if pages cannot be merged, others are used") {
  FakePages raw;
  CachingAllocator a(raw, "fake:0");
  void* first = a.allocate(kMiB);
  raw.refuses_to_join = true;
  a.free(first, kMiB);
  void* p = a.allocate(2 * kMiB);
  CHECK(raw.requests == 3);
  CHECK(raw.used() == 3 * kMiB);
  CHECK(a.stats().cached == kMiB);
  a.free(p, 2 * kMiB);
  a.empty_cache();
  CHECK(raw.used() == 0);
}

// Blocks are multiples of 4 KiB. tests/arm runs this file with pages of 64 KiB, too.
TEST_CASE("with larger pages than 4 KiB, large blocks come from the C library") {
  HostMemory raw;
  void* const pages = raw.allocate_pages(5 * kMiB, nullptr);
  CHECK((pages != nullptr) == (::sysconf(_SC_PAGESIZE) == 4096));
  if (pages) raw.free_pages(pages, 5 * kMiB);
  CachingAllocator a(raw, "cpu");
  void* const block = a.allocate(5 * kMiB);
  CHECK(reinterpret_cast<uintptr_t>(block) % 64 == 0);
  std::memset(block, 1, 5 * kMiB);
  a.free(block, 5 * kMiB);
  CHECK(a.stats().in_use == 0);
  a.empty_cache();
  CHECK(a.stats().cached == 0);
}

TEST_CASE("the CPU's large blocks are adjacent, and returned to the system") {
  if (::sysconf(_SC_PAGESIZE) != 4096) return;  // see above
  HostMemory raw;
  CachingAllocator a(raw, "cpu");
  std::vector<char*> blocks;
  for (int i = 0; i < 8; ++i) {
    blocks.push_back(static_cast<char*>(a.allocate(5 * kMiB)));
    std::fill_n(blocks.back(), 5 * kMiB, static_cast<char>(i));
  }
  for (int i = 0; i < 8; ++i) CHECK(blocks[static_cast<size_t>(i)][5 * kMiB - 1] == i);
  for (char* p : blocks) a.free(p, 5 * kMiB);
  auto* all = static_cast<char*>(a.allocate(40 * kMiB));
  // Other allocations of the process may be in between, so that a part is not used; this is rare.
  CHECK(a.stats().cached < 40 * kMiB);
  std::fill_n(all, 40 * kMiB, char{1});
  a.free(all, 40 * kMiB);
  a.empty_cache();
  CHECK(a.stats().cached == 0);
  unsigned char resident = 0;
  auto* page = reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(all) / 4096 * 4096);
  CHECK(::mincore(page, 4096, &resident) == -1);  // no longer mapped
}

TEST_CASE("other threads may free blocks while this one allocates") {
  FakeMemory raw(size_t{1} << 40);
  CachingAllocator a(raw, "fake:0");
  constexpr int kThreads = 4, kBlocks = 2000;
  std::vector<std::vector<void*>> blocks(kThreads);
  for (auto& list : blocks) {
    for (int i = 0; i < kBlocks; ++i) list.push_back(a.allocate(static_cast<size_t>(i) + 1));
  }
  std::vector<std::thread> threads;
  for (auto& list : blocks) {
    threads.emplace_back([&a, &list] {
      for (int i = 0; i < kBlocks; ++i) {
        const auto bytes = static_cast<size_t>(i) + 1;
        a.free(list[static_cast<size_t>(i)], bytes);
        list[static_cast<size_t>(i)] = a.allocate(bytes);
      }
    });
  }
  for (auto& t : threads) t.join();
  std::set<void*> distinct;
  for (auto& list : blocks) distinct.insert(list.begin(), list.end());
  CHECK(distinct.size() == kThreads * kBlocks);
  for (auto& list : blocks) {
    for (int i = 0; i < kBlocks; ++i) {
      a.free(list[static_cast<size_t>(i)], static_cast<size_t>(i) + 1);
    }
  }
  CHECK(a.stats().in_use == 0);
  a.empty_cache();
  CHECK(raw.used() == 0);
}
