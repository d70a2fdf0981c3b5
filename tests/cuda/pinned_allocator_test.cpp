// The cache of pinned host memory, with copies that the test ends.
#include "backends/cuda/memory/pinned_allocator.h"

#include <ambit/error.h>
#include <doctest/doctest.h>

#include <memory>
#include <vector>

using namespace ambit;
using ambit::cuda::Fence;
using ambit::cuda::PinnedAllocator;

namespace {

class LimitedMemory final : public RawMemory {
 public:
  explicit LimitedMemory(size_t limit) : limit_(limit) {}
  void* allocate(size_t bytes) override {
    if (bytes > limit_ - used_) return nullptr;
    used_ += bytes;
    return host_.allocate(bytes);
  }
  void free(void* p, size_t bytes) noexcept override {
    used_ -= bytes;
    host_.free(p, bytes);
  }
  size_t free_bytes() override { return limit_ - used_; }
  size_t used() const { return used_; }

 private:
  HostMemory host_;
  const size_t limit_;
  size_t used_ = 0;
};

class Copy final : public Fence {
 public:
  explicit Copy(std::shared_ptr<bool> done) : done_(std::move(done)) {}
  bool passed() noexcept override { return *done_; }
  void wait() override { *done_ = true; }

 private:
  std::shared_ptr<bool> done_;
};

}  // namespace

TEST_CASE("a freed pinned block is reused for the next request of about its size") {
  LimitedMemory raw(1 << 20);
  PinnedAllocator a(raw);
  void* p = a.allocate(5000);
  a.free(p);
  CHECK(a.allocate(8000) == p);  // both are 8192 bytes
  CHECK(a.stats().system_allocations == 1);
  a.free(p);
}

TEST_CASE("a pinned block is not reused while a copy uses it") {
  LimitedMemory raw(1 << 20);
  PinnedAllocator a(raw);
  const auto done = std::make_shared<bool>(false);
  auto* p = static_cast<char*>(a.allocate(5000));
  a.use(p + 4999, std::make_unique<Copy>(done));
  a.free(p);
  void* q = a.allocate(5000);
  CHECK(q != p);
  *done = true;
  CHECK(a.allocate(5000) == p);
  a.free(p);
  a.free(q);
  a.empty_cache();
  CHECK(raw.used() == 0);
  CHECK(a.stats().in_use == 0);
}

TEST_CASE("the pinned allocator ignores a copy of other memory") {
  LimitedMemory raw(1 << 20);
  PinnedAllocator a(raw);
  int elsewhere = 0;
  void* p = a.allocate(1);
  const auto done = std::make_shared<bool>(false);
  CHECK_FALSE(a.use(&elsewhere, std::make_unique<Copy>(done)));
  a.wait(&elsewhere);
  CHECK_FALSE(*done);
  a.free(p);
  CHECK(a.allocate(1) == p);
  a.free(p);
}

TEST_CASE("waiting for a pinned block waits for all its copies, and for no others") {
  LimitedMemory raw(1 << 20);
  PinnedAllocator a(raw);
  auto* p = static_cast<char*>(a.allocate(5000));
  void* q = a.allocate(5000);
  std::vector<std::shared_ptr<bool>> done;
  for (void* at : {static_cast<void*>(p), static_cast<void*>(p + 4999), q}) {
    done.push_back(std::make_shared<bool>(false));
    CHECK(a.use(at, std::make_unique<Copy>(done.back())));
  }
  a.wait(p + 100);
  CHECK(*done[0]);
  CHECK(*done[1]);
  CHECK_FALSE(*done[2]);
  a.wait(q);
  a.free(p);
  a.free(q);
}

TEST_CASE("pinned memory frees its cache before it reports that there is no memory") {
  LimitedMemory raw(12 * 1024);
  PinnedAllocator a(raw);
  a.free(a.allocate(8000));
  void* p = a.allocate(4000);
  void* q = a.allocate(4000);  // the address of the first block
  CHECK(raw.used() == 8 * 1024);
  CHECK_THROWS_AS(a.allocate(8000), OutOfMemoryError);
  a.free(p);
  a.free(q);
}
