// Indexing, random fills, losses and optimizer steps of the CPU against the reference.
#include <ambit/error.h>

#include "kernel_cases.h"

using namespace ambit;

namespace {

/// Indices in [0, bound).
Twin indices(IntArrayRef sizes, int64_t bound, Layout layout = Layout::contiguous) {
  return laid_out(sizes, layout, [&](IntArrayRef base) {
    return make_twin<int64_t>(base, [&](int64_t) {
      return static_cast<int64_t>(generator()() % static_cast<uint64_t>(bound));
    });
  });
}

/// Along dim each line names every place once.
Twin distinct_indices(IntArrayRef sizes, int64_t dim) {
  const Dims strides = contiguous_strides(sizes);
  const auto d = static_cast<size_t>(dim);
  return make_twin<int64_t>(sizes, [&](int64_t i) {
    return (i / strides[d] * 3 + i % strides[d]) % sizes[d];  // 3 shares no factor with the sizes
  });
}

/// Adding m elements of at most 3 one by one rounds m times by eps/2 of a sum below 3 m, here and
/// in the reference: m stays below 40, so 40 * 40 * 3 eps.
Bound sum_bound(DType dtype) {
  if (dtype == kFloat32) return {1, 4800 * 0x1p-24};
  return {1, dtype == kFloat64 ? 4800 * 0x1p-53 : 0};
}

/// Call f(dtype, layout, dim) for tensors of three dims.
template <class F>
void for_dims(const F& f) {
  for (DType dtype : kAllDTypes) {
    for (Layout layout : kLayouts) {
      for (int64_t dim : {0, 1, 2}) {
        INFO(name(dtype), " layout ", static_cast<int>(layout), " dim ", dim);
        f(dtype, layout, dim);
      }
    }
  }
}

void run_gather(const Twin& x, const Twin& index, int64_t dim) {
  Twin y = output_twin(index.cpu.sizes(), x.cpu.dtype());
  kernels::gather(y.cpu, x.cpu, index.cpu, dim);
  kernels::gather(y.reference, x.reference, index.reference, dim);
  check_close(y);
}

void check_gather() {
  const Dims x_sizes{7, 31, 5};
  for_dims([&](DType dtype, Layout layout, int64_t dim) {
    const Twin x = laid_out(x_sizes, layout, dtype);
    const int64_t bound = x_sizes[static_cast<size_t>(dim)];
    run_gather(x, indices({6, 9, 4}, bound, layout), dim);
    run_gather(x, indices({0, 9, 4}, bound), dim);
  });
  run_gather(random_twin({}, kFloat32), indices({}, 1), 0);
  run_gather(random_twin({50, 300}, kFloat32), indices({50, 900}, 300), 1);
}

void check_scatter() {
  for_dims([](DType dtype, Layout layout, int64_t dim) {
    const Dims sizes{7, 31, 5};
    const Twin index = distinct_indices(sizes, dim), src = laid_out(sizes, layout, dtype);
    Twin y = output_twin(sizes, dtype, layout == Layout::broadcast ? Layout::contiguous : layout);
    kernels::scatter(y.cpu, index.cpu, src.cpu, dim);
    kernels::scatter(y.reference, index.reference, src.reference, dim);
    check_close(y);
  });
}

void check_scatter_add() {
  for_dims([](DType dtype, Layout layout, int64_t dim) {
    if (dtype == kBool) return;
    const Dims sizes{7, 31, 5};
    const Twin index = indices(sizes, sizes[static_cast<size_t>(dim)], layout);
    const Twin src = laid_out(sizes, layout, dtype);
    Twin y = output_twin(sizes, dtype, layout == Layout::broadcast ? Layout::contiguous : layout);
    kernels::scatter_add(y.cpu, index.cpu, src.cpu, dim);
    kernels::scatter_add(y.reference, index.reference, src.reference, dim);
    check_close(y, sum_bound(dtype));
  });
}

void check_index_select() {
  for_dims([](DType dtype, Layout layout, int64_t dim) {
    const Dims sizes{7, 31, 5};
    const Twin x = laid_out(sizes, layout, dtype);
    for (int64_t n : {0, 1, 40}) {
      const Twin index = indices({n}, sizes[static_cast<size_t>(dim)], Layout::sliced);
      Dims out = sizes;
      out[static_cast<size_t>(dim)] = n;
      Twin y = output_twin(out, dtype);
      kernels::index_select(y.cpu, x.cpu, index.cpu, dim);
      kernels::index_select(y.reference, x.reference, index.reference, dim);
      check_close(y);
    }
  });
}

void check_index_add() {
  for_dims([](DType dtype, Layout layout, int64_t dim) {
    if (dtype == kBool) return;
    const Dims sizes{7, 31, 5};
    for (int64_t n : {0, 1, 40}) {
      const Twin index = indices({n}, sizes[static_cast<size_t>(dim)]);
      Dims in = sizes;
      in[static_cast<size_t>(dim)] = n;
      const Twin src = laid_out(in, layout, dtype);
      Twin y = output_twin(sizes, dtype, layout == Layout::broadcast ? Layout::contiguous : layout);
      kernels::index_add(y.cpu, index.cpu, src.cpu, dim);
      kernels::index_add(y.reference, index.reference, src.reference, dim);
      check_close(y, sum_bound(dtype));
    }
  });
  // Wide rows, shared by threads.
  const Twin index = indices({40}, 3), src = random_twin({40, 20001}, kFloat32);
  Twin y = output_twin({3, 20001}, kFloat32);
  kernels::index_add(y.cpu, index.cpu, src.cpu, 0);
  kernels::index_add(y.reference, index.reference, src.reference, 0);
  check_close(y, sum_bound(kFloat32));
}

void check_nonzero() {
  for (const Dims& sizes : {Dims{}, Dims{31}, Dims{0, 3}, Dims{5, 7, 3}, Dims{129, 517}}) {
    const Twin x = random_twin(sizes, kBool);
    const bool* data = x.cpu.data_ptr<bool>();
    const int64_t n = std::count(data, data + x.cpu.numel(), true);
    Twin y = output_twin({n, static_cast<int64_t>(sizes.size())}, kInt64);
    kernels::nonzero(y.cpu, x.cpu);
    kernels::nonzero(y.reference, x.reference);
    check_close(y);
  }
}

/// Equal to the last bit, but normals: their logarithm and cosine may be any libm's.
void check_random() {
  using Kind = RandomParams::Kind;
  for (Kind kind : {Kind::uniform, Kind::normal, Kind::integer, Kind::bernoulli}) {
    for (DType dtype : kAllDTypes) {
      const bool floats_only = kind == Kind::uniform || kind == Kind::normal;
      if (floats_only && !is_floating_point(dtype)) continue;
      RandomParams p{kind, -2, 3, 0x123456789abcdefu, 1000};
      if (kind == Kind::bernoulli) p.low = 0.3;
      if (kind == Kind::integer && !is_signed(dtype)) p.low = 0, p.high = dtype == kBool ? 2 : 200;
      for (int64_t n : {0, 1, 7, 31, 1023, 70001}) {
        Twin y = output_twin({n}, dtype);
        kernels::random(y.cpu, p);
        kernels::random(y.reference, p);
        // 3 z - 2 may cancel: an error of 10 ulp of 3 z stays, |z| < 6.7 = sqrt(2 * 32 * log 2).
        check_close(y, {kind == Kind::normal ? 1.0 : 0, kind == Kind::normal ? 4.5e-14 : 0});
      }
    }
  }
}

/// One product of two rounded factors; the sum of weights is rounded once.
void check_nll_loss() {
  for (DType dtype : {kFloat32, kFloat64}) {
    for (int64_t n : {0, 1, 31}) {
      for (bool weighted : {false, true}) {
        const Twin x = random_twin({n, 7}, dtype), target = indices({n}, 7);
        const Twin w = weighted ? random_twin({7}, dtype) : Twin();
        Twin y = output_twin({n}, dtype), sum = output_twin({}, dtype);
        kernels::nll_loss(y.cpu, sum.cpu, x.cpu, target.cpu, w.cpu, 3);
        kernels::nll_loss(y.reference, sum.reference, x.reference, target.reference, w.reference,
                          3);
        check_close(y, {1});
        check_close(sum, {1});
      }
    }
  }
}

/// Six operations on numbers up to 3 * 3 * 3 = 27, each rounded to eps/2 of that, in float32.
void check_sgd_step() {
  const SgdParams kinds[] = {{.lr = 0.1},
                             {.lr = 0.1, .weight_decay = 0.2},
                             {.lr = 0.1, .momentum = 0.9, .first_step = true},
                             {.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.2},
                             {.lr = 0.1, .momentum = 0.9, .nesterov = true}};
  for (const SgdParams& params : kinds) {
    for (DType dtype : {kFloat32, kFloat64}) {
      for (Layout layout : kLayouts) {
        for (const Dims& sizes : {Dims{}, Dims{31, 7}, Dims{270001}, Dims{0}}) {
          const Bound bound{1, 6 * 27 * (dtype == kFloat32 ? 0x1p-24 : 0x1p-53)};
          const Twin g = laid_out(sizes, layout, dtype);
          Twin p = output_twin(sizes, dtype, Layout::transposed), buffer;
          if (params.momentum != 0) buffer = output_twin(sizes, dtype, Layout::transposed);
          kernels::sgd_step(p.cpu, buffer.cpu, g.cpu, params);
          kernels::sgd_step(p.reference, buffer.reference, g.reference, params);
          check_close(p, bound);
          if (params.momentum != 0) check_close(buffer, bound);
        }
      }
    }
  }
}

}  // namespace

std::vector<KernelCase> index_cases() {
  return {{"gather", check_gather},           {"scatter", check_scatter},
          {"scatter_add", check_scatter_add}, {"index_select", check_index_select},
          {"index_add", check_index_add},     {"nonzero", check_nonzero},
          {"random", check_random},           {"nll_loss", check_nll_loss},
          {"sgd_step", check_sgd_step}};
}

TEST_CASE("indexing, random, loss and optimizer kernels of the cpu agree with the reference") {
  for (const KernelCase& c : index_cases()) {
    INFO(c.op);
    c.run();
  }
}

TEST_CASE("a bad index throws before the cpu writes anything") {
  for (int64_t bad : {-1, 5}) {
    Tensor y = full({4, 3}, 7, kFloat32);
    const Tensor x = ones({5, 3}, kFloat32), src = ones({4, 3}, kFloat32);
    Tensor index = zeros({4, 3}, kInt64), rows = zeros({4}, kInt64),
           five = full({5, 3}, 7, kFloat32);
    index.data_ptr<int64_t>()[11] = rows.data_ptr<int64_t>()[3] = bad;
    CHECK_THROWS_AS(kernels::gather(y, x, index, 0), IndexError);
    CHECK_THROWS_AS(kernels::index_select(y, x, rows, 0), IndexError);
    CHECK_THROWS_AS(kernels::scatter(five, index, src, 0), IndexError);
    CHECK_THROWS_AS(kernels::scatter_add(five, index, src, 0), IndexError);
    CHECK_THROWS_AS(kernels::index_add(five, rows, src, 0), IndexError);
    Tensor loss = full({4}, 7, kFloat32), sum = full({}, 7, kFloat32);
    CHECK_THROWS_AS(kernels::nll_loss(loss, sum, ones({4, 5}, kFloat32), rows, {}, -100),
                    IndexError);
    CHECK(y.data_ptr<float>()[0] == 7);
    CHECK(five.data_ptr<float>()[0] == 7);
    CHECK(loss.data_ptr<float>()[0] == 7);
  }
}
