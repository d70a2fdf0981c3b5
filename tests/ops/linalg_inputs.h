// Matrices for which PyTorch computed the expected results.
#pragma once

#include <ambit/ambit.h>

#include <tuple>

#include "tests/expected.h"

namespace linalg_test {

using namespace ambit;

inline TensorOptions f64(Device d) { return TensorOptions(kFloat64).device(d); }
inline Tensor mT(const Tensor& x) { return x.transpose(-2, -1); }

// A = wave(2,3,3)+2*torch.eye(3); S = A@A.mT+torch.eye(3); B = wave(2,3,2,k=.4); W =
// wave(2,2,3,k=.9); u = wave(2,2,k=.9); t = wave(3,2,k=.5); v = wave(3,k=1.1); bv =
// wave(2,3,k=1.3); Tr = wave(4,3,k=.8)+torch.eye(4,3); F = wave(4,2,k=.3); six =
// wave(6,2,3)+torch.eye(6).view(6,2,3); rank1 = torch.outer(v+1,v+2); two = torch.tensor([1.,9.]);
// LU, piv = torch.linalg.lu_factor(A); C = torch.linalg.cholesky(S)
struct Inputs {
  explicit Inputs(Device d)
      : A(wave(d, {2, 3, 3}) + 2 * eye(3, f64(d))),
        S(matmul(A, mT(A)) + eye(3, f64(d))),
        B(wave(d, {2, 3, 2}, 0.4)),
        W(wave(d, {2, 2, 3}, 0.9)),
        u(wave(d, {2, 2}, 0.9)),
        t(wave(d, {3, 2}, 0.5)),
        v(wave(d, {3}, 1.1)),
        bv(wave(d, {2, 3}, 1.3)),
        Tr(wave(d, {4, 3}, 0.8) + eye(4, 3, f64(d))),
        F(wave(d, {4, 2}, 0.3)),
        six(wave(d, {6, 2, 3}) + eye(6, f64(d)).view({6, 2, 3})),
        rank1((v + 1).unsqueeze(1) * (v + 2)),
        two(tensor({1., 9.}, f64(d))),
        C(linalg_cholesky(S)) {
    std::tie(LU, piv) = linalg_lu_factor(A);
  }
  Tensor A, S, B, W, u, t, v, bv, Tr, F, six, rank1, two, C, LU, piv;
};

}  // namespace linalg_test
