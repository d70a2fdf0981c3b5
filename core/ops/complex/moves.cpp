// Copies and moves of complex numbers: as integers with the same bits, or part by part.
#include <ambit/ops/shape.h>

#include <tuple>
#include <type_traits>

#include "core/ops/complex/kernels.h"
#include "core/ops/complex/parts.h"
#include "core/ops/operands/allocate.h"

namespace ambit {
namespace {

bool is_complex(const Tensor& t) { return t.defined() && t.is_complex(); }

enum class Outputs { written, updated };  // updated: the kernel reads their old values

// Run an op on the parts of its complex operands. The kernel writes to dense tensors, since some
// kernels require contiguous outputs, and these are copied to the outputs.
template <Outputs outputs, class... A>
void run_on_parts(const Op<void(A...)>& op, std::type_identity_t<A>... args) {
  for (Tensor (*part)(const Tensor&) : {re, im}) {
    const auto passed = [part]<class Arg>(Arg& arg) -> std::remove_cv_t<Arg> {
      if constexpr (std::is_same_v<std::remove_cv_t<Arg>, Tensor>) {
        if (!is_complex(arg)) return arg;
        if constexpr (std::is_const_v<Arg>) {
          return part(arg);
        } else if constexpr (outputs == Outputs::updated) {
          return clone(part(arg));
        } else {
          return allocate("complex", arg.sizes(), real_dtype(arg.dtype()), arg.device());
        }
      } else {
        return arg;
      }
    };
    // Braces, so that the arguments are converted in order.
    std::tuple<std::remove_cvref_t<A>...> operands{passed(args)...};
    std::apply(op, operands);
    const auto store = [part]<class Arg>(Arg& arg, const std::remove_cv_t<Arg>& from) {
      if constexpr (std::is_same_v<Arg, Tensor>) {
        if (!is_complex(arg)) return;
        Tensor y = part(arg);
        kernels::copy(y, from);
      }
    };
    std::apply([&](auto&... from) { (store(args, from), ...); }, operands);
  }
}

// As above, for an op that only moves elements: complex64 runs as int64, complex128 part by part.
template <Outputs outputs, class... A>
void run_on_bits(const Op<void(A...)>& op, std::type_identity_t<A>... args) {
  const auto is_wide = []<class Arg>(const Arg& arg) {
    if constexpr (std::is_same_v<Arg, Tensor>) {
      return arg.defined() && arg.dtype() == kComplexDouble;
    } else {
      return false;
    }
  };
  if ((is_wide(args) || ...)) return run_on_parts<outputs>(op, args...);
  const auto passed = []<class Arg>(const Arg& arg) -> Arg {
    if constexpr (std::is_same_v<Arg, Tensor>) {
      return is_complex(arg) ? bits(arg) : arg;
    } else {
      return arg;
    }
  };
  std::tuple<std::remove_cvref_t<A>...> operands{passed(args)...};
  std::apply(op, operands);
}

// y = x != 0.
void copy_to_bool(Tensor& y, const Tensor& x) {
  Tensor second = allocate("copy", x.sizes(), kBool, x.device());
  kernels::copy(y, re(x));
  kernels::copy(second, im(x));
  kernels::binary(y, y, second, BinaryOp::bitwise_or);
}

}  // namespace

void by_parts::copy(Tensor& y, const Tensor& x) {
  if (!is_complex(y)) return y.dtype() == kBool ? copy_to_bool(y, x) : kernels::copy(y, re(x));
  if (is_complex(x)) {
    if (x.dtype() != y.dtype() || x.dtype() == kComplexDouble) {
      Tensor to = pairs(y);
      return kernels::copy(to, pairs(x));
    }
    Tensor to = bits(y);
    return kernels::copy(to, bits(x));
  }
  Tensor y_re = re(y), y_im = im(y);
  kernels::copy(y_re, x);
  kernels::fill(y_im, 0);
}

void by_parts::fill(Tensor& y, const Scalar& value) {
  Tensor y_re = re(y), y_im = im(y);
  kernels::fill(y_re, value);
  kernels::fill(y_im, 0);
}

void by_parts::where(Tensor& y, const Tensor& condition, const Tensor& a, const Tensor& b) {
  run_on_bits<Outputs::written>(kernels::where, y, condition, a, b);
}

void by_parts::gather(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  run_on_bits<Outputs::written>(kernels::gather, y, x, index, dim);
}

void by_parts::scatter(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  run_on_bits<Outputs::updated>(kernels::scatter, y, index, src, dim);
}

void by_parts::index_select(Tensor& y, const Tensor& x, const Tensor& index, int64_t dim) {
  run_on_bits<Outputs::written>(kernels::index_select, y, x, index, dim);
}

void by_parts::scatter_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  run_on_parts<Outputs::updated>(kernels::scatter_add, y, index, src, dim);
}

void by_parts::index_add(Tensor& y, const Tensor& index, const Tensor& src, int64_t dim) {
  run_on_parts<Outputs::updated>(kernels::index_add, y, index, src, dim);
}

}  // namespace ambit
