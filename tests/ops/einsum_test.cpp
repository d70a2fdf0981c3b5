// einsum of random equations, compared with plain loops over all indices. Operands are small
// integers, so that sums are exact in any order; products_test.cpp has PyTorch's values and
// gradients.
#include <ambit/ambit.h>

#include <array>
#include <random>
#include <string>

#include "tests/devices.h"

using namespace ambit;

namespace {

constexpr std::string_view kLetters = "aBcDe";
constexpr std::array<int64_t, 5> kSizes{2, 3, 1, 4, 2};

struct Drawn {
  std::string equation;
  std::vector<std::string> terms;  // a letter for each dim; upper-case X, Y are the dims of "..."
  std::string result;
  std::vector<Tensor> tensors;
};

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}

  Drawn operator()() {
    Drawn d;
    const int n = below(3) + 1;
    std::string known;
    for (int i = 0; i < n; ++i) {
      std::string term, written;
      for (int k = below(4); k > 0; --k) term.push_back(kLetters[static_cast<size_t>(below(5))]);
      written = term;
      // "..." stands for the last of the dims X, Y, of sizes 2 and 3.
      if (below(3) == 0) {
        const auto at = static_cast<size_t>(below(static_cast<int>(term.size()) + 1));
        const size_t dots = static_cast<size_t>(below(3));
        term.insert(at, std::string("XY").substr(2 - dots));
        written.insert(at, "...");
      }
      for (const char c : term) {
        if (known.find(c) == std::string::npos) known.push_back(c);
      }
      d.equation += (i > 0 ? "," : "") + written;
      d.terms.push_back(term);
      d.tensors.push_back(operand(term));
    }
    std::shuffle(known.begin(), known.end(), random_);
    for (const char c : known) {
      if (c != 'X' && c != 'Y' && below(2) == 0) d.result.push_back(c);
    }
    const auto dots = static_cast<size_t>(below(static_cast<int>(d.result.size()) + 1));
    d.equation += " -> " + d.result.substr(0, dots) + "..." + d.result.substr(dots);
    std::string all;
    for (const char c : {'X', 'Y'}) {
      if (known.find(c) != std::string::npos) all.push_back(c);
    }
    d.result.insert(dots, all);
    return d;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  // Operands have random strides, and some dims have size 1, except for letters that occur twice.
  Tensor operand(const std::string& term) {
    Dims sizes;
    for (const char c : term) {
      const size_t at = kLetters.find(c);
      const int64_t size = c == 'X' ? 2 : c == 'Y' ? 3 : kSizes[at];
      const bool is_alone = term.find(c) == term.rfind(c);
      sizes.push_back(is_alone && below(6) == 0 ? 1 : size);
    }
    Tensor t = zeros(sizes, kFloat64);
    for (const Tensor& x : t.reshape({-1}).unbind()) x.fill_(below(7) - 3);
    if (t.dim() > 1 && below(2) == 0) {
      t = t.transpose(0, -1).contiguous().transpose(0, -1);
    }
    return t;
  }

  std::mt19937 random_;
};

// Compute the sum over all values of all labels, one by one.
Tensor by_loops(const Drawn& d) {
  std::string labels = d.result;
  for (const std::string& term : d.terms) {
    for (const char c : term) {
      if (labels.find(c) == std::string::npos) labels.push_back(c);
    }
  }
  std::vector<int64_t> sizes(labels.size(), 1), index(labels.size(), 0);
  for (size_t i = 0; i < d.terms.size(); ++i) {
    for (size_t k = 0; k < d.terms[i].size(); ++k) {
      int64_t& size = sizes[labels.find(d.terms[i][k])];
      size = std::max(size, d.tensors[i].sizes()[k]);
    }
  }
  const Tensor out =
      zeros(std::vector<int64_t>(sizes.begin(), sizes.begin() + static_cast<long>(d.result.size())),
            kFloat64);
  const auto offset = [&](const Tensor& t, const std::string& term) {
    int64_t at = 0;
    for (size_t k = 0; k < term.size(); ++k) {
      if (t.sizes()[k] > 1) at += t.strides()[k] * index[labels.find(term[k])];
    }
    return at;
  };
  for (;;) {
    double product = 1;
    for (size_t i = 0; i < d.terms.size(); ++i) {
      product *= d.tensors[i].data_ptr<double>()[offset(d.tensors[i], d.terms[i])];
    }
    out.data_ptr<double>()[offset(out, d.result)] += product;
    size_t k = labels.size();
    while (k > 0 && ++index[k - 1] == sizes[k - 1]) index[--k] = 0;
    if (k == 0) return out;
  }
}

}  // namespace

TEST_CASE("einsum of random equations equals plain loops") {
  Draw draw(17);
  for (int i = 0; i < 400; ++i) {
    const Drawn d = draw();
    INFO(d.equation, ", equation ", i);
    const Tensor expected = by_loops(d);
    for_each_device([&](Device device) {
      std::vector<Tensor> in;
      for (const Tensor& t : d.tensors) in.push_back(t.to(device));
      const Tensor got = einsum(d.equation, in);
      REQUIRE(got.sizes() == expected.sizes());
      CHECK(got.cpu().equal(expected));
    });
  }
}
