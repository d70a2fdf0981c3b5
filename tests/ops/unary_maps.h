// The differentiable unary maps with what tests need to know of each: PyTorch's values, and where
// its gradient is smooth. A new map gets a row here; that none lacks one is tested in
// elementwise_test.
#pragma once

#include <ambit/ops/elementwise.h>

#include <cmath>
#include <string>
#include <vector>

struct UnaryMap {
  std::string name;
  ambit::Tensor (*map)(const ambit::Tensor&);
  const ambit::Tensor& (*in_place)(const ambit::Tensor&);
  /// The gradient is smooth in [shift - 0.6, shift + 0.6], but for kinks that 0.6 sin(0.7 i) +
  /// shift does not meet.
  double shift;
  /// torch.<name>(torch.tensor([-2.5, -0.5, 0, 0.25, 1, 3.5], dtype=torch.float64))
  std::vector<double> values;
};

inline const std::vector<UnaryMap>& unary_maps() {
  constexpr double kInf = INFINITY;
#define MAP(name, shift, ...)                                  \
  {                                                            \
#name, ambit::name, ambit::name##_, shift, { __VA_ARGS__ } \
  }
  static const std::vector<UnaryMap> maps{
      MAP(neg, 0, 2.5, 0.5, 0, -0.25, -1, -3.5),
      MAP(abs, 0.03, 2.5, 0.5, 0, 0.25, 1, 3.5),
      MAP(sign, 0.03, -1, -1, 0, 1, 1, 1),
      MAP(exp, 0, 0.0820849986239, 0.6065306597126, 1, 1.284025416688, 2.718281828459,
          33.11545195869),
      MAP(exp2, 0, 0.1767766952966, 0.7071067811865, 1, 1.189207115003, 2, 11.31370849898),
      MAP(expm1, 0, -0.9179150013761, -0.3934693402874, 0, 0.2840254166877, 1.718281828459,
          32.11545195869),
      MAP(log, 1, NAN, NAN, -kInf, -1.38629436112, 0, 1.252762968495),
      MAP(log1p, 0, NAN, -0.6931471805599, 0, 0.2231435513142, 0.6931471805599, 1.504077396776),
      MAP(log2, 1, NAN, NAN, -kInf, -2, 0, 1.807354922058),
      MAP(log10, 1, NAN, NAN, -kInf, -0.602059991328, 0, 0.5440680443503),
      MAP(sqrt, 1, NAN, NAN, 0, 0.5, 1, 1.870828693387),
      MAP(rsqrt, 1, NAN, NAN, kInf, 2, 1, 0.5345224838248),
      MAP(reciprocal, 1, -0.4, -2, kInf, 4, 1, 0.2857142857143),
      MAP(square, 0, 6.25, 0.25, 0, 0.0625, 1, 12.25),
      MAP(sin, 0, -0.598472144104, -0.4794255386042, 0, 0.2474039592545, 0.8414709848079,
          -0.3507832276896),
      MAP(cos, 0, -0.8011436155469, 0.8775825618904, 1, 0.9689124217106, 0.5403023058681,
          -0.9364566872908),
      MAP(tan, 0, 0.7470222972387, -0.5463024898438, 0, 0.255341921221, 1.557407724655,
          0.3745856401586),
      MAP(asin, 0, NAN, -0.5235987755983, 0, 0.2526802551421, 1.570796326795, NAN),
      MAP(acos, 0, NAN, 2.094395102393, 1.570796326795, 1.318116071653, 0, NAN),
      MAP(atan, 0, -1.190289949683, -0.4636476090008, 0, 0.2449786631269, 0.7853981633974,
          1.29249666779),
      MAP(sinh, 0, -6.05020448104, -0.5210953054937, 0, 0.2526123168082, 1.175201193644,
          16.54262728763),
      MAP(cosh, 0, 6.132289479664, 1.127625965206, 1, 1.03141309988, 1.543080634815,
          16.57282467106),
      MAP(tanh, 0, -0.9866142981514, -0.46211715726, 0, 0.2449186624037, 0.7615941559558,
          0.9981778976112),
      MAP(sigmoid, 0, 0.07585818002124, 0.3775406687981, 0.5, 0.5621765008858, 0.73105857863,
          0.9706877692486),
      MAP(relu, 0.03, 0, 0, 0, 0.25, 1, 3.5),
      MAP(erf, 0, -0.9995930479826, -0.520499877813, 0, 0.2763263901682, 0.8427007929497,
          0.9999992569016),
      MAP(floor, 0.03, -3, -1, 0, 0, 1, 3),
      MAP(ceil, 0.03, -2, 0, 0, 1, 1, 4),
      MAP(round, 0.02, -2, 0, 0, 0, 1, 4),
      MAP(trunc, 0.03, -2, 0, 0, 0, 1, 3),
  };
#undef MAP
  return maps;
}
