// The sizes of one convolution.
#pragma once

#include <ambit/params.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace ambit::cpu {

/// x [N,C,D,H,W], w [K,C/groups,T,R,S], y [N,K,O,P,Q]; missing leading spatial dims are 1.
struct ConvSizes {
  ConvSizes(IntArrayRef x, IntArrayRef w, IntArrayRef y, const ConvParams& params)
      : dims(x.size() - 2),
        N(x[0]),
        C(x[1]),
        K(w[0]),
        D(from_end(x, 3)),
        H(from_end(x, 2)),
        W(from_end(x, 1)),
        T(from_end(w, 3)),
        R(from_end(w, 2)),
        S(from_end(w, 1)),
        O(from_end(y, 3)),
        P(from_end(y, 2)),
        Q(from_end(y, 1)),
        groups(params.groups),
        Cg(C / groups),
        Kg(K / groups) {
    const int64_t inputs[] = {D, H, W}, windows[] = {T, R, S};
    for (size_t i = 3 - dims; i < 3; ++i) {
      const size_t given = i + dims - 3;
      padding[i] = params.padding[given];
      // Normalise a stride beyond the padded input and the dilation of a single tap.
      stride[i] = std::min(params.stride[given], inputs[i] + 2 * padding[i]);
      dilation[i] = windows[i] == 1 ? 1 : params.dilation[given];
    }
  }

  int64_t taps() const { return Cg * T * R * S; }
  /// Elements of one channel.
  int64_t x_plane() const { return D * H * W; }
  int64_t y_plane() const { return O * P * Q; }
  /// Return the outermost spatial dim among D, H, W; images with one row have only columns.
  size_t outermost() const {
    if (dims == 3) return 0;
    return H == 1 && R == 1 && P == 1 ? 2 : 1;
  }
  /// Multiply-adds of one pass.
  int64_t work() const { return N * K * y_plane() * taps(); }

  /// Return the sizes of the convolution of dy that gives the gradient of x, with weights
  /// [C,K/groups,T,R,S] with reversed taps; none if a padding would be negative or if a stride is
  /// not 1.
  std::optional<ConvSizes> as_forward_conv() const {
    if (stride != std::array<int64_t, 3>{1, 1, 1}) return std::nullopt;
    ConvSizes forward = *this;
    std::swap(forward.C, forward.K);
    std::swap(forward.Cg, forward.Kg);
    std::swap(forward.D, forward.O);
    std::swap(forward.H, forward.P);
    std::swap(forward.W, forward.Q);
    const int64_t windows[] = {T, R, S};
    for (size_t i = 0; i < 3; ++i) {
      forward.padding[i] = dilation[i] * (windows[i] - 1) - padding[i];
      if (forward.padding[i] < 0) return std::nullopt;
    }
    return forward;
  }

  size_t dims;  // spatial, of the tensors
  int64_t N, C, K, D, H, W, T, R, S, O, P, Q;
  int64_t groups, Cg, Kg;  // channels of one group
  std::array<int64_t, 3> stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};  // for D, H, W

 private:
  static int64_t from_end(IntArrayRef sizes, size_t i) {
    return i + 2 <= sizes.size() ? sizes[sizes.size() - i] : 1;
  }
};

}  // namespace ambit::cpu
