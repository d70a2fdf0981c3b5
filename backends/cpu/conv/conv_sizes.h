// The sizes of one convolution.
#pragma once

#include <ambit/params.h>

#include <algorithm>

namespace ambit::cpu {

/// x [N,C,H,W], w [K,C/groups,R,S], y [N,K,P,Q].
struct ConvSizes {
  ConvSizes(IntArrayRef x, IntArrayRef w, IntArrayRef y, const Conv2dParams& params)
      : N(x[0]),
        C(x[1]),
        H(x[2]),
        W(x[3]),
        K(w[0]),
        R(w[2]),
        S(w[3]),
        P(y[2]),
        Q(y[3]),
        groups(params.groups),
        Cg(C / groups),
        Kg(K / groups),
        p(params) {
    // A stride beyond the padded input, and a dilation of a single tap, say no more than these.
    p.stride[0] = std::min(p.stride[0], H + 2 * p.padding[0]);
    p.stride[1] = std::min(p.stride[1], W + 2 * p.padding[1]);
    if (R == 1) p.dilation[0] = 1;
    if (S == 1) p.dilation[1] = 1;
  }

  int64_t taps() const { return Cg * R * S; }
  /// Multiply-adds of one pass.
  int64_t work() const { return N * K * P * Q * taps(); }

  int64_t N, C, H, W, K, R, S, P, Q;
  int64_t groups, Cg, Kg;  // Cg, Kg: channels of one group
  Conv2dParams p;
};

}  // namespace ambit::cpu
