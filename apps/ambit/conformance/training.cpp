// The last kernels of a training step: the loss and the optimizer's update.
#include <ambit/backend/kernels.h>
#include <ambit/error.h>
#include <fmt/format.h>

#include <cmath>

#include "cases.h"
#include "trial.h"

namespace conformance {
namespace {

using namespace ambit;

constexpr int64_t kClasses = 7;
// Rows that GPU kernels process by warps and by blocks.
constexpr int64_t kManyClasses[] = {40, 2500};

void check_loss(Trial& t, DType dtype, int64_t n, int64_t ignore_index, Layout layout) {
  for (bool weighted : {false, true}) {
    t.begin(fmt::format("ignore_index {}", ignore_index));
    Operand& y = t.output("y", dtype, {n}, layout);
    Operand& weight_sum = t.output("weight_sum", dtype, {}, layout);
    Operand& x = t.input("x", dtype, {n, kClasses}, layout);
    Operand& target = t.input("target", kInt64, {n}, layout, between(0, kClasses));
    Operand& w = weighted ? t.input("w", dtype, {kClasses}, layout, between(0.1, 3)) : t.absent();
    t.run([&](Side s) {
      kernels::nll_loss(y[s], weight_sum[s], x[s], target[s], w[s], ignore_index);
    });
    t.expect(y, {1, 0, "one product of two rounded numbers"});
    t.expect(weight_sum, {1, 3.0 * static_cast<double>(n * n) * epsilon(dtype) / 2,
                          "n additions of numbers up to 3, each rounding a partial sum up to 3 n"});
  }
}

// Logits are in [-3, 3]: terms exp(x - max) with x - max in [-6, 0] are accurate to 4 + 3 ulp; the
// sum over all classes adds one ulp per class.
void check_cross_entropy(Trial& t, DType dtype, int64_t n, int64_t classes, int64_t ignore_index,
                         Layout layout) {
  const double sum_ulp = 4.0 + 3 + static_cast<double>(classes);
  const double log_sum = std::ceil(std::log(classes));
  for (bool weighted : {false, true}) {
    t.begin(fmt::format("ignore_index {}", ignore_index));
    Operand& y = t.output("y", dtype, {n}, layout);
    Operand& weight_sum = t.output("weight_sum", dtype, {}, layout);
    Operand& x = t.input("x", dtype, {n, classes}, layout);
    Operand& target = t.input("target", kInt64, {n}, layout, between(0, classes));
    Operand& w = weighted ? t.input("w", dtype, {classes}, layout, between(0.1, 3)) : t.absent();
    t.run([&](Side s) {
      kernels::cross_entropy(y[s], weight_sum[s], x[s], target[s], w[s], ignore_index);
    });
    t.expect(y,
             {1, 3 * (sum_ulp + 4 * log_sum + 1.5 * (6 + log_sum)) * epsilon(dtype),
              "w, at most 3, times the errors of the sum, of its logarithm (4 ulp), and of three "
              "roundings of numbers up to 6 plus that logarithm"});
    t.expect(weight_sum, {1, 3.0 * static_cast<double>(n * n) * epsilon(dtype) / 2,
                          "n additions of numbers up to 3, each rounding a partial sum up to 3 n"});
  }
}

void check_cross_entropy_grad(Trial& t, DType dtype, int64_t n, int64_t classes,
                              int64_t ignore_index, Layout layout, Layout g_layout) {
  const double sum_ulp = 4.0 + 3 + static_cast<double>(classes);
  for (bool weighted : {false, true}) {
    t.begin(fmt::format("ignore_index {}", ignore_index));
    Operand& dx = t.output("dx", dtype, {n, classes}, layout);
    Operand& g = t.input("g", dtype, {n}, g_layout);
    Operand& x = t.input("x", dtype, {n, classes}, layout);
    Operand& target = t.input("target", kInt64, {n}, layout, between(0, classes));
    Operand& w = weighted ? t.input("w", dtype, {classes}, layout, between(0.1, 3)) : t.absent();
    t.run([&](Side s) {
      kernels::cross_entropy_grad(dx[s], g[s], x[s], target[s], w[s], ignore_index);
    });
    t.expect(dx, {1, 9 * (7 + sum_ulp + 4) * epsilon(dtype),
                  "g w, at most 9, times the errors of an exponential (4 + 3 ulp), of the sum, and "
                  "of four more roundings"});
  }
}

void check_bad_target(Trial& t, const decltype(kernels::nll_loss)& kernel, int64_t bad) {
  t.begin(fmt::format("target {} of {} classes", bad, kClasses));
  Operand& y = t.updated("y", kFloat32, {4});
  Operand& weight_sum = t.updated("weight_sum", kFloat32, {});
  Operand& x = t.input("x", kFloat32, {4, kClasses});
  Operand& target =
      t.input("target", kInt64, {4}, Layout::contiguous,
              each([=]<class T>(Random&, int64_t i) { return static_cast<T>(i < 3 ? 0 : bad); }));
  Operand& w = t.absent();
  t.expect_refusal<IndexError>(
      "IndexError", [&](Side s) { kernel(y[s], weight_sum[s], x[s], target[s], w[s], -100); });
}

// A list of operands; indexed by side, it returns their tensors.
class Operands {
 public:
  void push_back(Operand& o) { all_.push_back(&o); }
  std::vector<Tensor> operator[](Side side) const {
    std::vector<Tensor> tensors;
    for (Operand* o : all_) tensors.push_back((*o)[side]);
    return tensors;
  }
  void expect(Trial& t, const Bound& bound) const {
    for (Operand* o : all_) t.expect(*o, bound);
  }

 private:
  std::vector<Operand*> all_;
};

// The parameter tensors of a call.
struct List {
  const char* name;
  std::vector<Dims> sizes;
  Layout layout;
};
std::vector<List> lists() {
  const std::vector<Dims> mixed{{31, 7}, {}, {0}, {1}, {5, 3, 2}, {1025}, {16}};
  // More tensors than fit into a table in a kernel's arguments.
  std::vector<Dims> many;
  for (int64_t i = 0; i < 300; ++i) many.push_back({i % 7 + 1});
  return {{"one", {{33}}, Layout::contiguous},
          {"contiguous", mixed, Layout::contiguous},
          {"offset", mixed, Layout::offset},
          {"empty", {{0}, {2, 0}}, Layout::contiguous},
          {"many", many, Layout::contiguous},
          {"large", {{3}, {270001}, {64, 1024}, {5}}, Layout::contiguous}};
}

struct SgdCase {
  const char* name;
  SgdParams p;
};
const std::vector<SgdCase> kSgdCases = {
    {"plain", {.lr = 0.1}},
    {"weight_decay", {.lr = 0.1, .weight_decay = 0.2}},
    {"first_step", {.lr = 0.1, .momentum = 0.9, .first_step = true}},
    {"momentum", {.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.2}},
    {"nesterov", {.lr = 0.1, .momentum = 0.9, .nesterov = true}},
};

void check_sgd(Trial& t, const SgdParams& params, DType dtype, const List& list) {
  const Bound bound{1, 6 * 27 * epsilon(dtype) / 2, "six operations on numbers up to 3 * 3 * 3"};
  const bool has_buffer = params.momentum != 0;
  t.begin(fmt::format(
      "lr {}, momentum {}, dampening {}, weight_decay {}, nesterov {}, first_step {}", params.lr,
      params.momentum, params.dampening, params.weight_decay, params.nesterov, params.first_step));
  Operands p, buffer, g;
  for (const Dims& sizes : list.sizes) {
    p.push_back(t.updated("p", dtype, sizes, list.layout));
    g.push_back(t.input("g", dtype, sizes, list.layout));
    if (!has_buffer) continue;
    // In the first step the buffer is only an output, initially NaN.
    buffer.push_back(params.first_step ? t.output("buf", dtype, sizes, list.layout)
                                       : t.updated("buf", dtype, sizes, list.layout));
  }
  t.run([&](Side s) { kernels::sgd_step(p[s], buffer[s], g[s], params); });
  p.expect(t, bound);
  buffer.expect(t, bound);
}

struct AdamCase {
  const char* name;
  AdamParams p;
  bool counted = false;  // the step count is in tensors
};
const std::vector<AdamCase> kAdamCases = {
    {"plain", {.lr = 0.1, .step = 3}},
    {"weight_decay", {.lr = 0.1, .beta1 = 0.5, .beta2 = 0.8, .eps = 0.1, .weight_decay = 0.2}},
    {"decoupled", {.lr = 0.1, .weight_decay = 0.2, .decoupled = true, .step = 1000}},
    {"counted", {.lr = 0.1, .beta1 = 0.5, .beta2 = 0.8, .weight_decay = 0.2}, true},
};

void check_adam(Trial& t, const AdamCase& c, DType dtype, const List& list) {
  const AdamParams& params = c.p;
  const Bound bound{
      1, 12 * 13 * epsilon(dtype) / 2,
      "a dozen operations on numbers up to (3 + 0.2 * 3)^2 = 13, none of which divides "
      "by less than 0.8"};
  t.begin(fmt::format("lr {}, betas {} {}, eps {}, weight_decay {}, decoupled {}, step {}",
                      params.lr, params.beta1, params.beta2, params.eps, params.weight_decay,
                      params.decoupled, params.step));
  Operands p, m, v, steps, g;
  for (const Dims& sizes : list.sizes) {
    p.push_back(t.updated("p", dtype, sizes, list.layout));
    m.push_back(t.updated("m", dtype, sizes, list.layout));
    v.push_back(t.updated("v", dtype, sizes, list.layout, between(0.5, 9)));
    g.push_back(t.input("g", dtype, sizes, list.layout));
  }
  const Values counts = each([]<class T>(Random& random, int64_t) {
    return static_cast<T>(static_cast<double>(random() % 1000));
  });
  for (size_t i = 0; c.counted && i < list.sizes.size(); ++i) {
    steps.push_back(t.input("t", kFloat32, {}, Layout::contiguous, counts));
  }
  t.run([&](Side s) { kernels::adam_step(p[s], m[s], v[s], steps[s], g[s], params); });
  for (const Operands* o : {&p, &m, &v}) o->expect(t, bound);
}

// `bad`, unless it is 0, is the last element of the list.
void check_unscale(Trial& t, double bad, DType dtype, const List& list) {
  t.begin(fmt::format("last element {}", bad));
  const Values ends_in_bad = [bad](Random& random, DType of, void* to, int64_t n) {
    any()(random, of, to, n);
    visit<dtypes::kAnyFloating>(of, [&]<class T>() {
      if (n > 0) static_cast<T*>(to)[n - 1] = static_cast<T>(bad);
    });
  };
  Operands g;
  for (size_t i = 0; i < list.sizes.size(); ++i) {
    const bool is_last = i + 1 == list.sizes.size() && bad != 0;
    g.push_back(t.updated("g", dtype, list.sizes[i], list.layout, is_last ? ends_in_bad : any()));
  }
  const Values half = each([]<class T>(Random&, int64_t) { return static_cast<T>(0.5); });
  Operand& found = t.updated("found", kFloat32, {}, list.layout, half);
  t.run([&](Side s) { kernels::unscale(g[s], found[s], 0.3); });
  g.expect(t, {1, 3 * epsilon(dtype) / 2, "the factor, rounded, times a number up to 3"});
  t.expect(found);
}

}  // namespace

void add_training_cases(Cases& cases) {
  for (DType dtype : dtypes::kAnyFloating) {
    const auto add = [&](const char* op, const std::string& form,
                         std::function<void(Trial&)> check) {
      cases.push_back(
          kernel_case(fmt::format("{}/{}/{}", op, name(dtype), form), std::move(check)));
    };
    for (Layout layout : {Layout::contiguous, Layout::offset}) {
      add("nll_loss", name(layout), [=](Trial& t) { check_loss(t, dtype, 31, 3, layout); });
    }
    add("nll_loss", "odd", [=](Trial& t) {
      for (int64_t n : {0, 1, 3, 33, 257}) check_loss(t, dtype, n, -100, Layout::contiguous);
    });
    for (Layout layout : {Layout::contiguous, Layout::offset}) {
      add("cross_entropy", name(layout),
          [=](Trial& t) { check_cross_entropy(t, dtype, 31, kClasses, 3, layout); });
    }
    add("cross_entropy", "odd", [=](Trial& t) {
      for (int64_t n : {0, 1, 3, 9001}) {
        check_cross_entropy(t, dtype, n, kClasses, -100, Layout::contiguous);
      }
      for (int64_t classes : kManyClasses) {
        check_cross_entropy(t, dtype, 5, classes, 0, Layout::contiguous);
      }
    });
    for (Layout layout : {Layout::contiguous, Layout::offset}) {
      add("cross_entropy_grad", name(layout), [=](Trial& t) {
        for (Layout g : kLayouts) check_cross_entropy_grad(t, dtype, 31, kClasses, 3, layout, g);
      });
    }
    add("cross_entropy_grad", "odd", [=](Trial& t) {
      for (int64_t n : {0, 1, 3, 9001}) {
        check_cross_entropy_grad(t, dtype, n, kClasses, -100, Layout::contiguous,
                                 Layout::contiguous);
      }
      for (int64_t classes : kManyClasses) {
        check_cross_entropy_grad(t, dtype, 5, classes, 0, Layout::contiguous, Layout::contiguous);
      }
    });
    for (const List& list : lists()) {
      for (const SgdCase& c : kSgdCases) {
        add("sgd_step", fmt::format("{}/{}", c.name, list.name),
            [=, &c](Trial& t) { check_sgd(t, c.p, dtype, list); });
      }
      for (const AdamCase& c : kAdamCases) {
        add("adam_step", fmt::format("{}/{}", c.name, list.name),
            [=, &c](Trial& t) { check_adam(t, c, dtype, list); });
      }
      for (const double bad : {0.0, HUGE_VAL, -HUGE_VAL, std::nan("")}) {
        add("unscale",
            fmt::format("{}/{}", bad == 0 ? "finite" : fmt::format("{}", bad), list.name),
            [=](Trial& t) { check_unscale(t, bad, dtype, list); });
      }
    }
  }
  for (int64_t bad : {int64_t{-1}, kClasses}) {
    for (const auto* kernel : {&kernels::nll_loss, &kernels::cross_entropy}) {
      cases.push_back(kernel_case(fmt::format("{}/float32/target_{}", kernel->name(), bad),
                                  [=](Trial& t) { check_bad_target(t, *kernel, bad); }));
    }
  }
}

}  // namespace conformance
