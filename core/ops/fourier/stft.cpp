// Short-time Fourier transforms: transforms of overlapping frames of a signal, and the sum of
// frames.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/detail/autocast.h>
#include <ambit/detail/fft.h>
#include <ambit/error.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/fft.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/ops/operands/expect.h"
#include "core/ops/shape/windows.h"
#include "transforms.h"

namespace ambit {
namespace {

/// The lengths of a transform's frames.
struct Frames {
  const char* op;
  int64_t n_fft, hop, win_length;

  Frames(const char* name, int64_t n, std::optional<int64_t> hop_length,
         std::optional<int64_t> length)
      : op(name), n_fft(n), hop(hop_length.value_or(n / 4)), win_length(length.value_or(n)) {
    if (n_fft < 1) throw Error(fmt::format("{}: expected n_fft > 0, got {}", op, n_fft));
    if (hop < 1) throw Error(fmt::format("{}: expected hop_length > 0, got {}", op, hop));
    if (win_length < 1 || win_length > n_fft) {
      throw Error(
          fmt::format("{}: expected win_length in [1, n_fft = {}], got {}", op, n_fft, win_length));
    }
  }

  int64_t left() const { return (n_fft - win_length) / 2; }

  /// Return the window [n_fft], extended with zeros at both ends; undefined if it is all ones.
  Tensor extend(Tensor window, const Tensor& self) const {
    if (window.defined()) {
      if (window.sizes() != IntArrayRef{win_length}) {
        throw ShapeError(fmt::format("{}: expected a window of shape [{}], got {}", op, win_length,
                                     str(window.sizes())));
      }
    } else if (win_length == n_fft) {
      return window;
    } else {
      window = ones({win_length}, TensorOptions(real_dtype(self.dtype())).device(self.device()));
    }
    return both_ends(window, left(), n_fft - win_length - left());
  }

  static Tensor both_ends(const Tensor& x, int64_t before, int64_t after) {
    const auto zeros_of = [&](int64_t n) {
      Dims sizes(x.sizes());
      sizes[sizes.size() - 1] = n;
      return zeros(sizes, TensorOptions(x.dtype()).device(x.device()));
    };
    if (before == 0 && after == 0) return x;
    return cat({zeros_of(before), x, zeros_of(after)}, -1);
  }
};

// Extend lines [B,L] by n samples at both ends.
Tensor padded(const Tensor& x, int64_t n, std::string_view mode) {
  const int64_t length = x.size(1);
  if (mode == "constant") return Frames::both_ends(x, n, n);
  const bool is_reflect = mode == "reflect", is_circular = mode == "circular";
  if (!is_reflect && !is_circular && mode != "replicate") {
    throw Error(
        fmt::format("stft: expected the pad_mode \"reflect\", \"constant\", \"replicate\" or "
                    "\"circular\", got \"{}\"",
                    mode));
  }
  const int64_t least = is_reflect ? n + 1 : is_circular ? std::max<int64_t>(n, 1) : 1;
  if (length < least) {
    throw ShapeError(
        fmt::format("stft: expected {} or more samples to extend by {}, got {}", least, n, length));
  }
  if (n == 0) return x;
  if (is_circular) return cat({x.narrow(1, length - n, n), x, x.narrow(1, 0, n)}, 1);
  if (is_reflect) {
    return cat({x.narrow(1, 1, n).flip({1}), x, x.narrow(1, length - 1 - n, n).flip({1})}, 1);
  }
  const Dims ends{x.size(0), n};
  return cat({x.narrow(1, 0, 1).expand(ends), x, x.narrow(1, length - 1, 1).expand(ends)}, 1);
}

void expect_signal(const Tensor& self) {
  expect_defined("stft", "self", self);
  if (!is_differentiable(self.dtype())) {
    throw DTypeError(fmt::format("stft: expected floating-point or complex numbers, got {}",
                                 name(self.dtype())));
  }
  if (self.dim() != 1 && self.dim() != 2) {
    throw ShapeError(
        fmt::format("stft: expected a signal of shape [L] or [B, L], got {}", str(self.sizes())));
  }
}

// Return the frames [B, frames, n_fft] of lines [B,L], as views.
Tensor frames_of(Tensor lines, const Frames& f, bool align_to_window) {
  if (align_to_window)
    lines = Frames::both_ends(lines, f.left(), f.n_fft - f.win_length - f.left());
  if (lines.size(1) < f.n_fft) {
    throw ShapeError(
        fmt::format("stft: expected {} or more samples, got {}", f.n_fft, lines.size(1)));
  }
  return unfold(lines, 1, f.n_fft, f.hop);
}

// Transform frames [B, frames, n_fft] to pairs [B, rows, frames, 2].
Tensor transformed_frames(const Tensor& frames, bool normalized, bool onesided) {
  const double scale = normalized ? 1 / std::sqrt(static_cast<double>(frames.size(2))) : 1;
  const Tensor x = as_transformable("stft", frames);
  return onesided ? rfft_pairs(x, 2, scale) : fft_pairs(as_pairs(x), 2, false, scale);
}

Tensor value_or_none(const std::optional<Tensor>& t) { return t ? *t : Tensor(); }

}  // namespace

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
            std::optional<int64_t> win_length, const std::optional<Tensor>& window, bool center,
            std::string_view pad_mode, bool normalized, std::optional<bool> onesided,
            std::optional<bool> return_complex, std::optional<bool> align_to_window) {
  AMBIT_AUTOCAST(stft, self, n_fft, hop_length, win_length, window, center, pad_mode, normalized,
                 onesided, return_complex, align_to_window)
  expect_signal(self);
  const Tensor given = value_or_none(window);
  check_devices("stft", {{"self", self}, {"window", given}});
  const bool is_complex = self.is_complex() || (given.defined() && given.is_complex());
  if (!is_complex && !return_complex) {
    throw Error("stft: expected return_complex = true for real numbers, got false");
  }
  if (is_complex && onesided.value_or(false)) {
    throw Error("stft: expected onesided = false for complex numbers, got true");
  }
  if (center && align_to_window) {
    throw Error("stft: expected align_to_window only without center, got both");
  }
  const Frames f("stft", n_fft, hop_length, win_length);
  const Tensor weights = f.extend(given, self);
  Tensor lines = self.dim() == 1 ? self.unsqueeze(0) : self;
  if (center) lines = padded(lines, n_fft / 2, pad_mode);
  Tensor frames = frames_of(lines, f, align_to_window.value_or(false));
  if (weights.defined()) frames = frames * weights;
  const Tensor pairs = transformed_frames(frames, normalized, onesided.value_or(!is_complex));
  Tensor out = return_complex.value_or(true) ? as_complex(pairs) : pairs;
  out = out.transpose(1, 2);
  return self.dim() == 1 ? out.squeeze(0) : out;
}

Tensor stft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
            std::optional<int64_t> win_length, const std::optional<Tensor>& window, bool normalized,
            std::optional<bool> onesided, std::optional<bool> return_complex,
            std::optional<bool> align_to_window) {
  return stft(self, n_fft, hop_length, win_length, window, false, "constant", normalized, onesided,
              return_complex, align_to_window);
}

namespace {

void expect_spectrum(const Tensor& self) {
  expect_defined("istft", "self", self);
  if (!self.is_complex()) {
    throw DTypeError(fmt::format("istft: expected complex numbers, got {}", name(self.dtype())));
  }
  if ((self.dim() != 2 && self.dim() != 3) || self.numel() == 0) {
    throw ShapeError(fmt::format(
        "istft: expected a shape [rows, frames] or [B, rows, frames] with elements, got {}",
        str(self.sizes())));
  }
}

// Return true if the spectrum has only rows 0 to n_fft / 2.
bool is_half(int64_t rows, int64_t n_fft, std::optional<bool> onesided) {
  const bool half = onesided.value_or(rows != n_fft);
  const int64_t expected = half ? n_fft / 2 + 1 : n_fft;
  if (rows != expected) {
    throw ShapeError(fmt::format("istft: expected {} rows for n_fft = {} and onesided = {}, got {}",
                                 expected, n_fft, half, rows));
  }
  return half;
}

// Return the inverse transforms [B, frames, n_fft] of a spectrum [B, rows, frames].
Tensor inverse_frames(const Tensor& spectrum, int64_t n_fft, bool normalized, bool to_complex) {
  const auto n = static_cast<double>(n_fft);
  const double scale = normalized ? 1 / std::sqrt(n) : 1 / n;
  const Tensor pairs = view_as_real(spectrum).transpose(1, 2);
  if (to_complex) return as_complex(fft_pairs(pairs, 2, true, scale));
  return irfft_pairs(pairs.narrow(2, 0, n_fft / 2 + 1), 2, n_fft, scale);
}

void expect_weights(const Tensor& sums) {
  if (sums.numel() == 0) throw ShapeError("istft: expected one or more samples, got none");
  if (sums.is_meta()) return;
  const NoGradGuard no_grad;
  if (const double least = abs(sums).min().item<double>(); least < 1e-11) {
    throw Error(fmt::format(
        "istft: expected a sum of the windows' squares that is not 0 at any sample, got {}",
        least));
  }
}

}  // namespace

Tensor istft(const Tensor& self, int64_t n_fft, std::optional<int64_t> hop_length,
             std::optional<int64_t> win_length, const std::optional<Tensor>& window, bool center,
             bool normalized, std::optional<bool> onesided, std::optional<int64_t> length,
             bool return_complex) {
  expect_spectrum(self);
  const Tensor given = value_or_none(window);
  check_devices("istft", {{"self", self}, {"window", given}});
  const Frames f("istft", n_fft, hop_length, win_length);
  if (f.hop > f.win_length) {
    throw Error(fmt::format("istft: expected hop_length in [1, win_length = {}], got {}",
                            f.win_length, f.hop));
  }
  const bool half = is_half(self.size(-2), n_fft, onesided);
  if (return_complex && half) {
    throw Error("istft: expected n_fft rows for return_complex = true, got half");
  }
  if (!return_complex && given.defined() && given.is_complex()) {
    throw DTypeError("istft: expected a real window without return_complex, got complex numbers");
  }
  if (length && *length < 1) {
    throw Error(fmt::format("istft: expected a length > 0, got {}", *length));
  }
  Tensor weights = f.extend(given, self);
  if (!weights.defined()) {
    weights = ones({n_fft}, TensorOptions(real_dtype(self.dtype())).device(self.device()));
  }
  const Tensor spectrum = self.dim() == 2 ? self.unsqueeze(0) : self;
  const int64_t B = spectrum.size(0), count = spectrum.size(2);
  const int64_t samples = n_fft + f.hop * (count - 1);
  const Tensor frames = inverse_frames(spectrum, n_fft, normalized, return_complex) * weights;
  Tensor y = sum_windows(frames, {B, samples}, 1, f.hop);
  Tensor sums = sum_windows((weights * weights).expand({1, count, n_fft}), {1, samples}, 1, f.hop);
  const int64_t start = center ? n_fft / 2 : 0;
  const int64_t last = samples - start;
  const int64_t past = length ? (*length < last ? start + *length : samples) : last;
  const int64_t kept = std::max<int64_t>(0, past - start);
  sums = sums.narrow(1, std::min(start, samples), kept);
  expect_weights(sums);
  y = y.narrow(1, std::min(start, samples), kept) / sums;
  if (length) y = extended(y, 1, *length);
  return self.dim() == 2 ? y.squeeze(0) : y;
}

}  // namespace ambit
