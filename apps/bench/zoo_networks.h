// Zoo networks in sizes used for training, default-constructible; outputs are logits
// [N,classes,...]. This header is compiled for ambit, and in the libtorch peer for libtorch.
#pragma once

#include <ambit/ambit.h>

#include <cstdint>
#include <tuple>

#include "zoo/models/gpt.h"
#include "zoo/models/lstm.h"
#include "zoo/models/resnet.h"
#include "zoo/models/unet.h"

namespace bench {

constexpr int64_t kVocabulary = 96;

struct ResNet18Impl : zoo::ResNetImpl {};
AMBIT_MODULE(ResNet18);

struct Gpt6Impl : zoo::GPTImpl {
  Gpt6Impl()
      : GPTImpl({.vocabulary = kVocabulary, .block = 256, .layers = 6, .heads = 6, .width = 384}) {}
  ambit::Tensor forward(const ambit::Tensor& ids) { return GPTImpl::forward(ids).flatten(0, 1); }
};
AMBIT_MODULE(Gpt6);

struct Lstm2Impl : zoo::LSTMModelImpl {
  Lstm2Impl() : LSTMModelImpl(kVocabulary, 512, 512, 2) {}
  ambit::Tensor forward(const ambit::Tensor& ids) {
    return std::get<0>(LSTMModelImpl::forward(ids)).flatten(0, 1);
  }
};
AMBIT_MODULE(Lstm2);

struct SmallUNetImpl : zoo::UNetImpl {
  SmallUNetImpl() : UNetImpl(3, 2, /*width=*/16, /*levels=*/2) {}
};
AMBIT_MODULE(SmallUNet);

}  // namespace bench
