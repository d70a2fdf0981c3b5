// Launches of kernels, and of the libraries' work on streams.
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include "api.h"
#include "at_work.h"
#include "block.h"
#include "device.h"
#include "module.h"
#include "queue.h"
#include "random.h"
#include "shadow.h"

namespace ambit::cuda::host {
namespace {

// State of a launch until it runs.
struct Launch {
  Kernel kernel;
  unsigned blocks;
  std::unique_ptr<char[]> arguments;
  size_t argument_bytes;
};

// Blocks run one after the other; the step between them is coprime to their number.
void run_kernel(Streams& all, const Launch& launch) {
  if (all.is_failing_launch()) return all.fail(cudaErrorIllegalAddress);
  const Module& module = module_of(launch.kernel.function);
  at_work.shared = const_cast<Region*>(&module.shared);
  at_work.module_begin = module.begin;
  at_work.module_bytes = module.bytes;
  at_work.arguments = reinterpret_cast<uintptr_t>(launch.arguments.get());
  at_work.argument_bytes = launch.argument_bytes;
  at_work.blocks = launch.blocks;
  at_work.threads = launch.kernel.threads;
  const uint64_t n = launch.blocks, first = random_number(launch.blocks);
  uint64_t step = 1 + random_number(launch.blocks);
  while (std::gcd(step, n) != 1) step = 1 + random_number(launch.blocks);
  for (uint64_t i = 0, block = first; i < n; ++i, block = (block + step) % n) {
    if (i > 0) begin_interval();
    at_work.block_first = at_work.serial;
    at_work.block = static_cast<unsigned>(block);
    at_work.run.emplace_back(at_work.serial, at_work.block);
    run_block(launch.kernel);
  }
}

// Add work to the queue of a stream of the calling thread's device.
template <class F>
cudaError_t add_to(Streams& all, cudaStream_t stream, const F& work) {
  Queue* queue = all.find(stream, current_device());
  if (!queue || queue->device != current_device()) return cudaErrorInvalidResourceHandle;
  return all.add(*queue, work());
}

const char* kept(std::string name) {
  static auto* const names = new std::set<std::string>;
  return names->insert(std::move(name)).first->c_str();
}

}  // namespace

cudaError_t queue_kernel(const void* kernel,
                         void (*as_thread)(const void* kernel, const void* arguments),
                         const void* arguments, size_t argument_bytes, unsigned blocks,
                         unsigned threads, cudaStream_t stream) {
  return call([&](Streams& all) {
    if (blocks == 0 || blocks > 0x7fffffffu || threads == 0 || threads > kMostThreads) {
      return cudaErrorInvalidConfiguration;
    }
    return add_to(all, stream, [&] {
      const auto launch = std::make_shared<Launch>();
      launch->arguments = std::make_unique_for_overwrite<char[]>(argument_bytes);
      std::memcpy(launch->arguments.get(), arguments, argument_bytes);
      launch->argument_bytes = argument_bytes;
      launch->blocks = blocks;
      launch->kernel = {kernel, as_thread, launch->arguments.get(), threads};
      return Work{nullptr, kernel, [&all, launch] { run_kernel(all, *launch); }};
    });
  });
}

cudaError_t enqueue(cudaStream_t stream, std::string name, std::function<void()> work) {
  return call([&](Streams& all) {
    return add_to(all, stream, [&] {
      return Work{kept(std::move(name)), nullptr, std::move(work)};
    });
  });
}

void check_read(const void* p, size_t bytes) {
  if (settings().checks) check_range(Access::read, reinterpret_cast<uintptr_t>(p), bytes);
}

void check_write(void* p, size_t bytes) {
  if (settings().checks) check_range(Access::write, reinterpret_cast<uintptr_t>(p), bytes);
}

int device_of(cudaStream_t stream) {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  const Queue* queue = all.find(stream, current_device());
  return queue ? queue->device : -1;
}

cudaError_t sticky_error() {
  Streams& all = streams();
  const std::lock_guard lock(all.mutex);
  return all.sticky();
}

}  // namespace ambit::cuda::host
