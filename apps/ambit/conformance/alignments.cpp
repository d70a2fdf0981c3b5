// CTC loss, and its gradient.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

struct Batch {
  const char* name;
  int64_t T, C, S;
  std::vector<int64_t> lengths, target_lengths;
  int64_t blank = 0;
  int64_t N() const { return static_cast<int64_t>(lengths.size()); }
};
const std::vector<Batch> kBatches = {
    {"one", 1, 2, 1, {1}, {1}},
    {"odd", 9, 5, 4, {9, 3, 7}, {4, 1, 3}, 2},
    {"impossible", 4, 3, 5, {4, 2, 0, 0}, {5, 2, 0, 2}},
    {"no_labels", 5, 3, 0, {5, 2}, {0, 0}, 1},
    {"no_time", 0, 3, 2, {0, 0}, {2, 0}},
    {"none", 5, 3, 2, {}, {}},
    {"long", 60, 30, 20, {60, 45, 50, 60, 41}, {20, 13, 20, 1, 20}},
    {"many_states", 330, 7, 150, {330, 301}, {150, 149}, 6},
};

Values listed(const std::vector<int64_t>& numbers) {
  return each([&numbers]<class T>(Random&, int64_t i) {
    return static_cast<T>(numbers[static_cast<size_t>(i)]);
  });
}

/// Log-probabilities from -6 to 0; some are -inf.
Values log_probabilities() {
  return each([]<class T>(Random& random, int64_t) {
    if constexpr (std::is_floating_point_v<T>) {
      if (random() % 16 == 0) return -std::numeric_limits<T>::infinity();
    }
    return static_cast<T>(uniform(random, -6, 0));
  });
}

struct Operands {
  Operands(Trial& t, const Batch& c, DType dtype, Layout layout, bool all_possible)
      : x(t.input("x", dtype, {c.T, c.N(), c.C}, layout,
                  all_possible ? between(-6, 0) : log_probabilities())),
        target(
            t.input("target", kInt64, {c.N(), c.S}, layout, between(0, static_cast<double>(c.C)))),
        lengths(t.input("lengths", kInt64, {c.N()}, layout, listed(c.lengths))),
        target_lengths(
            t.input("target_lengths", kInt64, {c.N()}, layout, listed(c.target_lengths))) {}
  Operand &x, &target, &lengths, &target_lengths;
};

/// Each of T steps adds logarithms of sums, accurate to 8 ulp of numbers up to 7 T.
Bound path_bound(const Batch& c, DType dtype) {
  const auto T = static_cast<double>(c.T);
  return {8, T * 8 * 7 * T * epsilon(dtype), "8 ulp of 7 T in each of T steps"};
}

void check_forward(Trial& t, const Batch& c, DType dtype, Layout layout) {
  for (const bool all_possible : {true, false}) {
    t.begin(fmt::format("blank {}", c.blank));
    Operand& y = t.output("y", dtype, {c.N()}, layout);
    Operand& alpha = t.output("alpha", dtype, {c.N(), c.T, 2 * c.S + 1}, layout);
    const Operands in(t, c, dtype, layout, all_possible);
    t.run([&](Side s) {
      kernels::ctc_loss(y[s], alpha[s], in.x[s], in.target[s], in.lengths[s], in.target_lengths[s],
                        c.blank);
    });
    t.expect(alpha, path_bound(c, dtype));
    t.expect(y, path_bound(c, dtype));
  }
}

// alpha is not a sum over paths here, so that every state contributes. Terms are at most e^(0 + 0 +
// 1 + 6): beta and alpha are at most 0, the loss is 1, and a state's own log-probability is at
// least -6.
void check_backward(Trial& t, const Batch& c, DType dtype, Layout layout) {
  t.begin(fmt::format("blank {}", c.blank));
  Operand& dx = t.output("dx", dtype, {c.T, c.N(), c.C}, layout);
  Operand& g = t.input("g", dtype, {c.N()}, layout);
  const Operands in(t, c, dtype, layout, true);
  Operand& y = t.input("y", dtype, {c.N()}, layout, between(0, 1));
  Operand& alpha = t.input("alpha", dtype, {c.N(), c.T, 2 * c.S + 1}, layout, between(-6, 0));
  t.run([&](Side s) {
    kernels::ctc_loss_grad(dx[s], g[s], in.x[s], in.target[s], in.lengths[s], in.target_lengths[s],
                           y[s], alpha[s], c.blank);
  });
  const auto T = static_cast<double>(c.T), states = static_cast<double>(2 * c.S + 1);
  t.expect(dx, {8, 3 * states * 1100 * (T * 8 * 7 * T + states) * epsilon(dtype),
                "g up to 3 times all states' shares up to e^7, with a path's error"});
}

void check_bad_label(Trial& t, int64_t bad) {
  t.begin(fmt::format("label {} of 3 classes", bad));
  const std::vector<int64_t> labels{1, bad}, times{4}, counts{2};
  Operand& y = t.updated("y", kFloat32, {1});
  Operand& alpha = t.updated("alpha", kFloat32, {1, 4, 5});
  Operand& x = t.input("x", kFloat32, {4, 1, 3}, Layout::contiguous, between(-6, 0));
  Operand& target = t.input("target", kInt64, {1, 2}, Layout::contiguous, listed(labels));
  Operand& lengths = t.input("lengths", kInt64, {1}, Layout::contiguous, listed(times));
  Operand& counted = t.input("target_lengths", kInt64, {1}, Layout::contiguous, listed(counts));
  t.expect_refusal<IndexError>("IndexError", [&](Side s) {
    kernels::ctc_loss(y[s], alpha[s], x[s], target[s], lengths[s], counted[s], 0);
  });
}

}  // namespace

void add_alignment_cases(Cases& cases) {
  const auto add = [&](const char* op, const Batch& c, auto check) {
    for (DType dtype : dtypes::kAnyFloating) {
      cases.push_back(
          kernel_case(fmt::format("{}/{}/{}", op, name(dtype), c.name), [=, &c](Trial& t) {
            for (Layout layout : {Layout::contiguous, Layout::offset}) check(t, c, dtype, layout);
          }));
    }
  };
  for (const Batch& c : kBatches) add("ctc_loss", c, check_forward);
  for (const Batch& c : kBatches) add("ctc_loss_grad", c, check_backward);
  for (const int64_t bad : {int64_t{-1}, int64_t{3}}) {
    cases.push_back(kernel_case(fmt::format("ctc_loss/bad_label/{}", bad),
                                [=](Trial& t) { check_bad_label(t, bad); }));
  }
}

}  // namespace conformance
