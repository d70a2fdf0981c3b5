// The header that programs include, as `#include <torch/torch.h>` in libtorch. It omits process
// statistics (fallback.h, memory.h, build_info.h) and the headers for backend authors
// (ambit/backend/).
#pragma once

#if __cplusplus < 202002L
#error "ambit needs C++20: compile with -std=c++20"
#endif

#include <ambit/accessor.h>
#include <ambit/activation_checkpoint.h>
#include <ambit/array_ref.h>
#include <ambit/autocast.h>
#include <ambit/autograd.h>
#include <ambit/checkpoint.h>
#include <ambit/data/data.h>
#include <ambit/device.h>
#include <ambit/dlpack.h>
#include <ambit/dtype.h>
#include <ambit/error.h>
#include <ambit/finfo.h>
#include <ambit/inference_mode.h>
#include <ambit/layout.h>
#include <ambit/nn/nn.h>
#include <ambit/ops/aliases.h>
#include <ambit/ops/arrange.h>
#include <ambit/ops/attention.h>
#include <ambit/ops/bessel.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/conv.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/fft.h>
#include <ambit/ops/foreach.h>
#include <ambit/ops/images.h>
#include <ambit/ops/index.h>
#include <ambit/ops/linalg.h>
#include <ambit/ops/loss.h>
#include <ambit/ops/matmul.h>
#include <ambit/ops/norm.h>
#include <ambit/ops/out.h>
#include <ambit/ops/pool.h>
#include <ambit/ops/products.h>
#include <ambit/ops/quantized.h>
#include <ambit/ops/random.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/samples.h>
#include <ambit/ops/scan.h>
#include <ambit/ops/shape.h>
#include <ambit/ops/sort.h>
#include <ambit/ops/special.h>
#include <ambit/ops/windows.h>
#include <ambit/optim/optim.h>
#include <ambit/parallel.h>
#include <ambit/plugins.h>
#include <ambit/profiler.h>
#include <ambit/random.h>
#include <ambit/scalar.h>
#include <ambit/serialize.h>
#include <ambit/settings.h>
#include <ambit/shape.h>
#include <ambit/special.h>
#include <ambit/tensor.h>
#include <ambit/tensor_options.h>
#include <ambit/tensorboard/summary_writer.h>
#include <ambit/value.h>
