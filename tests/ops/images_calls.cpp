// Rows of the tables for functions of images: bad calls, mixed devices, agreement.
#include <ambit/ambit.h>

#include "tests/mismatch/mismatch_calls.h"
#include "tests/tables/agreement_calls.h"
#include "tests/tables/bad_calls.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

// Images, and grids of positions in them, for the tables.
Tensor row3() { return ones({1, 2, 6}); }
Tensor volume() { return ones({1, 2, 3, 4, 5}); }
Tensor grid2() { return zeros({1, 3, 3, 2}); }
Tensor int_image() { return ones({1, 2, 6, 6}, kInt64); }

std::vector<bad_input::BadCall> bad_calls() {
  using namespace bad_input;
  return {
      SHAPE(upsample_nearest1d, m23(), {4}),
      SHAPE(upsample_nearest1d, row3(), {0}),
      SHAPE(upsample_nearest1d, row3(), {int64_t{1} << 40}),
      VALUE(upsample_nearest1d, none(), {4}),
      SHAPE(upsample_nearest2d, image(), {4}),
      SHAPE(upsample_nearest2d, ones({1, 2, 0, 3}), {4, 4}),
      VALUE(upsample_nearest2d, none(), {4, 4}),
      SHAPE(upsample_nearest3d, image(), {4, 4, 4}),
      VALUE(upsample_nearest3d, none(), {4, 4, 4}),
      SHAPE(_upsample_nearest_exact1d, m23(), {4}),
      VALUE(_upsample_nearest_exact1d, none(), {4}),
      SHAPE(_upsample_nearest_exact2d, image(), {4, -1}),
      VALUE(_upsample_nearest_exact2d, none(), {4, 4}),
      SHAPE(_upsample_nearest_exact3d, image(), {4, 4, 4}),
      VALUE(_upsample_nearest_exact3d, none(), {4, 4, 4}),
      SHAPE(upsample_linear1d, image(), {4}, false),
      DTYPE(upsample_linear1d, ones({1, 2, 6}, kInt64), {4}, false),
      VALUE(upsample_linear1d, none(), {4}, false),
      SHAPE(upsample_bilinear2d, row3(), {4, 4}, false),
      SHAPE(upsample_bilinear2d, image(), {4, 4, 4}, false),
      DTYPE(upsample_bilinear2d, int_image(), {4, 4}, false),
      VALUE(upsample_bilinear2d, none(), {4, 4}, false),
      SHAPE(upsample_trilinear3d, image(), {4, 4, 4}, true),
      DTYPE(upsample_trilinear3d, ones({1, 2, 3, 4, 5}, kBool), {4, 4, 4}, false),
      VALUE(upsample_trilinear3d, none(), {4, 4, 4}, false),
      SHAPE(upsample_bicubic2d, image(), {0, 4}, false),
      DTYPE(upsample_bicubic2d, int_image(), {4, 4}, false),
      VALUE(upsample_bicubic2d, none(), {4, 4}, false),
      SHAPE(_upsample_bilinear2d_aa, volume(), {4, 4}, false),
      DTYPE(_upsample_bilinear2d_aa, int_image(), {4, 4}, false),
      VALUE(_upsample_bilinear2d_aa, none(), {4, 4}, false),
      SHAPE(_upsample_bicubic2d_aa, volume(), {4, 4}, false),
      DTYPE(_upsample_bicubic2d_aa, int_image(), {4, 4}, false),
      VALUE(_upsample_bicubic2d_aa, none(), {4, 4}, false),
      SHAPE(grid_sampler, row3(), grid2(), 0, 0, false),
      SHAPE(grid_sampler, image(), zeros({2, 3, 3, 2}), 0, 0, false),
      SHAPE(grid_sampler, image(), zeros({1, 3, 3, 3}), 0, 0, false),
      SHAPE(grid_sampler, ones({1, 2, 0, 4}), grid2(), 0, 0, false),
      SHAPE(grid_sampler, volume(), zeros({1, 1, 1, 1, 3}), 2, 0, false),
      VALUE(grid_sampler, image(), grid2(), 3, 0, false),
      VALUE(grid_sampler, image(), grid2(), 0, -1, false),
      DTYPE(grid_sampler, image(), zeros({1, 3, 3, 2}, kFloat64), 0, 0, false),
      DTYPE(grid_sampler, int_image(), grid2(), 0, 0, false),
      DEVICE(grid_sampler, image(), zeros({1, 3, 3, 2}, "reference"), 0, 0, false),
      VALUE(grid_sampler, none(), grid2(), 0, 0, false),
      SHAPE(affine_grid_generator, m23(), {1, 1, 2, 2}, false),
      SHAPE(affine_grid_generator, ones({1, 2, 3}), {2, 1, 2, 2}, false),
      SHAPE(affine_grid_generator, ones({1, 2, 3}), {1, 1, 0, 2}, false),
      SHAPE(affine_grid_generator, ones({1, 2, 3}), {1, 1, 2}, false),
      DTYPE(affine_grid_generator, ones({1, 2, 3}, kInt64), {1, 1, 2, 2}, false),
      VALUE(affine_grid_generator, none(), {1, 1, 2, 2}, false),
      SHAPE(im2col, m23(), 2, 1, 0, 1),
      SHAPE(im2col, image(), 7, 1, 0, 1),
      SHAPE(im2col, image(), 3, {1, 3}, 0, 1),
      VALUE(im2col, image(), 0, 1, 0, 1),
      VALUE(im2col, image(), 2, 1, -1, 1),
      VALUE(im2col, image(), 2, 1, 0, {1, 0}),
      VALUE(im2col, image(), 2, int64_t{1} << 60, 0, 1),
      DTYPE(im2col, int_image(), 2, 1, 0, 1),
      VALUE(im2col, none(), 2, 1, 0, 1),
      SHAPE(col2im, ones({1, 8, 5}), 3, 2, 1, 0, 1),
      SHAPE(col2im, ones({1, 7, 4}), 3, 2, 1, 0, 1),
      SHAPE(col2im, ones({1, 8, 2, 2}), 3, 2, 1, 0, 1),
      VALUE(col2im, ones({1, 8, 4}), 3, 2, 0, 0, 1),
      DTYPE(col2im, ones({1, 8, 4}, kInt64), 3, 2, 1, 0, 1),
      VALUE(col2im, none(), 3, 2, 1, 0, 1),
  };
}
const CallTable<bad_input::BadCall> kBad(bad_calls);

std::vector<mismatch::Call> mixed_calls() {
  using namespace mismatch;
  return {
      CALL(grid_sampler, strict, given(f({1, 2, 6, 6}), f({1, 3, 3, 2})), t[0], t[1], 0, 0, false)};
}
const CallTable<mismatch::Call> kMixed(mixed_calls);

// One image with one or two channels, from a matrix.
Tensor lines(const Tensor& a) { return a.unsqueeze(0); }
Tensor plane(const Tensor& a) { return a.unsqueeze(0).unsqueeze(0); }
Tensor box(const Tensor& a) { return plane(a).unsqueeze(0); }
Tensor places(const Tensor& a) { return MADE(stack({a, a * 0.7}, -1).unsqueeze(0)); }

std::vector<agreement::Call> agreeing_calls() {
  using namespace agreement;
  return {
      full_only(RESULT(upsample_nearest1d, upsample_nearest1d(lines(o.a), {13}),
                       upsample_nearest1d(lines(o.n), {10}))),
      full_only(RESULT(upsample_nearest2d, upsample_nearest2d(plane(o.a), {8, 9}))),
      full_only(RESULT(upsample_nearest3d, upsample_nearest3d(box(o.a), {2, 8, 9}))),
      full_only(RESULT(_upsample_nearest_exact1d, _upsample_nearest_exact1d(lines(o.a), {13}))),
      full_only(RESULT(_upsample_nearest_exact2d, _upsample_nearest_exact2d(plane(o.a), {8, 9}))),
      full_only(RESULT(_upsample_nearest_exact3d, _upsample_nearest_exact3d(box(o.a), {2, 8, 9}))),
      full_only(RESULT(upsample_linear1d, upsample_linear1d(lines(o.a), {13}, true))),
      full_only(RESULT(upsample_bilinear2d, upsample_bilinear2d(plane(o.a), {8, 10}, false),
                       upsample_bilinear2d(plane(o.a), {3, 9}, true))),
      full_only(RESULT(upsample_trilinear3d, upsample_trilinear3d(box(o.a), {2, 8, 9}, false))),
      full_only(RESULT(upsample_bicubic2d, upsample_bicubic2d(plane(o.a), {8, 10}, false))),
      full_only(
          RESULT(_upsample_bilinear2d_aa, _upsample_bilinear2d_aa(plane(o.a), {2, 3}, false))),
      full_only(RESULT(_upsample_bicubic2d_aa, _upsample_bicubic2d_aa(plane(o.a), {2, 3}, false))),
      full_only(RESULT(grid_sampler, grid_sampler(plane(o.a), places(o.a), 0, 0, false),
                       grid_sampler(plane(o.a), places(o.a), 1, 1, true),
                       grid_sampler(plane(o.a), places(o.a), 2, 2, false))),
      full_only(RESULT(affine_grid_generator,
                       affine_grid_generator(o.a.slice(0, 0, 2).slice(1, 0, 3).unsqueeze(0),
                                             {1, 1, 3, 4}, false))),
      full_only(RESULT(im2col, im2col(plane(o.a), {2, 3}, 1, 1, {1, 2}))),
      full_only(RESULT(col2im, col2im(lines(o.a.slice(0, 0, 4).slice(1, 0, 4)), 3, 2, 1, 0, 1))),
  };
}
const CallTable<agreement::Call> kAgreeing(agreeing_calls);

}  // namespace
