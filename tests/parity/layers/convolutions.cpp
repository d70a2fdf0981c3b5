// Convolutions and transposed convolutions in one to three dims: strides, paddings and their modes,
// dilation, groups, output sizes.
#include "layers.h"

using namespace parity;

PARITY(layers_convolutions) {
  const Tensor line = x({2, 4, 9}), image = x({2, 4, 7, 6}), volume = x({1, 4, 5, 4, 6});
  run_layer("Conv1d", nn::Conv1d(4, 6, 3), line);
  run_layer("Conv1d strided",
            nn::Conv1d(nn::Conv1dOptions(4, 6, 3).stride(2).padding(1).dilation(2).groups(2)),
            line);
  run_layer("Conv1d of channels alone",
            nn::Conv1d(nn::Conv1dOptions(4, 8, 2).groups(4).bias(false)), line);
  run_layer("Conv1d without a batch", nn::Conv1d(4, 2, 3), x({4, 5}));
  run_layer("Conv2d", nn::Conv2d(nn::ConvOptions<2>(4, 3, 3)), image);
  run_layer("Conv2d strided",
            nn::Conv2d(nn::Conv2dOptions(4, 6, {3, 2})
                           .stride({2, 1})
                           .padding({1, 2})
                           .dilation({1, 2})
                           .groups(2)),
            image);
  run_layer("Conv2d of one pixel", nn::Conv2d(nn::Conv2dOptions(4, 5, 1).bias(false)), image);
  run_layer("Conv2d without a batch", nn::Conv2d(4, 2, 3), x({4, 5, 5}));
  run_layer("Conv3d", nn::Conv3d(4, 3, 2), volume);
  run_layer("Conv3d strided",
            nn::Conv3d(nn::Conv3dOptions(4, 2, {3, 2, 3})
                           .stride({2, 1, 2})
                           .padding({1, 0, 2})
                           .dilation({1, 2, 1})
                           .groups(2)),
            volume);
  run_layer("Conv3d without a batch", nn::Conv3d(2, 2, 2), x({2, 3, 3, 3}));
  const nn::detail::ConvNdOptions<2> base = nn::Conv2d(nn::Conv2dOptions(2, 3, {4, 5}))->options;
  report("what convolutions share", static_cast<double>(base.kernel_size()->at(1)));
  report_refusal("groups that do not divide",
                 [] { nn::Conv2d(nn::Conv2dOptions(4, 3, 3).groups(3)); });
  report_refusal("channels of another number", [&] { nn::Conv1d(3, 2, 3)(line); });
}

PARITY(layers_convolution_paddings) {
  const Tensor line = x({2, 2, 9}), image = x({2, 2, 7, 6}), volume = x({1, 2, 5, 4, 6});
  using One = nn::Conv1dOptions;
  using Two = nn::Conv2dOptions;
  using Three = nn::Conv3dOptions;
  run_layer("same 1", nn::Conv1d(One(2, 3, 4).padding(torch::kSame).dilation(2)), line);
  run_layer("same 2", nn::Conv2d(Two(2, 3, {4, 3}).padding(torch::kSame)), image);
  run_layer("same 3", nn::Conv3d(Three(2, 3, {2, 3, 4}).padding(torch::kSame)), volume);
  run_layer("valid", nn::Conv2d(Two(2, 3, 3).padding(torch::kValid).stride(2)), image);
  run_layer("reflect 1", nn::Conv1d(One(2, 3, 3).padding(2).padding_mode(torch::kReflect)), line);
  run_layer("reflect 2", nn::Conv2d(Two(2, 3, 3).padding({1, 2}).padding_mode(torch::kReflect)),
            image);
  run_layer("reflect 3", nn::Conv3d(Three(2, 3, 3).padding(1).padding_mode(torch::kReflect)),
            volume);
  run_layer("replicate 1", nn::Conv1d(One(2, 3, 3).padding(2).padding_mode(torch::kReplicate)),
            line);
  run_layer("replicate 2",
            nn::Conv2d(Two(2, 3, 3).padding({1, 2}).stride(2).padding_mode(torch::kReplicate)),
            image);
  run_layer("replicate 3", nn::Conv3d(Three(2, 3, 3).padding(1).padding_mode(torch::kReplicate)),
            volume);
  run_layer("circular 1", nn::Conv1d(One(2, 3, 3).padding(2).padding_mode(torch::kCircular)), line);
  run_layer("circular 2", nn::Conv2d(Two(2, 3, 3).padding({1, 2}).padding_mode(torch::kCircular)),
            image);
  run_layer("circular 3", nn::Conv3d(Three(2, 3, 3).padding(1).padding_mode(torch::kCircular)),
            volume);
  // Paddings are equal, because libtorch 1.13 swaps the paddings of the dims.
  run_layer("same, reflected",
            nn::Conv2d(Two(2, 3, 4).padding(torch::kSame).padding_mode(torch::kReflect)), image);
  report_refusal("same with a stride",
                 [] { nn::Conv2d(Two(2, 3, 3).padding(torch::kSame).stride(2)); });
}

PARITY(layers_transposed_convolutions) {
  const Tensor line = x({2, 4, 5}), image = x({2, 4, 3, 4}), volume = x({1, 4, 3, 2, 3});
  run_layer("ConvTranspose1d", nn::ConvTranspose1d(4, 3, 3), line);
  run_layer("ConvTranspose1d strided",
            nn::ConvTranspose1d(nn::ConvTranspose1dOptions(4, 6, 3)
                                    .stride(3)
                                    .padding(1)
                                    .output_padding(2)
                                    .dilation(2)
                                    .groups(2)),
            line);
  run_layer("ConvTranspose1d without a batch", nn::ConvTranspose1d(4, 2, 3), x({4, 5}));
  run_layer("ConvTranspose2d", nn::ConvTranspose2d(4, 3, 2), image);
  run_layer("ConvTranspose2d doubling",
            nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 2, 2).stride(2).bias(false)), image);
  run_layer("ConvTranspose2d strided",
            nn::ConvTranspose2d(nn::ConvTranspose2dOptions(4, 6, {3, 2})
                                    .stride({2, 3})
                                    .padding({1, 0})
                                    .output_padding({1, 2})
                                    .dilation({2, 1})
                                    .groups(2)),
            image);
  run_layer("ConvTranspose3d", nn::ConvTranspose3d(nn::ConvTransposeOptions<3>(4, 2, 2)), volume);
  run_layer("ConvTranspose3d strided",
            nn::ConvTranspose3d(nn::ConvTranspose3dOptions(4, 6, {3, 2, 2})
                                    .stride({2, 1, 2})
                                    .padding({1, 0, 1})
                                    .output_padding({1, 0, 1})
                                    .groups(2)),
            volume);

  nn::ConvTranspose2d sized(nn::ConvTranspose2dOptions(4, 2, 3).stride(2));
  const auto to_size = [&](std::vector<int64_t> size) {
    return [&, size](const List& a) { return List{sized->forward(a[0], size)}; };
  };
  report_layer("of a size", *sized, {image}, to_size({8, 10}));
  report_layer("of a size with all dims", *sized, {image}, to_size({2, 2, 7, 9}));
  report_refusal("of a size out of reach", [&] { to_size({20, 20})({image}); });
  report_refusal("a padding mode", [] {
    nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2, 2, 3).padding_mode(torch::kReflect))(
        x({1, 2, 3, 3}));
  });
}
