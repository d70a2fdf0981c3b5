// Tests that need a GPU: late errors, exhausted memory, threads and streams. Without a GPU these
// cases are skipped with a note.
#include <ambit/ambit.h>
#include <ambit/backend/kernels.h>
#include <ambit/cuda_counters.h>
#include <ambit/memory.h>
#include <ambit/settings.h>
#include <doctest/doctest.h>

#include <cstddef>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "has_gpu.h"
#include "tests/child_process.h"

using namespace ambit;

TEST_CASE("gpu: a bad index is an IndexError with the op's name when the host waits") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor x = ones({4, 3}, gpu), index = tensor({1, 7}).to(gpu);
  const Tensor y = x.index_select(0, index);
  CHECK_THROWS_WITH_AS(y.cpu(), "index_select: expected an index in [0, 4), got 7", IndexError);
  CHECK(x.sum().item<float>() == 12);  // the device remains usable
  const Tensor zero = zeros({2}, TensorOptions(gpu).dtype(kInt32));
  const Tensor quotient = zero.floor_divide(zero);
  CHECK_THROWS_WITH_AS(synchronize(gpu), "floor_divide: expected a divisor other than 0, got 0",
                       Error);
}

TEST_CASE("gpu: an invalid probability is an Error when the host waits; BCE itself does not wait") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor target = ones({3}, gpu), good = full({3}, 0.5).to(gpu), bad = good + target;
  nn::functional::binary_cross_entropy(good, target);
  const uint64_t waits = cuda::counters().host_waits;
  nn::functional::binary_cross_entropy(bad, target);
  nn::functional::binary_cross_entropy(good, target);
  CHECK(cuda::counters().host_waits == waits);
  CHECK_THROWS_WITH_AS(synchronize(gpu),
                       "binary_cross_entropy: expected all elements of input in [0, 1]", Error);
  synchronize(gpu);  // the error is thrown once
  normal(0, good);
  normal(0, -good);
  CHECK(cuda::counters().host_waits == waits + 2);
  CHECK_THROWS_WITH_AS(good.cpu(), "normal: expected all elements of std >= 0, got one that is not",
                       Error);
}

TEST_CASE(
    "gpu: float16 and bfloat16 gradients of maxima are summed in float32, some images at a time") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  constexpr int64_t kImages = 9, kSide = 1024;  // eight images fit into a part
  for (const DType dtype : dtypes::kReducedFloating) {
    // Adjacent float32 numbers of this size differ by two, so adding 1 once would have no effect.
    const double large = dtype == kFloat16 ? 2048 : 256;
    const Tensor dy = tensor({large, 1.0, 1.0, 1.0}).to(dtype).view({1, 1, 2, 2}).to(gpu);
    const Tensor places = arange(kImages).mul_(1000).add_(7).to(kInt32).view({kImages, 1, 1, 1});
    Tensor dx = empty({kImages, 1, kSide, kSide}, TensorOptions(dtype).device(gpu));
    kernels::max_pool_grad(dx, dy.expand({kImages, 1, 2, 2}).contiguous(),
                           places.expand({kImages, 1, 2, 2}).contiguous().to(gpu),
                           {.kernel = {kSide / 2, kSide / 2}});
    Tensor expected = zeros({kImages, kSide * kSide});
    for (int64_t i = 0; i < kImages; ++i) expected[i][1000 * i + 7].fill_(large + 4);
    CHECK(dx.cpu().to(kFloat32).view(expected.sizes()).equal(expected));
  }
}

TEST_CASE("gpu: all float16 and bfloat16 numbers are read and written as on the CPU") {
  if (!has_gpu()) return;
  const Tensor bits = arange(1 << 16).to(kInt16);
  for (const DType dtype : dtypes::kReducedFloating) {
    const Tensor x = bits.view(dtype), there = x.to(Device("cuda"));
    const Tensor strided = there.view({256, 256}).t();
    const auto is_same = [](const Tensor& got, const Tensor& expected) {
      const Tensor ours = got.cpu();
      return (ours.eq(expected) | (ours.isnan() & expected.isnan())).all().item<bool>();
    };
    CHECK(is_same(-there, -x));
    CHECK(is_same(there * 0.3, x * 0.3));  // rounded, also to denormals and infinity
    CHECK(is_same(strided * 0.3, (x * 0.3).view({256, 256}).t()));
    CHECK(is_same(there * 3, x * 3));
    CHECK(there.isnan().cpu().equal(x.isnan()));
  }
}

TEST_CASE("gpu: out of memory is an error that leaves the process usable") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  std::vector<Tensor> held;
  CHECK_THROWS_AS(
      [&] {
        while (true) held.push_back(empty({int64_t{1} << 31}, gpu));  // 8 GiB each
      }(),
      OutOfMemoryError);
  held.clear();
  const Tensor large = ones({int64_t{1} << 28}, gpu);
  CHECK(large.sum().item<float>() == float(1 << 28));
  empty_cache(gpu);
}

TEST_CASE("gpu: tensors are passed between threads with their own streams") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  for (int round = 0; round < 20; ++round) {
    Tensor x = zeros({1 << 20}, gpu);
    for (int i = 0; i < 4; ++i) {
      // Each thread reads the result queued by the previous one, and frees it.
      std::thread([&] { x = x + 1; }).join();
    }
    std::vector<std::thread> readers;
    std::vector<float> sums(4);
    for (size_t i = 0; i < sums.size(); ++i) {
      readers.emplace_back([&, i] { sums[i] = (x * 2).sum().item<float>(); });
    }
    for (std::thread& t : readers) t.join();
    for (const float s : sums) CHECK(s == 8.f * (1 << 20));
  }
}

TEST_CASE("gpu: no kernel uses memory that another still uses: 1,000 random programs") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  for (unsigned seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    std::mutex mutex;                              // orders only the host; the streams overlap
    std::vector<std::pair<Tensor, int64_t>> held;  // tensors, and the value of all elements of each
    const auto program = [&](unsigned thread) {
      std::mt19937 random(2 * seed + thread);
      for (int step = 0; step < 30; ++step) {
        const std::lock_guard lock(mutex);
        const size_t at = random() % 8;
        if (at >= held.size()) {
          // Sizes up to 2 MiB use blocks of small and of larger segments.
          held.emplace_back(
              full({int64_t{1} << random() % 19}, step, TensorOptions(gpu).dtype(kInt64)), step);
        } else if (random() % 2 == 0) {
          held[at] = {held[at].first + 1, held[at].second + 1};
        } else {
          held.erase(held.begin() + static_cast<std::ptrdiff_t>(at));
        }
        if (random() % 200 == 0) empty_cache(gpu);
      }
    };
    std::thread other(program, 1);
    program(0);
    other.join();
    for (const auto& [t, value] : held) REQUIRE((t == value).all().item<bool>());
  }
}

TEST_CASE("gpu: non-blocking copies of pinned memory do not wait, and can be read at once") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor host = zeros({1 << 20}).pin_memory(gpu);
  CHECK(host.is_pinned(gpu));
  const cuda::Counters before = cuda::counters();
  const Tensor there = host.to(gpu, /*non_blocking=*/true);
  const Tensor back = (there + 7).to(kCPU, /*non_blocking=*/true);
  CHECK(cuda::counters().host_waits == before.host_waits);
  CHECK(back.equal(full({1 << 20}, 7.0)));
  CHECK(cuda::counters().host_waits > before.host_waits);
}

TEST_CASE("gpu: positions past 2^31 are correct") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  constexpr int64_t kCount = (int64_t{1} << 31) + 5;
  const Tensor x = zeros({kCount}, TensorOptions(gpu).dtype(kInt8));
  x.slice(0, kCount - 3).fill_(1);
  CHECK((x + x).sum().item<int64_t>() == 6);
  CHECK(x.argmax().item<int64_t>() == kCount - 3);
  CHECK(x.nonzero()[2].item<int64_t>() == kCount - 1);
  CHECK(
      x.view({-1, 1}).expand({kCount, 2}).slice(0, kCount - 2).contiguous().sum().item<int64_t>() ==
      4);
}

TEST_CASE("gpu: channels-last convolutions of more images than are converted at once") {
  if (!has_gpu()) return;
  manual_seed(7);
  // Whole numbers, whose sums are exact in float32.
  const auto numbers = [](IntArrayRef sizes) { return randint(-3, 4, sizes).to(kHalf); };
  const Tensor x = numbers({9000, 2048, 1, 1}), w = numbers({2, 2048, 1, 1}), b = numbers({2});
  const ConvParams padded{.padding = {1, 1}};
  const auto on_gpu = [](const Tensor& t) { return t.to(Device("cuda")); };
  const auto as_float = [](const Tensor& t) { return t.to(kFloat32); };
  const Tensor y = conv2d(as_float(x), as_float(w), as_float(b), padded);
  CHECK(conv2d(on_gpu(x), on_gpu(w), on_gpu(b), padded).cpu().equal(y.to(kHalf)));
  const Tensor dy = numbers(y.sizes());
  const Tensor dx = convolution_input_grad(as_float(dy), as_float(w), x.sizes(), padded);
  CHECK(convolution_input_grad(on_gpu(dy), on_gpu(w), x.sizes(), padded).cpu().equal(dx.to(kHalf)));
}

TEST_CASE("gpu: channels-last convolutions with TF32") {
  if (!has_gpu()) return;
  // Whole numbers of 3 bits, which are exact in TF32.
  const auto numbers = [](IntArrayRef sizes) { return randint(-3, 4, sizes).to(kFloat32); };
  const Tensor x = numbers({3, 6, 14, 15}), w = numbers({8, 3, 3, 2}), b = numbers({8});
  const ConvParams p{.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2};
  const auto all = [&](Device device) {
    const Tensor there = x.to(device), weight = w.to(device);
    const Tensor y = conv2d(there, weight, b.to(device), p);
    return std::vector<Tensor>{y.cpu(), convolution_input_grad(y, weight, x.sizes(), p).cpu(),
                               convolution_weight_grad(y, there, w.sizes(), p).cpu()};
  };
  const std::vector<Tensor> expected = all(kCPU);
  allow_tf32(true);
  const std::vector<Tensor> got = all(Device("cuda"));
  allow_tf32(false);
  // Outputs have 8 bits; they are rounded before their gradients are computed.
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i].equal(expected[i]));
}

TEST_CASE("child: a gradient of weights by more images than are laid out at once" *
          doctest::skip()) {
  const Device gpu("cuda");
  allow_tf32(true);
  // Whole numbers of 3 bits, which are exact in TF32, as their sums are in float32.
  const auto numbers = [](IntArrayRef sizes) { return randint(-3, 4, sizes).to(kFloat32); };
  const Tensor x = numbers({60, 512, 20, 20}), dy = numbers({60, 2, 20, 20});
  const Tensor there = x.to(gpu), dy_there = dy.to(gpu);
  const size_t held = memory_stats(gpu).in_use;
  for (const bool benchmark : {false, true}) {
    set_benchmark(benchmark);
    const Tensor dw = convolution_weight_grad(dy_there, there, {2, 512, 1, 1}, {});
    CHECK(dw.cpu().equal(convolution_weight_grad(dy, x, {2, 512, 1, 1}, {})));
  }
  // x has 47 MiB, of which a part of 32 MiB is converted at a time.
  CHECK(memory_stats(gpu).peak_in_use - held < x.nbytes());
}

TEST_CASE("gpu: TF32's gradients of weights convert some images at a time") {
  if (!has_gpu()) return;
  const ChildResult ran =
      run_child("child: a gradient of weights by more images than are laid out at once");
  INFO(ran.output);
  CHECK(ran.exit_code == 0);
  CHECK(ran.output.find("1 passed") != std::string::npos);
}

TEST_CASE("gpu: deterministic sums into equal positions are the same every time") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  const Tensor source = randn({100000, 8}, gpu),
               index = randint(0, 10, {100000}, TensorOptions(gpu).dtype(kInt64));
  set_deterministic(true);
  const Tensor first =
      zeros({10, 8}, gpu)
          .scatter_add(0, index.unsqueeze(1).expand({100000, 8}).contiguous(), source);
  const Tensor second =
      zeros({10, 8}, gpu)
          .scatter_add(0, index.unsqueeze(1).expand({100000, 8}).contiguous(), source);
  set_deterministic(false);
  CHECK(first.cpu().equal(second.cpu()));
}

TEST_CASE("gpu: after warm-up a training step neither allocates nor waits") {
  if (!has_gpu()) return;
  const Device gpu("cuda");
  nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(3, 6, 5)), nn::ReLU(),
                     nn::MaxPool2d(nn::MaxPool2dOptions(2)), nn::Flatten(),
                     nn::Linear(6 * 14 * 14, 10));
  net->to(gpu);
  optim::SGD sgd(net->parameters(), optim::SGDOptions(0.01).momentum(0.9));
  const Tensor x = randn({4, 3, 32, 32}, gpu),
               target = zeros({4}, TensorOptions(gpu).dtype(kInt64));
  const auto step = [&] {
    sgd.zero_grad();
    nn::functional::cross_entropy(net->forward(x), target).backward();
    sgd.step();
  };
  for (int i = 0; i < 5; ++i) step();
  const cuda::Counters before = cuda::counters();
  for (int i = 0; i < 20; ++i) step();
  const cuda::Counters after = cuda::counters();
  CHECK(after.system_allocations == before.system_allocations);
  CHECK(after.host_waits == before.host_waits);
  CHECK(after.launches > before.launches);
}
