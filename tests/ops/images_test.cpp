// Sampling of images, unfold and fold: PyTorch's values and gradients, second gradients.
// interpolate_test.cpp tests resizing.
#include <ambit/nn/fold.h>
#include <ambit/nn/functional.h>
#include <ambit/nn/sequential.h>
#include <ambit/nn/upsampling.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/images.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "probes.h"
#include "tests/autograd/gradcheck.h"
#include "tests/devices.h"

using namespace ambit;
namespace F = nn::functional;

namespace {

using Sizes = std::vector<int64_t>;

struct Sampled {
  int64_t dims;
  Interpolation mode;
  F::GridPaddingMode padding;
  bool align_corners;
  Probes value, dx, dgrid;

  Tensor operator()(const Tensor& x, const Tensor& grid) const {
    return F::grid_sample(
        x, grid,
        F::GridSampleFuncOptions().mode(mode).padding_mode(padding).align_corners(align_corners));
  }
};
// x = wave(2, 3, 4, 5), grid = wave(2, 3, 2, 2, k=0.37) * 1.4; or wave(1, 2, 3, 4, 5) and
// wave(1, 2, 1, 3, 3, k=0.37) * 1.4; y = F.grid_sample(x, grid, ...)
const std::vector<Sampled>& samples() {
  static const std::vector<Sampled> rows{
      // clang-format off
    {2, kBilinear, kZeros, false, {0.0997875162021, 0, -1.59391711103}, {-0.215599822197,
     -0.170316537272, 1.33779609009}, {0.409553605428, 0, 0.784106049514}},
    {2, kBilinear, kZeros, true, {0.472582366714, 0.261965444205, -1.43727883478},
     {-0.386932525085, -0.149251984189, 0.364698235715}, {0.158666764662, 0.318339611052,
     -0.0871987622807}},
    {2, kBilinear, kBorder, false, {0.0997875162021, 0.998858051695, -1.75003063832},
     {-0.835227630414, -0.929221832142, -0.981584932658}, {0.409553605428, 0, 5.33906791896}},
    {2, kBilinear, kBorder, true, {0.472582366714, 0.998858051695, -1.84134769544},
     {-0.472676080798, -0.67215563497, -1.79432381249}, {0.158666764662, 0, 7.2453228984}},
    {2, kBilinear, kReflection, false, {0.0997875162021, 0.92582476841, -1.73258201331},
     {-0.835227630414, -0.672730181707, -1.13918378172}, {0.409553605428, 0, -4.28748132466}},
    {2, kBilinear, kReflection, true, {0.472582366714, 0.60900568599, -2.10270493203},
     {-0.386932525085, -0.149251984189, -2.2743003224}, {0.158666764662, 3.40481438538,
     3.67731532695}},
    {2, kNearest, kZeros, false, {-0.618137112237, 0, -1.91062764554}, {0, 0, 3.67552457766},
     {0, 0, 0}},
    {2, kNearest, kZeros, true, {0.854598908088, 0, 0.967017674423}, {0, 0, 1.8129900028}, {0,
     0, 0}},
    {2, kNearest, kBorder, false, {-0.618137112237, 0.998858051695, -1.57483119796},
     {-0.977530117665, -0.64438631214, 0.625933375591}, {0, 0, 0}},
    {2, kNearest, kBorder, true, {0.854598908088, 0.998858051695, -0.390121182406}, {0,
     -0.64438631214, -0.524835378204}, {0, 0, 0}},
    {2, kNearest, kReflection, false, {-0.618137112237, 0.998858051695, -1.57483119796},
     {-0.977530117665, -0.64438631214, 0.625933375591}, {0, 0, 0}},
    {2, kNearest, kReflection, true, {0.854598908088, 0.794747234017, -0.265420518609}, {0, 0,
     -0.436072799364}, {0, 0, 0}},
    {2, kBicubic, kZeros, false, {0.205923663026, -0.0378462894553, -1.81706556367},
     {-0.254281084739, -0.229531001277, 1.34355809318}, {0.842834738709, -0.249406965716,
     -2.86215596453}},
    {2, kBicubic, kZeros, true, {0.67954441292, 0.3128638992, -1.50016981264}, {-0.52196806829,
     -0.192063848934, 0.35153621203}, {0.938176584326, 0.0263119203751, -0.659141644213}},
    {2, kBicubic, kBorder, false, {0.26528820203, 1.08202829955, -2.15319883645},
     {-0.888538878923, -0.932516015879, -0.966341387905}, {0.837791358251, 0.828758070894,
     3.95628284731}},
    {2, kBicubic, kBorder, true, {0.702646369394, 1.17969902179, -2.14305506744},
     {-0.513576911693, -0.778897501715, -1.85871824967}, {0.936606462395, -0.791091758758,
     7.41818486386}},
    {2, kBicubic, kReflection, false, {0.26528820203, 1.23988165342, -2.49774741727},
     {-0.979828922699, -0.714129368609, -0.872301090915}, {0.837791358251, 1.31619612385,
     -4.53125381386}},
    {2, kBicubic, kReflection, true, {0.647605048035, 0.815869415169, -2.4800716427},
     {-0.52196806829, -0.192063848934, -2.42185525874}, {0.905974045108, 2.88577987881,
     1.11904059894}},
    {3, kBilinear, kZeros, false, {-0.0324065633986, -0.106213395517, 0.328448441275}, {0,
     0.0617330110862, -0.233738015993}, {0.034714045177, -0.203142908336, -2.81607264659}},
    {3, kBilinear, kBorder, true, {-0.482049954694, -0.0338904902616, 0.524553945647},
     {-0.442520443295, 0.137312954315, -1.68715328112}, {0.510992209517, -0.392626549823,
     0.197955685843}},
    {3, kBilinear, kReflection, false, {-0.0554911292088, -0.161501862424, 1.27837094675},
     {-0.19856485061, 0.301320730162, -1.42243151633}, {0.0594423278576, -0.308887197087,
     2.6026052005}},
    {3, kBilinear, kReflection, true, {-0.482049954694, -0.0338904902616, -0.315406247558},
     {-0.041278262842, 0.0949498729733, -1.81447436982}, {0.510992209517, -0.392626549823,
     0.3888537917}},
    {3, kNearest, kZeros, false, {0.807973403667, 0.189114620351, -0.817718818627}, {0, 0,
     -0.636468280203}, {0, 0, 0}},
    {3, kNearest, kBorder, true, {-0.963320224474, 0.189114620351, 0.539453887158},
     {-0.442520443295, 0.0168139004843, -2.59068921764}, {0, 0, 0}},
    {3, kNearest, kReflection, false, {0.807973403667, 0.189114620351, 0.613728822052},
     {-0.442520443295, 0.0168139004843, -1.95067585827}, {0, 0, 0}},
    {3, kNearest, kReflection, true, {-0.963320224474, 0.189114620351, -1.51398343402}, {0, 0,
     -2.59865394836}, {0, 0, 0}},
      // clang-format on
  };
  return rows;
}
Tensor image_of(const Sampled& s, Device d) {
  return wave(d, s.dims == 2 ? Sizes{2, 3, 4, 5} : Sizes{1, 2, 3, 4, 5});
}
Tensor grid_of(const Sampled& s, Device d) {
  return wave(d, s.dims == 2 ? Sizes{2, 3, 2, 2} : Sizes{1, 2, 1, 3, 3}, 0.37) * 1.4;
}

struct Columns {
  Sizes shape, image;  // image: of fold
  IntOrPair kernel, dilation, padding, stride;
  Sizes sizes;
  Probes value, dx;

  Tensor operator()(const Tensor& x) const {
    if (image.empty()) {
      return F::unfold(
          x, F::UnfoldFuncOptions(kernel).dilation(dilation).padding(padding).stride(stride));
    }
    return F::fold(x, F::FoldFuncOptions(IntOrPair(IntArrayRef(image)), kernel)
                          .dilation(dilation)
                          .padding(padding)
                          .stride(stride));
  }
};
// x = wave(*shape); y = F.unfold(x, kernel, ...) or F.fold(x, image, kernel, ...)
const std::vector<Columns>& columns() {
  static const std::vector<Columns> rows{
      // clang-format off
    {{2, 3, 5, 6}, {}, 2, 1, 0, 1, {2, 12, 20}, {0, -0.355740374022, 2.84812209698}, {0,
     -0.645598290791, -5.99444296936}},
    {{2, 3, 5, 6}, {}, {3, 2}, 1, 1, 2, {2, 18, 12}, {0, 0, 0.672821422164}, {0.832759485308,
     -0.479451992545, -0.049904124962}},
    {{1, 2, 7, 6}, {}, {2, 3}, {2, 1}, {1, 2}, {1, 3}, {1, 12, 21}, {0, 0, 0.481309414898},
     {0.334151176848, -0.0963279189425, 15.3186924446}},
    {{3, 5, 6}, {}, 2, 1, 0, 2, {12, 6}, {0, 0.999810580553, -7.53981654076}, {0, 0,
     -1.99467170635}},
    {{2, 12, 20}, {5, 6}, 2, 1, 0, 1, {2, 3, 5, 6}, {0, 0.751553530304, -1.96479465524}, {0,
     -0.769957578111, 2.98629071176}},
    {{2, 18, 12}, {5, 6}, {3, 2}, 1, 1, 2, {2, 3, 5, 6}, {0.0672080725255, 0.0398359406106,
     1.16139826523}, {0, 0, 0.222334366938}},
    {{1, 12, 56}, {7, 6}, {2, 3}, {2, 1}, {1, 2}, {1, 1}, {1, 2, 7, 6}, {2.3887677912,
     -0.20306739851, -0.424058923968}, {0, 0, -0.599233444057}},
    {{8, 6}, {4, 6}, 2, 1, 0, 2, {2, 4, 6}, {0, 0.996241928755, -0.276558785953}, {0,
     -0.993790220741, 0.22610923688}},
      // clang-format on
  };
  return rows;
}

template <class Module>
std::string printed(const Module& module) {
  std::ostringstream os;
  os << *module;
  return os.str();
}

struct Affine {
  Sizes theta, size;
  bool align_corners;
  Probes value, dtheta;
};

}  // namespace

TEST_CASE("grid_sample has PyTorch's values and gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < samples().size(); ++i) {
      INFO("row ", i);
      const Sampled& row = samples()[i];
      const Tensor x = image_of(row, d).requires_grad_(), grid = grid_of(row, d).requires_grad_();
      const Tensor y = row(x, grid);
      check_with_gradient(x, y, y.sizes().vec(), row.value, row.dx);
      check_probes(grid.grad(), row.dgrid);
    }
  });
}

TEST_CASE("grid_sample has correct first and second gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < samples().size(); ++i) {
      if (samples()[i].mode == kNearest || i % 2 == 0) continue;
      INFO("row ", i);
      // Positions are away from the centres of pixels, where the slope changes.
      const Tensor x = wave(d, {1, 1, 4, 3}), grid = wave(d, {1, 2, 2, 2}, 0.37) * 1.4 + 0.07;
      const Sampled& row = samples()[i];
      if (row.dims != 2) continue;
      const auto f = [&](const std::vector<Tensor>& in) { return row(in[0], in[1]); };
      gradcheck(f, {x, grid});
      gradgradcheck(f, {x, grid});
    }
  });
}

TEST_CASE("grid_sample at distant, infinite and NaN positions") {
  // x = torch.arange(1., 17).view(1, 1, 4, 4); g = torch.tensor([[[[nan, 0.], [0., nan], [inf, 0.],
  // [.3, -inf], [3., .2]]]])
  for_each_device([](Device d) {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    const TensorOptions f64(TensorOptions(kFloat64).device(d));
    const Tensor x = arange(1, 17, 1, f64).view({1, 1, 4, 4});
    const Tensor g =
        tensor({{nan, 0.}, {0., nan}, {inf, 0.}, {0.3, -inf}, {3., 0.2}}, f64).view({1, 1, 5, 2});
    const auto sampled = [&](int64_t mode, int64_t padding) {
      return grid_sampler(x, g, mode, padding, false).view({5});
    };
    check_values(sampled(0, 0), {5}, {nan, nan, nan, nan, 0});
    check_values(sampled(0, 1), {5}, {7, 2.5, 10, 3.1, 11.6});
    check_values(sampled(0, 2), {5}, {7, 2.5, 7, 3.1, 8.6});
    check_values(sampled(1, 0), {5}, {0, 0, 0, 0, 0});
    check_values(sampled(1, 1), {5}, {9, 3, 12, 3, 12});
    check_values(sampled(1, 2), {5}, {9, 3, 9, 3, 9});
    check_values(sampled(2, 1), {5}, {nan, nan, nan, nan, 11.456});
    // An infinite element does not affect samples outside of the image.
    const Tensor hot = full({1, 1, 1, 1}, inf, f64);
    CHECK(grid_sampler(hot, full({1, 1, 1, 2}, 5., f64), 0, 0, false).item<double>() == 0);
    CHECK(grid_sampler(x.expand({1, 0, 4, 4}), g, 0, 0, false).sizes() == IntArrayRef{1, 0, 1, 5});
  });
}

TEST_CASE("affine_grid has PyTorch's values and gradients") {
  // theta = wave(*shape); y = F.affine_grid(theta, size, align_corners)
  const std::vector<Affine> rows{
      // clang-format off
    {{2, 2, 3}, {2, 1, 3, 4}, false, {0.55597127183, 1.43876972505, -0.437574468766},
     {-2.03559201988, -1.04283912633, 3.80565322377}},
    {{2, 2, 3}, {2, 1, 3, 4}, true, {0.341232042751, 1.66196873308, -1.11002335778},
     {-2.71412269318, -1.04283912633, 4.44426605854}},
    {{1, 3, 4}, {1, 2, 2, 1, 3}, false, {0.370484501655, 0.895817107988, -0.816809760374},
     {-0.6259132479, 0.762813103639, 1.53933690169}},
    {{1, 3, 4}, {1, 2, 2, 1, 3}, true, {-0.12224036334, 1.01388819472, -1.95990583871},
     {-0.938869871849, 0.762813103639, 2.04762476633}},
      // clang-format on
  };
  for_each_device([&](Device d) {
    for (const Affine& row : rows) {
      const Tensor theta = wave(d, row.theta).requires_grad_();
      const Tensor y = F::affine_grid(theta, row.size, row.align_corners);
      check_with_gradient(theta, y, y.sizes().vec(), row.value, row.dtheta);
    }
    const auto f = [](const std::vector<Tensor>& in) {
      return affine_grid_generator(in[0], {1, 1, 2, 3}, false).square();
    };
    gradcheck(f, {wave(d, {1, 2, 3})});
    gradgradcheck(f, {wave(d, {1, 2, 3})});
    // The identity map returns the image.
    const Tensor x = wave(d, {2, 3, 4, 5});
    const Tensor same = tensor({{1., 0., 0.}, {0., 1., 0.}}, x.options()).expand({2, 2, 3});
    CHECK(F::grid_sample(x, F::affine_grid(same, x.sizes())).allclose(x, 1e-12, 1e-12));
  });
}

TEST_CASE("unfold and fold have PyTorch's values and gradients") {
  for_each_device([](Device d) {
    for (size_t i = 0; i < columns().size(); ++i) {
      INFO("row ", i);
      const Columns& row = columns()[i];
      const Tensor x = wave(d, row.shape).requires_grad_();
      check_with_gradient(x, row(x), row.sizes, row.value, row.dx);
      Sizes shape = row.shape;
      if (shape.size() > 3 - size_t(!row.image.empty())) shape[0] = 1;
      const auto f = [&](const std::vector<Tensor>& in) { return row(in[0]); };
      if (i % 4 == 1 || i % 4 == 3) gradgradcheck(f, {wave(d, shape)});
    }
    // Each column of ones adds 1 to every element of its window.
    const Tensor ones_of = ones({1, 1, 4, 4}, TensorOptions(kFloat64).device(d));
    check_values(col2im(im2col(ones_of, 3, 1, 1, 1), 4, 3, 1, 1, 1).view({16}), {16},
                 {4, 6, 6, 4, 6, 9, 9, 6, 6, 9, 9, 6, 4, 6, 6, 4});
    CHECK(im2col(wave(d, {2, 3, 5, 4}).transpose(2, 3), {2, 3}, 1, 1, 2)
              .equal(im2col(wave(d, {2, 3, 5, 4}).transpose(2, 3).contiguous(), {2, 3}, 1, 1, 2)));
    CHECK(im2col(zeros({0, 2, 3, 3}, d), 2, 1, 0, 1).sizes() == IntArrayRef{0, 8, 4});
    // Windows that contain only padding.
    CHECK(im2col(ones({1, 1, 1, 1}, d), 1, 1, 2, 1).sum().item<double>() == 1);
  });
}

TEST_CASE("image layers print as in PyTorch and equal their functions") {
  CHECK(printed(nn::Upsample(
            nn::UpsampleOptions().scale_factor(std::vector<double>{2, 3}).mode(kBilinear))) ==
        "Upsample(scale_factor=(2.0, 3.0), mode=bilinear)");
  CHECK(printed(nn::Upsample(nn::UpsampleOptions().size(std::vector<int64_t>{4}).mode(kLinear))) ==
        "Upsample(size=(4,), mode=linear)");
  CHECK(printed(nn::Fold(nn::FoldOptions({4, 5}, {2, 2}))) ==
        "Fold(output_size=(4, 5), kernel_size=2, dilation=1, padding=0, stride=1)");
  CHECK(printed(nn::Unfold(nn::UnfoldOptions({2, 3}).padding(1))) ==
        "Unfold(kernel_size=(2, 3), dilation=1, padding=1, stride=1)");
  const Tensor x = wave(Device(), {2, 4, 6, 5});
  nn::Upsample twice(nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2}));
  CHECK(twice(x).equal(upsample_nearest2d(x, {12, 10})));
  CHECK(nn::Sequential(twice)->forward(x).equal(twice(x)));
  CHECK(nn::Unfold(2)(x).equal(im2col(x, 2, 1, 0, 1)));
  CHECK(nn::Fold(IntOrPair(2), IntOrPair(2))(x.view({2, 4, 30}).slice(2, 0, 1)).sizes() ==
        IntArrayRef{2, 1, 2, 2});
}
