// Ops that sort, count, or write to indexed positions.
#include <ambit/ops/creation.h>
#include <ambit/ops/index.h>
#include <ambit/ops/random.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/sort.h>
#include <fmt/format.h>

#include <cmath>

#include "op_works.h"
#include "rows.h"

namespace bench {
namespace {

using namespace ambit;

/// Random numbers differ between libraries, so results are not compared.
class Drawing final : public Forward {
 public:
  using Forward::Forward;
  double result() override { return NAN; }
};

// The values are uniform in [0, 1), so that the sums, which are compared, do not cancel.
std::function<Inputs()> one_input(const Sizes& sizes) {
  return [sizes] { return Inputs{{"input", rand(sizes)}}; };
}

// Parameters: the dim; for topk, k and the dim.
void add_lines(std::vector<Row>& rows, const char* size, const Sizes& sizes, int64_t dim) {
  rows.push_back(op_row<Forward>(
      "sort", size,
      [](const Tensors& x, const Parameters& p) { return std::get<0>(x[0].sort(p[0])); },
      one_input(sizes), {dim}));
  rows.push_back(op_row<Forward>(
      "topk", size,
      [](const Tensors& x, const Parameters& p) { return std::get<0>(x[0].topk(p[0], p[1])); },
      one_input(sizes), {10, dim}));
  rows.push_back(op_row<Forward>(
      "cumprod", size, [](const Tensors& x, const Parameters& p) { return x[0].cumprod(p[0]); },
      one_input(sizes), {dim}));
}

// input[index] += values, of rows or of single elements.
Row put_row(const char* size, const Sizes& sizes, int64_t count) {
  return op_row<Forward>(
      "index_put_accumulate", size,
      [](const Tensors& x, const Parameters&) {
        return index_put_(x[0], {x[1]}, x[2], /*accumulate=*/true);
      },
      [=] {
        Sizes values = sizes;
        values[0] = count;
        return Inputs{{"input", rand(sizes)},
                      {"index", randint(0, sizes[0], {count})},
                      {"values", rand(values)}};
      });
}

// Parameters: the number of draws, and whether to draw with replacement.
Row multinomial_row(const char* size, const Sizes& weights, int64_t count, bool replacement) {
  return op_row<Drawing>(
      "multinomial", size,
      [](const Tensors& x, const Parameters& p) { return multinomial(x[0], p[0], p[1] != 0); },
      one_input(weights), {count, replacement});
}

}  // namespace

std::vector<Row> sorting_rows() {
  std::vector<Row> rows;
  add_lines(rows, "1Mi", {1 << 20}, 0);
  add_lines(rows, "1000x1000,dim0", {1000, 1000}, 0);
  add_lines(rows, "1000x1000,dim1", {1000, 1000}, 1);
  rows.push_back(put_row("1Mi of 100000", {100000}, 1 << 20));
  rows.push_back(put_row("10000 of 1000x64", {1000, 64}, 10000));
  rows.push_back(multinomial_row("1Mi of 1000", {1000}, 1 << 20, true));
  rows.push_back(multinomial_row("64x1 of 1000", {64, 1000}, 1, false));
  rows.push_back(multinomial_row("64x100 of 1000", {64, 1000}, 100, false));
  return rows;
}

}  // namespace bench
