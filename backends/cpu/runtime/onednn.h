// oneDNN for the CPU backend: engine and stream, errors, cached primitives, and all differences
// between oneDNN 2.x and 3.x. oneDNN types are used only in backends/cpu.
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

/// y [M,N] = a b + beta y by dnnl_sgemm; all row-major, a and b transposed if marked 'T'.
struct Sgemm {
  const char* op;  // for error messages
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

/// The operation of a cached plan.
enum class Kind : int64_t {
  convolution,
  convolution_input_grad,
  convolution_weight_grad,
  matmul_bfloat16
};

/// Cache key of a plan: its kind, then sizes, strides and parameters.
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

/// A primitive with its memory objects, which can run on other data of the same shapes. If the
/// primitive needs another layout, inputs and outputs are reordered. Not thread-safe.
class Plan {
 public:
  /// `op`: used in error messages.
  explicit Plan(const char* op) : op_(op) {}

  /// Declare the next data argument: `given` is the layout of the caller's data, `wanted` that of
  /// the primitive. Call in the order of run()'s pointers.
  void input(int argument, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted);
  void output(int argument, const dnnl::memory::desc& given, const dnnl::memory::desc& wanted);
  /// Complete the plan with its primitive and the descriptor of its scratchpad.
  void finish(dnnl::primitive primitive, const dnnl::memory::desc& scratchpad);

  /// Return the layout that the primitive needs for an argument.
  dnnl::memory::desc wanted(int argument) const;

  /// Record the name of the oneDNN implementation of the primitive.
  void made_by(const char* implementation);
  /// Return true if the implementation is written for the primitive's dtypes: neither plain loops
  /// nor im2col with products.
  bool is_tuned() const { return is_tuned_; }
  /// Return true if a convolution multiplies zeros for padding, as im2col with products and the
  /// implementations by AMX do: infinite or NaN values then give NaN.
  bool multiplies_padding() const { return multiplies_padding_; }

  /// Errors: OutOfMemoryError, BackendError.
  void run(std::initializer_list<const void*> data);

 private:
  struct Reorder {
    dnnl::primitive primitive;
    dnnl::memory from, to;
  };
  /// A memory object whose data is in the scratch memory of the call.
  struct Temporary {
    dnnl::memory memory;
    size_t offset;
  };
  dnnl::memory temporary(const dnnl::memory::desc& desc);
  void execute(const Reorder& reorder) const;

  const char* op_;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> data_;  // the caller's arguments, in the given layout
  std::vector<Reorder> before_, after_;
  std::vector<Temporary> temporaries_;
  std::vector<dnnl_exec_arg_t> arguments_;
  std::vector<dnnl::memory> wanted_;  // owns the objects that arguments_ refers to
  size_t scratch_bytes_ = 0;
  bool is_tuned_ = true, multiplies_padding_ = false;
};

/// Return the calling thread's plan for `key`, built by `make` if missing. Errors: BackendError.
Plan& cached(const char* op, const Key& key, Plan (*make)(const void* context),
             const void* context);
template <class Make>
Plan& cached(const char* op, const Key& key, const Make& make) {
  return cached(
      op, key, [](const void* context) { return (*static_cast<const Make*>(context))(); }, &make);
}

// `dtype` is float32 or bfloat16.

/// Return a descriptor of data with these sizes and strides (row-major if none).
dnnl::memory::desc describe(DType dtype, IntArrayRef sizes, IntArrayRef strides = {});
/// Return a descriptor of images [N,C,H,W] or [N,C,D,H,W] in channels-last layout.
dnnl::memory::desc channels_last(DType dtype, IntArrayRef sizes);
/// Return a descriptor of data whose layout oneDNN chooses.
dnnl::memory::desc any_layout(DType dtype, IntArrayRef sizes);

// Primitive descriptors with a user-provided scratchpad; dtypes are those of the operands.

dnnl::reorder reorder(const dnnl::memory::desc& from, const dnnl::memory::desc& to);

/// y = map(a b + bias); bias may be empty; map: none, gelu or gelu_tanh.
dnnl::matmul::primitive_desc matmul(const dnnl::memory::desc& a, const dnnl::memory::desc& b,
                                    const dnnl::memory::desc& bias, const dnnl::memory::desc& y,
                                    std::optional<UnaryOp> map);

/// Shapes of one convolution; w has a leading dim of groups if there are several.
struct Convolution {
  dnnl::memory::desc x, w, dw, bias, y;                             // bias may be empty
  dnnl::memory::dims stride, dilation, padding_begin, padding_end;  // of each spatial dim
};
dnnl::convolution_forward::primitive_desc convolution(const Convolution& c);
dnnl::convolution_backward_data::primitive_desc convolution_input_grad(const Convolution& c);
dnnl::convolution_backward_weights::primitive_desc convolution_weight_grad(const Convolution& c);

}  // namespace ambit::cpu::onednn
