// CUDA on the host reports wrong kernels, each in a separate process, and accepts correct ones.
#include <doctest/doctest.h>

#include <vector>

#include "gpu_memory.h"
#include "kernels/faulty_kernels.h"
#include "tests/child_process.h"
#include "tests/dies.h"

using namespace faulty;

namespace {

// The child must have been ended by SIGABRT with all of these texts.
void check_report(const std::string& test_case, const std::vector<std::string>& texts,
                  const std::string& environment = "") {
  for (const int seed : {1, 2, 3}) {  // other orders of threads, blocks and streams
    check_dies(test_case, texts, environment + " AMBIT_CUDA_HOST_SEED=" + std::to_string(seed));
  }
}

}  // namespace

TEST_CASE("a write past the end of an allocation is found, with kernel, block and thread") {
  check_report("child: write past the end",
               {"write of 4 bytes", "of an allocation of 256 bytes of cuda:0", "out of the bounds",
                "fill_kernel", "block 1 of 2, thread ", " of 64, on cuda:0"});
}
TEST_CASE("child: write past the end" * doctest::skip()) {
  const Gpu<int> y(64);
  fill({2, 64, nullptr}, y, 1);
  wait();
}

TEST_CASE("a read past the end of an allocation is found, also of single bytes") {
  check_report("child: read past the end", {"read of 1 bytes", "byte 63 of an allocation of 63"});
}
TEST_CASE("child: read past the end" * doctest::skip()) {
  const Gpu<int8_t> y(64), x(63, 0);
  add_one_to_bytes({1, 64, nullptr}, y, x);
  wait();
}

TEST_CASE("use of freed memory is found") {
  check_report("child: freed", {"read of 4 bytes", "which was freed", "add_one_kernel"});
}
TEST_CASE("child: freed" * doctest::skip()) {
  const Gpu<int> y(64);
  int* x = nullptr;
  {
    const Gpu<int> short_lived(64, 0);
    x = short_lived;
  }
  add_one({1, 64, nullptr}, y, x);
  wait();
}

TEST_CASE("access to memory of another device is found, unless peer access is enabled") {
  check_report("child: another device", {"of cuda:1", "to which cuda:0 was given no access"},
               "AMBIT_CUDA_HOST=2");
  const ChildResult child = run_child("child: a peer", "AMBIT_CUDA_HOST=2");
  INFO(child.output);
  CHECK(child.exit_code == 0);
}
TEST_CASE("child: another device" * doctest::skip()) {
  cudaSetDevice(1);
  const Gpu<int> y(64);
  cudaSetDevice(0);
  fill({1, 64, nullptr}, y, 1);
  wait();
}
TEST_CASE("child: a peer" * doctest::skip()) {
  cudaSetDevice(1);
  const Gpu<int> y(64);
  cudaSetDevice(0);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaSuccess);
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
  fill({1, 64, nullptr}, y, 7);
  CHECK(y.host()[63] == 7);
}

TEST_CASE("access to host memory is found, unless it is pinned") {
  check_report("child: memory of the host", {"which is not memory of the GPU"});
  void* pinned = nullptr;
  REQUIRE(cudaHostAlloc(&pinned, 256, cudaHostAllocDefault) == cudaSuccess);
  fill({1, 64, nullptr}, static_cast<int*>(pinned), 5);
  wait();
  CHECK(static_cast<int*>(pinned)[63] == 5);
  cudaFreeHost(pinned);
}
TEST_CASE("child: memory of the host" * doctest::skip()) {
  std::vector<int> y(64);
  fill({1, 64, nullptr}, y.data(), 1);
  wait();
}

TEST_CASE("a misaligned vector is found") {
  check_report("child: misaligned", {"a misaligned access", "expected a multiple of 16",
                                     "faulty_kernels.cu", "copy_vector_kernel"});
}
TEST_CASE("child: misaligned" * doctest::skip()) {
  const Gpu<float> y(8), x(8, 1.f);
  copy_vector({1, 1, nullptr}, y, x);
  copy_vector({1, 1, nullptr}, y, x + 1);
  wait();
}

TEST_CASE("a read of uninitialised memory is found") {
  check_report("child: never written", {"read of 4 bytes", "byte 0 was never written"});
  check_report("child: shared memory never written", {"of shared memory", "never written"});
  check_report("child: a copy of what was never written", {"add_one_kernel", "never written"});
}
TEST_CASE("child: never written" * doctest::skip()) {
  const Gpu<int> y(64), x(64);
  add_one({1, 64, nullptr}, y, x);
  wait();
}
TEST_CASE("child: shared memory never written" * doctest::skip()) {
  const Gpu<int> y(64);
  sum_block({1, 64, nullptr}, y, true);  // shared memory may still hold values of another kernel
  read_unwritten_shared({1, 64, nullptr}, y);
  wait();
}
TEST_CASE("child: a copy of what was never written" * doctest::skip()) {
  const Gpu<int> y(64), x(64), z(64, 1);
  cudaMemcpyAsync(z, x, 256, cudaMemcpyDeviceToDevice, nullptr);
  add_one({1, 64, nullptr}, y, z);
  wait();
}

TEST_CASE("a missing barrier is found, and with the barrier there is no error") {
  check_report("child: no barrier", {"a race", "shared memory", "by thread",
                                     "with no barrier between", "sum_block_kernel"});
  for (const unsigned threads : {2u, 32u, 256u, 1024u}) {
    const Gpu<int> y(3 * threads);
    sum_block({3, threads, nullptr}, y, true);
    for (const int v : y.host()) CHECK(v == static_cast<int>(threads * (threads - 1) / 2));
  }
}
TEST_CASE("child: no barrier" * doctest::skip()) {
  const Gpu<int> y(256);
  sum_block({1, 256, nullptr}, y, false);
  wait();
}

TEST_CASE("a race between blocks is found; atomics do not race") {
  check_report("child: a race of blocks", {"a race", "count_kernel", "of block"});
  check_report("child: a read next to atomics", {"a race", "count_and_read_kernel"});
  const Gpu<int> y(1, 0);
  count({3, 256, nullptr}, y, true);
  CHECK(y.host()[0] == 3 * 256);
}
TEST_CASE("child: a race of blocks" * doctest::skip()) {
  const Gpu<int> y(1, 0);
  count({4, 1, nullptr}, y, false);
  wait();
}
TEST_CASE("child: a read next to atomics" * doctest::skip()) {
  const Gpu<int> y(1, 0), seen(1);
  count_and_read({1, 64, nullptr}, y, seen);
  wait();
}

TEST_CASE("threads that write the same value race, unless it is volatile") {
  check_report("child: alike", {"a race", "write_alike_kernel"});
  const Gpu<int> y(1);
  write_alike({3, 64, nullptr}, y, true);
  CHECK(y.host()[0] == 1);
}
TEST_CASE("child: alike" * doctest::skip()) {
  const Gpu<int> y(1);
  write_alike({1, 64, nullptr}, y, false);
  wait();
}

TEST_CASE("an exchange within a warp returns the others' values, and orders their accesses") {
  const Gpu<int> y(256), other(256);
  sum_warp({2, 128, nullptr}, y);
  const std::vector<int> sums = y.host();
  for (int i = 0; i < 256; ++i) CHECK(sums[static_cast<size_t>(i)] == 32 * (i / 32 * 32) + 496);
  swap_in_warp({1, 256, nullptr}, y, other, true);
  for (int i = 0; i < 256; ++i) CHECK(other.host()[static_cast<size_t>(i)] == (i ^ 1));
  check_report("child: no order in a warp", {"a race", "swap_in_warp_kernel"});
}
TEST_CASE("child: no order in a warp" * doctest::skip()) {
  const Gpu<int> y(64, 0), other(64);
  swap_in_warp({1, 64, nullptr}, y, other, false);
  wait();
}

TEST_CASE("threads that wait for others that never arrive are found") {
  check_report("child: leaves", {"barrier", "have ended", "leave_before_barrier_kernel"});
  check_report("child: part ways", {"part_ways_kernel"});
}
TEST_CASE("child: leaves" * doctest::skip()) {
  const Gpu<int> y(64);
  leave_before_barrier({1, 64, nullptr}, y);
  wait();
}
TEST_CASE("child: part ways" * doctest::skip()) {
  const Gpu<int> y(64);
  part_ways({1, 64, nullptr}, y);
  wait();
}

TEST_CASE("another thread's local variable is found; constants may be read") {
  check_report("child: local", {"a local variable of another thread", "share_local_kernel"});
  const Gpu<int> y(64);
  look_up({1, 64, nullptr}, y);
  CHECK(y.host()[5] == 9);
}
TEST_CASE("child: local" * doctest::skip()) {
  const Gpu<int> y(64);
  share_local({1, 64, nullptr}, y);
  wait();
}

TEST_CASE("without checks nothing is found, and results are the same") {
  const ChildResult child = run_child("child: never written", "AMBIT_CUDA_HOST_CHECKS=0");
  INFO(child.output);
  CHECK(child.exit_code == 0);
  const ChildResult sums = run_child("child: sums", "AMBIT_CUDA_HOST_CHECKS=0");
  INFO(sums.output);
  CHECK(sums.exit_code == 0);
}
TEST_CASE("child: sums" * doctest::skip()) {
  const Gpu<int> y(1024);
  sum_block({4, 256, nullptr}, y, true);
  for (const int v : y.host()) CHECK(v == 255 * 128);
}
