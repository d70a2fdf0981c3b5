#include "matmul_bfloat16.h"

#include <optional>

#include "backends/cpu/layout/packing.h"
#include "backends/cpu/runtime/library_use.h"
#include "backends/cpu/runtime/onednn.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/scratch.h"
#include "gemm.h"

namespace ambit::cpu {
namespace {

using Bits = const uint16_t;

/// A dense matrix, row-major or column-major; copied if it is neither, because oneDNN is slow for
/// other strides.
class DenseMatrix {
 public:
  DenseMatrix(const Matrix<Bits>& m, int64_t rows, int64_t columns) : data_(m.data) {
    const bool row_major =
        (m.column_stride == 1 || columns == 1) && (m.row_stride == columns || rows == 1);
    column_major_ =
        !row_major && (m.row_stride == 1 || rows == 1) && (m.column_stride == rows || columns == 1);
    if (row_major || column_major_) return;
    // The dim with the smaller stride stays the inner one.
    column_major_ = m.row_stride < m.column_stride;
    const int64_t inner = column_major_ ? rows : columns, outer = column_major_ ? columns : rows;
    const int64_t step = column_major_ ? m.row_stride : m.column_stride;
    const int64_t pitch = column_major_ ? m.column_stride : m.row_stride;
    copy_.emplace(static_cast<size_t>(rows * columns) * sizeof(uint16_t));
    for (int64_t i = 0; i < outer; ++i) {
      copy_strided(inner, copy_->data<uint16_t>() + i * inner, 1, m.data + i * pitch, step,
                   sizeof(uint16_t));
    }
    data_ = copy_->data<uint16_t>();
  }
  Bits* data() const { return data_; }
  bool is_column_major() const { return column_major_; }

 private:
  Bits* data_;
  bool column_major_;
  std::optional<Scratch> copy_;
};

dnnl::memory::desc describe(int64_t rows, int64_t columns, bool column_major) {
  return {{rows, columns},
          dnnl::memory::data_type::bf16,
          column_major ? dnnl::memory::dims{1, rows} : dnnl::memory::dims{columns, 1}};
}

/// y [M,N] = map(a [M,K] b [K,N] + bias [N]), on the calling thread.
struct Product {
  const char* op;
  std::optional<UnaryOp> map;
  int64_t M, N, K;
  bool a_column_major, b_column_major, has_bias;
  const dnnl::memory::desc* packed_b = nullptr;  // layout of the packed b; null if b is not packed
  int64_t packed_for = 0;                        // number of rows for which the layout was chosen

  onednn::Plan& plan() const {
    onednn::Key key(onednn::Kind::matmul_bfloat16);
    key.add({M, N, K, a_column_major, b_column_major, has_bias, packed_for,
             map ? static_cast<int64_t>(*map) : -1});
    return onednn::cached(op, key, [this] {
      const auto a = describe(M, K, a_column_major),
                 b = packed_b ? *packed_b : describe(K, N, b_column_major);
      const auto bias = has_bias ? describe(1, N, false) : dnnl::memory::desc();
      const auto y = describe(M, N, false);
      const auto primitive = onednn::matmul(a, b, bias, y, map);
      onednn::Plan made(op);
      made.input(DNNL_ARG_SRC, a, a);
      made.input(DNNL_ARG_WEIGHTS, b, b);
      if (has_bias) made.input(DNNL_ARG_BIAS, bias, bias);
      made.output(DNNL_ARG_DST, y, y);
      made.finish(dnnl::matmul(primitive), primitive.scratchpad_desc());
      return made;
    });
  }

  void run(uint16_t* y, Bits* a, Bits* b, Bits* bias) const {
    if (has_bias) {
      plan().run({a, b, bias, y});
    } else {
      plan().run({a, b, y});
    }
  }
};

/// b [K,N] packed once to oneDNN's preferred layout, for a product that is computed in parts of
/// `rows` rows; otherwise each part would pack all of b.
class PackedMatrix {
 public:
  PackedMatrix(const char* op, int64_t rows, int64_t K, int64_t N, const DenseMatrix& b)
      : layout_(layout(op, rows, K, N)), scratch_(layout_.get_size()) {
    onednn::Key key(onednn::Kind::matmul_bfloat16);
    key.add({rows, N, K, b.is_column_major()});
    onednn::Plan& plan = onednn::cached(op, key, [&] {
      const auto from = describe(K, N, b.is_column_major());
      onednn::Plan made(op);
      made.input(DNNL_ARG_FROM, from, from);
      made.output(DNNL_ARG_TO, layout_, layout_);
      made.finish(onednn::reorder(from, layout_), {});
      return made;
    });
    plan.run({b.data(), scratch_.data()});
  }
  const dnnl::memory::desc& description() const { return layout_; }
  Bits* data() const { return scratch_.data<uint16_t>(); }

 private:
  /// Return the layout of b that oneDNN prefers for products with `rows` rows.
  static dnnl::memory::desc layout(const char* op, int64_t rows, int64_t K, int64_t N) {
    onednn::Key key(onednn::Kind::matmul_bfloat16);
    key.add({rows, N, K});
    const onednn::Plan& plan = onednn::cached(op, key, [&] {
      const auto a = describe(rows, K, false), y = describe(rows, N, false);
      const auto primitive = onednn::matmul(a, onednn::any_layout(kBFloat16, {K, N}), {}, y, {});
      onednn::Plan made(op);
      made.input(DNNL_ARG_SRC, a, a);
      made.input(DNNL_ARG_WEIGHTS, primitive.weights_desc(), primitive.weights_desc());
      made.output(DNNL_ARG_DST, y, y);
      made.finish(dnnl::matmul(primitive), primitive.scratchpad_desc());
      return made;
    });
    return plan.wanted(DNNL_ARG_WEIGHTS);
  }

  dnnl::memory::desc layout_;
  Scratch scratch_;
};

/// Return the rows of y per thread; by sizes only, so that no sum depends on the thread count.
int64_t rows_of_part(int64_t M, int64_t N, int64_t K) {
  constexpr int64_t kMostParts = 16, kUnit = 32, kLargePart = 64 * kProductGrain;
  int64_t rows = M;
  while (rows > kUnit && ceil_div(M, rows) < kMostParts && rows * N * K >= kLargePart) {
    rows = round_up(ceil_div(rows, 2), kUnit);
  }
  return rows;
}

Matrix<Bits> matrix_of(const Tensor& t, size_t row_dim, size_t column_dim, int64_t offset = 0) {
  return {reinterpret_cast<Bits*>(t.data_ptr<BFloat16>()) + offset, t.strides()[row_dim],
          t.strides()[column_dim]};
}

/// Compute one product; threads share its rows.
void multiply(const char* op, int64_t M, int64_t N, int64_t K, uint16_t* y, const Matrix<Bits>& a,
              const DenseMatrix& b, Bits* bias = nullptr, std::optional<UnaryOp> map = {}) {
  const int64_t rows = rows_of_part(M, N, K);
  std::optional<PackedMatrix> packed;
  if (ceil_div(M, rows) > 2) packed.emplace(op, rows, K, N, b);
  parallel_for(ceil_div(M, rows), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i * rows, count = std::min(rows, M - first);
      const DenseMatrix part({a.data + first * a.row_stride, a.row_stride, a.column_stride}, count,
                             K);
      const Product product{op,
                            map,
                            count,
                            N,
                            K,
                            part.is_column_major(),
                            b.is_column_major(),
                            bias != nullptr,
                            packed ? &packed->description() : nullptr,
                            packed ? rows : 0};
      product.run(y + first * N, part.data(), packed ? packed->data() : b.data(), bias);
    }
  });
}

bool has_instructions([[maybe_unused]] dnnl::cpu_isa isa) {
#if defined(__x86_64__)
  const auto has = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  const auto needed = static_cast<unsigned>(isa);
  return (has & needed) == needed;
#else
  return false;  // float16 has another format
#endif
}

}  // namespace

DTypeSet native_products() {
  return has_instructions(dnnl::cpu_isa::avx512_core_bf16) ? DTypeSet{kBFloat16} : DTypeSet();
}
bool has_bfloat16_tiles() { return has_instructions(dnnl::cpu_isa::avx512_core_amx); }

bool matmul_bfloat16(const Tensor& y, const Tensor& a, const Tensor& b) {
  const LibraryUse use;
  if (!use) return false;
  const int64_t B = y.sizes()[0], M = y.sizes()[1], N = y.sizes()[2], K = a.sizes()[2];
  auto* out = reinterpret_cast<uint16_t*>(y.data_ptr<BFloat16>());
  if (b.strides()[0] == 0 && a.strides()[0] == M * a.strides()[1]) {  // a single longer product
    const DenseMatrix right(matrix_of(b, 1, 2), K, N);
    multiply("matmul", B * M, N, K, out, matrix_of(a, 1, 2), right);
    return true;
  }
  parallel_for(B, grain_for_products(M * N * K), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const DenseMatrix right(matrix_of(b, 1, 2, i * b.strides()[0]), K, N);
      multiply("matmul", M, N, K, out + i * M * N, matrix_of(a, 1, 2, i * a.strides()[0]), right);
    }
  });
  return true;
}

bool linear_bfloat16(const Tensor& y, const Tensor& x, const Tensor& w, const Tensor& b,
                     std::optional<UnaryOp> map) {
  const LibraryUse use;
  if (!use) return false;
  const int64_t M = y.sizes()[0], N = y.sizes()[1], K = x.sizes()[1];
  const DenseMatrix right(matrix_of(w, 1, 0), K, N);
  std::optional<DenseMatrix> bias;
  if (b.defined()) {
    bias.emplace(Matrix<Bits>{reinterpret_cast<Bits*>(b.data_ptr<BFloat16>()), N, b.strides()[0]},
                 1, N);
  }
  multiply(map ? "linear_map" : "linear", M, N, K,
           reinterpret_cast<uint16_t*>(y.data_ptr<BFloat16>()), matrix_of(x, 0, 1), right,
           bias ? bias->data() : nullptr, map);
  return true;
}

}  // namespace ambit::cpu
