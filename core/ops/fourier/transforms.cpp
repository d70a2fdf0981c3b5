// Discrete Fourier transforms of real and of complex tensors along dims. Each is a transform of
// pairs (fft_pairs) or of real lines (rfft_pairs, irfft_pairs) along one dim after the other; these
// record the gradients.
#include "transforms.h"

#include <ambit/backend/alias.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/fft.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/fft.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/ops/operands/expect.h"

namespace ambit {

Tensor as_transformable(const char* op, const Tensor& self) {
  expect_defined(op, "self", self);
  const DType from = self.dtype();
  const DType dtype = is_complex(from) || is_floating_point(from) ? from : get_default_dtype();
  if (is_reduced_floating(dtype)) {
    throw DTypeError(
        fmt::format("{}: expected float32, float64 or a complex dtype, got {}", op, name(dtype)));
  }
  return dtype == from ? self : to(self, self.device(), dtype);
}

Tensor as_pairs(const Tensor& x) {
  return x.is_complex() ? view_as_real(x) : stack({x, zeros_like(x)}, -1);
}

Tensor as_complex(const Tensor& pairs) {
  Dims sizes(pairs.sizes()), strides(pairs.strides());
  sizes.erase(sizes.size() - 1);
  strides.erase(strides.size() - 1);
  for (int64_t& stride : strides) stride /= 2;
  Tensor out(intrusive_ptr<TensorImpl>(new TensorImpl(
      pairs.storage(), sizes, strides, pairs.storage_offset() / 2, complex_dtype(pairs.dtype()))));
  return record("view_as_complex", std::move(out),
                wrt(pairs, [](const Tensor& g) { return view_as_real(g); }));
}

Tensor extended(const Tensor& x, int64_t dim, int64_t n) {
  Dims sizes(x.sizes());
  int64_t& size = sizes[static_cast<size_t>(dim)];
  if (n <= size) return x;
  size = n - size;
  return cat({x, zeros(sizes, TensorOptions(x.dtype()).device(x.device()))}, dim);
}

namespace {

using Norm = std::optional<std::string_view>;

/// The dims of a transform, and the number of points of the lines along each dim.
struct Lines {
  Dims dims, sizes;

  double points() const {
    double product = 1;
    for (const int64_t n : sizes) product *= static_cast<double>(n);
    return product;
  }
  /// Return all dims except the last.
  IntArrayRef others() const { return IntArrayRef(dims.data(), dims.size() - 1); }
};

void expect_points(const char* op, int64_t n) {
  if (n < 1) throw ShapeError(fmt::format("{}: expected one or more points, got {}", op, n));
}

int64_t line_dim(const char* op, const Tensor& self, int64_t dim) {
  if (self.dim() == 0) {
    throw IndexError(fmt::format("{}: expected a tensor with dims, got a 0-dim one", op));
  }
  return wrap_dim(op, dim, self.dim());
}

Lines one_line(const char* op, const Tensor& self, std::optional<int64_t> n, int64_t dim) {
  const int64_t d = line_dim(op, self, dim);
  const int64_t points = n.value_or(self.size(d));
  expect_points(op, points);
  return {{d}, {points}};
}

Dims dims_of(const char* op, const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim) {
  Dims dims;
  if (!dim) {
    const auto count = s ? static_cast<int64_t>(s->size()) : self.dim();
    for (int64_t d = self.dim() - count; d < self.dim(); ++d) dims.push_back(d);
    return dims;
  }
  for (const int64_t d : *dim) dims.push_back(wrap_dim(op, d, self.dim()));
  for (size_t i = 0; i < dims.size(); ++i) {
    if (std::find(dims.begin(), dims.begin() + i, dims[i]) != dims.begin() + i) {
      throw Error(fmt::format("{}: expected different dims, got {} twice", op, dims[i]));
    }
  }
  return dims;
}

Lines lines_of(const char* op, const Tensor& self, OptionalIntArrayRef s, OptionalIntArrayRef dim) {
  expect_defined(op, "self", self);
  if (s && dim && s->size() != dim->size()) {
    throw ShapeError(fmt::format("{}: expected as many sizes as dims, got {} and {}", op, s->size(),
                                 dim->size()));
  }
  if (s && static_cast<int64_t>(s->size()) > self.dim()) {
    throw ShapeError(fmt::format("{}: expected at most {} sizes for shape {}, got {}", op,
                                 self.dim(), str(self.sizes()), s->size()));
  }
  Lines lines{dims_of(op, self, s, dim), {}};
  for (size_t i = 0; i < lines.dims.size(); ++i) {
    const bool is_given = s && (*s)[i] != -1;
    lines.sizes.push_back(is_given ? (*s)[i] : self.size(lines.dims[i]));
    expect_points(op, lines.sizes.back());
  }
  return lines;
}

void expect_dims(const char* op, const Lines& lines) {
  if (lines.dims.empty()) throw ShapeError(fmt::format("{}: expected dims, got none", op));
}

double scale_of(const char* op, const Norm& norm, bool forward, double points) {
  const std::string_view mode = norm.value_or("backward");
  if (mode == "ortho") return 1 / std::sqrt(points);
  if (mode == "backward" || mode == "forward") {
    return (mode == "forward") == forward ? 1 / points : 1;
  }
  throw Error(fmt::format(
      "{}: expected the norm \"backward\", \"forward\" or \"ortho\", got \"{}\"", op, mode));
}

Tensor resized(Tensor x, const Lines& lines) {
  for (size_t i = 0; i < lines.dims.size(); ++i) {
    if (lines.sizes[i] < x.size(lines.dims[i])) x = x.narrow(lines.dims[i], 0, lines.sizes[i]);
  }
  for (size_t i = 0; i < lines.dims.size(); ++i) x = extended(x, lines.dims[i], lines.sizes[i]);
  return x;
}

// Transform pairs along dims; `scale` applies to the whole transform.
Tensor transformed(Tensor pairs, IntArrayRef dims, bool inverse, double scale) {
  for (size_t i = dims.size(); i-- > 0;) {
    pairs = fft_pairs(pairs, dims[i], inverse, i + 1 == dims.size() ? scale : 1);
  }
  return pairs;
}

// Transform real x along the last one of lines.dims: one half of the result is computed; the other
// half consists of its conjugates in reverse order.
Tensor mirrored_transform(const Tensor& x, const Lines& lines, double scale, bool forward) {
  const int64_t dim = lines.dims.back(), mirrored = (lines.sizes.back() - 1) / 2;
  const Tensor half = as_complex(rfft_pairs(x, dim, scale));
  if (mirrored == 0) return forward ? half : conj(half);
  const Tensor rest = half.narrow(dim, 1, mirrored).flip({dim});
  return forward ? cat({half, conj(rest)}, dim) : cat({conj(half), rest}, dim);
}

// fft, ifft
Tensor complex_transform(const char* op, const Tensor& self, const Lines& lines, const Norm& norm,
                         bool forward) {
  const double scale = scale_of(op, norm, forward, lines.points());
  const Tensor x = as_transformable(op, self);
  if (lines.dims.empty()) return as_complex(clone(as_pairs(x), MemoryFormat::Contiguous));
  if (x.is_complex()) {
    const Tensor pairs = resized(view_as_real(x), lines);
    return as_complex(transformed(pairs, lines.dims, !forward, scale));
  }
  const Tensor all = mirrored_transform(resized(x, lines), lines, scale, forward);
  if (lines.dims.size() == 1) return all;
  return as_complex(transformed(view_as_real(all), lines.others(), !forward, 1));
}

// Compute rfft, or ihfft, whose result is the conjugate of rfft's.
Tensor transform_of_real(const char* op, const Tensor& self, const Lines& lines, const Norm& norm,
                         bool forward) {
  expect_dims(op, lines);
  if (self.is_complex()) {
    throw DTypeError(fmt::format("{}: expected real numbers, got {}", op, name(self.dtype())));
  }
  const double scale = scale_of(op, norm, forward, lines.points());
  const Tensor x = resized(as_transformable(op, self), lines);
  const Tensor half = rfft_pairs(x, lines.dims.back(), scale);
  const Tensor out = as_complex(transformed(half, lines.others(), false, 1));
  return forward ? out : conj(out);
}

// Compute irfft with `points` results along the last dim, or hfft, which is irfft of the conjugate.
Tensor transform_to_real(const char* op, const Tensor& self, Lines lines, int64_t points,
                         const Norm& norm, bool forward) {
  expect_dims(op, lines);
  expect_points(op, points);
  lines.sizes[lines.sizes.size() - 1] = points;
  const double scale = scale_of(op, norm, forward, lines.points());
  lines.sizes[lines.sizes.size() - 1] = points / 2 + 1;
  const Tensor x = as_transformable(op, self);
  const Tensor pairs = !x.is_complex() ? as_pairs(resized(x, lines))
                       : forward       ? resized(view_as_real(conj(x)), lines)
                                       : resized(view_as_real(x), lines);
  return irfft_pairs(transformed(pairs, lines.others(), true, 1), lines.dims.back(), points, scale);
}

Tensor line_to_real(const char* op, const Tensor& self, std::optional<int64_t> n, int64_t dim,
                    const Norm& norm, bool forward) {
  expect_defined(op, "self", self);
  const int64_t d = line_dim(op, self, dim);
  return transform_to_real(op, self, {{d}, {0}}, n.value_or(2 * (self.size(d) - 1)), norm, forward);
}

Tensor lines_to_real(const char* op, const Tensor& self, OptionalIntArrayRef s,
                     OptionalIntArrayRef dim, const Norm& norm, bool forward) {
  const Lines lines = lines_of(op, self, s, dim);
  expect_dims(op, lines);
  const bool is_given = s && s->back() != -1;
  const int64_t points = is_given ? s->back() : 2 * (self.size(lines.dims.back()) - 1);
  return transform_to_real(op, self, lines, points, norm, forward);
}

}  // namespace

#define AMBIT_LINE(name, transform, forward)                                          \
  Tensor name(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) { \
    AMBIT_AUTOCAST_AS("fft", name, self, n, dim, norm)                                \
    expect_defined(#name, "self", self);                                              \
    return transform(#name, self, one_line(#name, self, n, dim), norm, forward);      \
  }
AMBIT_LINE(fft_fft, complex_transform, true)
AMBIT_LINE(fft_ifft, complex_transform, false)
AMBIT_LINE(fft_rfft, transform_of_real, true)
AMBIT_LINE(fft_ihfft, transform_of_real, false)
#undef AMBIT_LINE

#define AMBIT_LINE_TO_REAL(name, forward)                                             \
  Tensor name(const Tensor& self, std::optional<int64_t> n, int64_t dim, Norm norm) { \
    AMBIT_AUTOCAST_AS("fft", name, self, n, dim, norm)                                \
    return line_to_real(#name, self, n, dim, norm, forward);                          \
  }
AMBIT_LINE_TO_REAL(fft_irfft, false)
AMBIT_LINE_TO_REAL(fft_hfft, true)
#undef AMBIT_LINE_TO_REAL

#define AMBIT_LINES(name, Dimensions, transform, forward)                             \
  Tensor name(const Tensor& self, OptionalIntArrayRef s, Dimensions dim, Norm norm) { \
    AMBIT_AUTOCAST_AS("fft", name, self, s, dim, norm)                                \
    return transform(#name, self, lines_of(#name, self, s, dim), norm, forward);      \
  }
#define AMBIT_LINES_TO_REAL(name, Dimensions, forward)                                \
  Tensor name(const Tensor& self, OptionalIntArrayRef s, Dimensions dim, Norm norm) { \
    AMBIT_AUTOCAST_AS("fft", name, self, s, dim, norm)                                \
    return lines_to_real(#name, self, s, dim, norm, forward);                         \
  }
#define AMBIT_ALL_LINES(suffix, Dimensions)                            \
  AMBIT_LINES(fft_fft##suffix, Dimensions, complex_transform, true)    \
  AMBIT_LINES(fft_ifft##suffix, Dimensions, complex_transform, false)  \
  AMBIT_LINES(fft_rfft##suffix, Dimensions, transform_of_real, true)   \
  AMBIT_LINES(fft_ihfft##suffix, Dimensions, transform_of_real, false) \
  AMBIT_LINES_TO_REAL(fft_irfft##suffix, Dimensions, false)            \
  AMBIT_LINES_TO_REAL(fft_hfft##suffix, Dimensions, true)
AMBIT_ALL_LINES(n, OptionalIntArrayRef)
AMBIT_ALL_LINES(2, IntArrayRef)
#undef AMBIT_ALL_LINES
#undef AMBIT_LINES_TO_REAL
#undef AMBIT_LINES

}  // namespace ambit
