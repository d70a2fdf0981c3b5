// oneDNN for the CPU backend: engine and stream, errors, cached primitives, and all that differs
// between oneDNN 2.x and 3.x. No oneDNN type leaves backends/cpu.
#pragma once

#include <ambit/function_table.h>
#include <ambit/tensor.h>

#include <array>
#include <cassert>
#include <dnnl.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "one_thread.h"

namespace ambit::cpu::onednn {

const dnnl::engine& engine();

/// Throw BackendError "<op>: expected oneDNN to succeed, got <status>" for any other status.
void check(const char* op, dnnl_status_t status);

/// y [M,N] = a b + beta y by dnnl_sgemm, all row-major or, where 'T' says so, transposed.
struct Sgemm {
  const char* op;  // names errors
  int64_t M, N, K;
  char a_transposed, b_transposed;
  const float *a, *b;
  int64_t a_leading, b_leading;
  float beta;
  float* y;
  int64_t y_leading;
};
/// Errors: OutOfMemoryError, BackendError.
void sgemm(const Sgemm& g);

/// What a cached plan computes.
enum class Kind : int64_t {
  convolution,
  convolution_input_grad,
  convolution_weight_grad,
  matmul_bfloat16
};

/// What a cached plan is found by: its kind, then sizes, strides and parameters.
class Key {
 public:
  explicit Key(Kind kind) { add(static_cast<int64_t>(kind)); }
  Key& add(int64_t v) {
    assert(size_ < words_.size());
    words_[size_++] = v;
    return *this;
  }
  Key& add(IntArrayRef values) {
    for (int64_t v : values) add(v);
    return *this;
  }
  size_t hash() const;
  friend bool operator==(const Key& a, const Key& b) {
    return a.size_ == b.size_ &&
           std::equal(a.words_.begin(), a.words_.begin() + a.size_, b.words_.begin());
  }

 private:
  std::array<int64_t, 34> words_;  // enough for a convolution
  size_t size_ = 0;
};

/// A primitive with its memory objects, ready to run on other data of the same shapes. Where it
/// wants a layout of its own, the data is reordered on the way in or out. Belongs to one thread.
class Plan {
 public:
  /// `op` names errors.
  explicit Plan(const char* op) : op_(op) {}

  /// Declare the next data argument: `given` is how the caller's data lies, `wanted` how the
  /// primitive wants it; call in the order of run()'s pointers.
  void input(int argument, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted);
  void output(int argument, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted);
  /// Finish with the primitive and the description of its scratchpad.
  void finish(dnnl::primitive primitive, const dnnl::memory::desc& scratchpad);

  /// How the primitive wants the data of an argument.
  dnnl::memory::desc wanted(int argument) const;

  /// Say by which of its implementations oneDNN made the primitive.
  void made_by(const char* implementation);
  /// Whether that was written for the primitive's dtypes: neither plain loops nor a way round by
  /// copies for products.
  bool is_tuned() const { return is_tuned_; }
  /// Whether a convolution goes by copies for products: they hold zeros for the padding, which are
  /// multiplied with what is not finite.
  bool multiplies_padding() const { return multiplies_padding_; }

  /// Errors: OutOfMemoryError, BackendError.
  void run(std::initializer_list<const void*> data);

 private:
  struct Reorder {
    dnnl::primitive primitive;
    dnnl::memory from, to;
  };
  /// A memory whose bytes lie in the call's scratch memory.
  struct Temporary {
    dnnl::memory memory;
    size_t offset;
  };
  dnnl::memory temporary(const dnnl::memory::desc& desc);
  void execute(const Reorder& reorder) const;

  const char* op_;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> data_;  // the caller's arguments, as given
  std::vector<Reorder> before_, after_;
  std::vector<Temporary> temporaries_;
  std::vector<dnnl_exec_arg_t> arguments_;
  std::vector<dnnl::memory> wanted_;  // keeps alive what arguments_ point at
  size_t scratch_bytes_ = 0;
  bool is_tuned_ = true, multiplies_padding_ = false;
};

/// Find the calling thread's plan for `key`, or let `make` build one. Errors: BackendError.
Plan& cached(const char* op, const Key& key, Plan (*make)(const void* context),
             const void* context);
template <class Make>
Plan& cached(const char* op, const Key& key, const Make& make) {
  return cached(
      op, key, [](const void* context) { return (*static_cast<const Make*>(context))(); }, &make);
}

// `dtype`: float32 or bfloat16.

/// Describe data of these sizes and strides (row-major if none).
dnnl::memory::desc describe(DType dtype, IntArrayRef sizes, IntArrayRef strides = {});
/// Describe images [N,C,H,W] or [N,C,D,H,W] with the channels innermost.
dnnl::memory::desc channels_last(DType dtype, IntArrayRef sizes);
/// Describe data whose layout is oneDNN's choice.
dnnl::memory::desc any_layout(DType dtype, IntArrayRef sizes);

// Primitive descriptors, with the scratchpad left to the caller; dtypes are those of the operands.

dnnl::reorder reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to);

/// y = map(a b + bias), which may be empty; map: none, gelu or gelu_tanh.
dnnl::matmul::primitive_desc matmul(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                                    const dnnl::memory::desc& bias, const dnnl::memory::desc& y,
                                    std::optional<UnaryOp> map);

/// Shapes of one convolution; w has a leading dim of groups where there are several.
struct Convolution {
  dnnl::memory::desc x, w, dw, bias, y;                             // bias may be empty
  dnnl::memory::dims stride, dilation, padding_begin, padding_end;  // of each spatial dim
};
dnnl::convolution_forward::primitive_desc convolution(const Convolution& c);
dnnl::convolution_backward_data::primitive_desc convolution_input_grad(const Convolution& c);
dnnl::convolution_backward_weights::primitive_desc convolution_weight_grad(const Convolution& c);

}  // namespace ambit::cpu::onednn
