// Eigenvalues and eigenvectors of general matrices, in complex128: reduction to Hessenberg form by
// Householder reflections, QR steps with Wilkinson's shift, back substitution.
// Source: Golub & Van Loan, Matrix Computations, 7.4 to 7.6; EISPACK's comqr2.
#include <ambit/backend/reference.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "runs.h"

namespace ambit::reference {
namespace {

using Complex = std::complex<double>;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr int kStepsPerValue = 60;  // about 3 suffice in practice

struct ComplexMatrix {
  explicit ComplexMatrix(int64_t size) : n(size), data(static_cast<size_t>(size * size)) {}
  Complex& operator()(int64_t i, int64_t j) { return data[static_cast<size_t>(i * n + j)]; }
  const Complex& operator()(int64_t i, int64_t j) const {
    return data[static_cast<size_t>(i * n + j)];
  }
  int64_t n;
  std::vector<Complex> data;
};

// Return matrix b of x [B,N,N,P].
ComplexMatrix load_pairs(const Tensor& x, int64_t b) {
  ComplexMatrix m(x.size(1));
  const int64_t parts = x.size(3), numel = m.n * m.n * parts;
  visit<dtypes::kFloating>(x.dtype(), [&]<class T>() {
    const T* from = x.data_ptr<T>() + b * numel;
    for (Complex& z : m.data) {
      z = {static_cast<double>(from[0]), parts == 2 ? static_cast<double>(from[1]) : 0.0};
      from += parts;
    }
  });
  return m;
}

// Store numbers as row b of t [B,...,2]; no-op if t is undefined.
void store_pairs(Tensor& t, int64_t b, const std::vector<Complex>& numbers) {
  if (!t.defined()) return;
  visit<dtypes::kFloating>(t.dtype(), [&]<class T>() {
    T* to = t.data_ptr<T>() + 2 * b * static_cast<int64_t>(numbers.size());
    for (const Complex& z : numbers) {
      *to++ = static_cast<T>(z.real());
      *to++ = static_cast<T>(z.imag());
    }
  });
}

// The exponent of the largest part, so that a power of 2 scales the matrix without rounding; 0 for
// zeros.
int exponent(const ComplexMatrix& m) {
  double largest = 0;
  for (const Complex& z : m.data) {
    largest = std::max({largest, std::abs(z.real()), std::abs(z.imag())});
  }
  return largest == 0 ? 0 : std::ilogb(largest);
}

Complex scaled(const Complex& z, int power) {
  return {std::ldexp(z.real(), power), std::ldexp(z.imag(), power)};
}

// a * b without the special values of C99, which cost a call for each product.
Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

double magnitude(const Complex& z) { return std::abs(z.real()) + std::abs(z.imag()); }

// a := Q^H a Q, upper Hessenberg; q := q Q.
void reduce_to_hessenberg(ComplexMatrix& a, ComplexMatrix& q) {
  const int64_t n = a.n;
  std::vector<Complex> v(static_cast<size_t>(n));
  const auto at = [&v](int64_t i) -> Complex& { return v[static_cast<size_t>(i)]; };
  for (int64_t k = 0; k + 2 < n; ++k) {
    double squares = 0;
    for (int64_t i = k + 1; i < n; ++i) squares += std::norm(at(i) = a(i, k));
    const double length = std::sqrt(squares), first = std::abs(at(k + 1));
    if (squares - first * first <= 0) continue;
    const Complex phase = first == 0 ? Complex(1) : at(k + 1) / first;
    at(k + 1) += phase * length;
    const double factor = 1 / (length * (length + first));  // 2 / |v|^2
    for (int64_t j = 0; j < n; ++j) {                       // from the left
      Complex sum = 0;
      for (int64_t i = k + 1; i < n; ++i) sum += product(std::conj(at(i)), a(i, j));
      for (int64_t i = k + 1; i < n; ++i) a(i, j) -= product(factor * sum, at(i));
    }
    for (ComplexMatrix* m : {&a, &q}) {  // from the right
      for (int64_t i = 0; i < n; ++i) {
        Complex sum = 0;
        for (int64_t j = k + 1; j < n; ++j) sum += product((*m)(i, j), at(j));
        for (int64_t j = k + 1; j < n; ++j) (*m)(i, j) -= product(factor * sum, std::conj(at(j)));
      }
    }
    for (int64_t i = k + 2; i < n; ++i) a(i, k) = 0;
  }
}

// Return the eigenvalue of [[a, b], [c, d]] that is nearer to d.
Complex wilkinson_shift(const Complex& a, const Complex& b, const Complex& c, const Complex& d) {
  const Complex half = 0.5 * (a - d), bc = b * c;
  const Complex root = std::sqrt(half * half + bc);
  const Complex far = std::abs(half + root) >= std::abs(half - root) ? half + root : half - root;
  return far == Complex(0) ? d : d - bc / far;
}

struct Rotation {
  Complex cosine = 1, sine = 0;
};

// One step h := R Q + shift, with Q R = h - shift in rows and columns first to last; q := q Q.
void qr_step(ComplexMatrix& h, ComplexMatrix& q, int64_t first, int64_t last, Complex shift) {
  const int64_t n = h.n;
  std::vector<Rotation> rotations;
  for (int64_t k = first; k <= last; ++k) h(k, k) -= shift;
  for (int64_t k = first; k < last; ++k) {
    const double length = std::hypot(std::abs(h(k, k)), std::abs(h(k + 1, k)));
    const Rotation r = length == 0 ? Rotation{} : Rotation{h(k, k) / length, h(k + 1, k) / length};
    for (int64_t j = k; j < n; ++j) {
      const Complex x = h(k, j), y = h(k + 1, j);
      h(k, j) = product(std::conj(r.cosine), x) + product(std::conj(r.sine), y);
      h(k + 1, j) = product(r.cosine, y) - product(r.sine, x);
    }
    h(k + 1, k) = 0;
    rotations.push_back(r);
  }
  const auto rotate_columns = [](ComplexMatrix& m, int64_t rows, int64_t k, const Rotation& r) {
    for (int64_t i = 0; i < rows; ++i) {
      const Complex x = m(i, k), y = m(i, k + 1);
      m(i, k) = product(r.cosine, x) + product(r.sine, y);
      m(i, k + 1) = product(std::conj(r.cosine), y) - product(std::conj(r.sine), x);
    }
  };
  for (int64_t k = first; k < last; ++k) {
    const Rotation& r = rotations[static_cast<size_t>(k - first)];
    rotate_columns(h, k + 2, k, r);
    rotate_columns(q, n, k, r);
  }
  for (int64_t k = first; k <= last; ++k) h(k, k) += shift;
}

// Return the first row of the last block of h, rows up to `last`, whose subdiagonal is not 0;
// negligible elements of it become 0.
int64_t block_start(ComplexMatrix& h, int64_t last, double norm) {
  for (int64_t k = last; k > 0; --k) {
    double neighbours = magnitude(h(k - 1, k - 1)) + magnitude(h(k, k));
    if (neighbours == 0) neighbours = norm;
    if (magnitude(h(k, k - 1)) <= kEpsilon * neighbours) {
      h(k, k - 1) = 0;
      return k;
    }
  }
  return 0;
}

double norm_of(const ComplexMatrix& m) {
  double sum = 0;
  for (const Complex& z : m.data) sum += std::norm(z);
  return std::sqrt(sum);
}

// h := Q^H h Q, upper triangular; q := q Q. Return true if it converged.
bool triangularize(ComplexMatrix& h, ComplexMatrix& q) {
  const double norm = norm_of(h);
  int steps = 0;
  for (int64_t last = h.n - 1; last > 0;) {
    const int64_t first = block_start(h, last, norm);
    if (first == last) {
      --last;
      steps = 0;
      continue;
    }
    if (++steps > kStepsPerValue) return false;
    Complex shift =
        wilkinson_shift(h(last - 1, last - 1), h(last - 1, last), h(last, last - 1), h(last, last));
    if (steps % 10 == 0) {  // an exceptional shift ends a cycle
      shift = h(last, last) + std::abs(h(last, last - 1).real());
      if (last - first > 1) shift += std::abs(h(last - 1, last - 2).real());
    }
    qr_step(h, q, first, last, shift);
  }
  return true;
}

// Divide v by its norm and by the phase of its largest element, as LAPACK does.
void normalize(std::vector<Complex>& v) {
  double squares = 0;
  Complex largest = 0;
  for (const Complex& z : v) {
    squares += std::norm(z);
    if (std::norm(z) > std::norm(largest)) largest = z;
  }
  const double norm = std::sqrt(squares);
  const Complex factor = std::conj(largest) / (std::abs(largest) * norm);
  for (Complex& z : v) z *= factor;
}

// Return the eigenvectors of q t q^H in columns, t upper triangular. Equal eigenvalues, whose
// difference counts as one rounding of t, may give parallel vectors.
ComplexMatrix vectors_of(const ComplexMatrix& t, const ComplexMatrix& q) {
  constexpr double kLarge = 1e100;  // whose square does not overflow
  const int64_t n = t.n;
  const double least = std::max(kEpsilon * norm_of(t), std::numeric_limits<double>::min());
  ComplexMatrix out(n);
  for (int64_t k = 0; k < n; ++k) {
    std::vector<Complex> x(static_cast<size_t>(k + 1)), v(static_cast<size_t>(n));
    x[static_cast<size_t>(k)] = 1;
    for (int64_t i = k - 1; i >= 0; --i) {
      Complex sum = 0, difference = t(k, k) - t(i, i);
      for (int64_t j = i + 1; j <= k; ++j) sum += product(t(i, j), x[static_cast<size_t>(j)]);
      if (magnitude(difference) < least) difference = least;
      x[static_cast<size_t>(i)] = sum / difference;
      const double size = magnitude(x[static_cast<size_t>(i)]);
      if (size > kLarge) {
        for (Complex& z : x) z /= size;
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j <= k; ++j) {
        v[static_cast<size_t>(i)] += product(q(i, j), x[static_cast<size_t>(j)]);
      }
    }
    normalize(v);
    for (int64_t i = 0; i < n; ++i) out(i, k) = v[static_cast<size_t>(i)];
  }
  return out;
}

bool all_finite(const ComplexMatrix& m) {
  return std::all_of(m.data.begin(), m.data.end(), [](const Complex& z) {
    return std::isfinite(z.real()) && std::isfinite(z.imag());
  });
}

}  // namespace

// values [B,N,2]; vectors [B,N,N,2]; info [B]; x [B,N,N,P]
void eig(Tensor& values, Tensor& vectors, Tensor& info, const Tensor& x) {
  count_run();
  for (int64_t b = 0; b < x.size(0); ++b) {
    ComplexMatrix a = load_pairs(x, b), q(a.n);
    int32_t& failed = info.data_ptr<int32_t>()[b];
    failed = all_finite(a) ? 0 : 1;
    if (failed != 0) continue;
    const int power = exponent(a);
    for (Complex& z : a.data) z = scaled(z, -power);
    for (int64_t i = 0; i < a.n; ++i) q(i, i) = 1;
    reduce_to_hessenberg(a, q);
    failed = triangularize(a, q) ? 0 : 1;
    if (failed != 0) continue;
    std::vector<Complex> diagonal;
    for (int64_t i = 0; i < a.n; ++i) diagonal.push_back(scaled(a(i, i), power));
    store_pairs(values, b, diagonal);
    if (vectors.defined()) store_pairs(vectors, b, vectors_of(a, q).data);
  }
}

}  // namespace ambit::reference
