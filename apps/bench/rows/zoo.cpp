// Training steps and inference of networks of the zoo, in sizes that people train them in.
#include <ambit/ambit.h>

#include "network_works.h"
#include "rows.h"
#include "zoo/models/gpt.h"
#include "zoo/models/lstm.h"
#include "zoo/models/resnet.h"
#include "zoo/models/unet.h"

namespace bench {
namespace {

using namespace ambit;

constexpr int64_t kVocabulary = 96;

// The networks without arguments, which the rows make; logits [N,classes] of all that is predicted.
struct ResNet18Impl : zoo::ResNetImpl {};
AMBIT_MODULE(ResNet18);

struct Gpt6Impl : zoo::GPTImpl {
  Gpt6Impl()
      : GPTImpl({.vocabulary = kVocabulary, .block = 256, .layers = 6, .heads = 6, .width = 384}) {}
  Tensor forward(const Tensor& ids) { return GPTImpl::forward(ids).flatten(0, 1); }
};
AMBIT_MODULE(Gpt6);

struct Lstm2Impl : zoo::LSTMModelImpl {
  Lstm2Impl() : LSTMModelImpl(kVocabulary, 512, 512, 2) {}
  Tensor forward(const Tensor& ids) {
    return std::get<0>(LSTMModelImpl::forward(ids)).flatten(0, 1);
  }
};
AMBIT_MODULE(Lstm2);

struct SmallUNetImpl : zoo::UNetImpl {
  SmallUNetImpl() : UNetImpl(3, 2, /*width=*/16, /*levels=*/2) {}
};
AMBIT_MODULE(SmallUNet);

Inputs text(const std::vector<int64_t>& sizes) {
  return {{"input", randint(0, kVocabulary, sizes)},
          {"target", randint(0, kVocabulary, {sizes[0] * sizes[1]})}};
}

template <class Network>
void add(std::vector<Row>& rows, const NetworkRow& about) {
  rows.push_back(training_row<Network>(about, optim::SGDOptions(0.01).momentum(0.9)));
  rows.push_back(inference_row<Network>(about));
}

}  // namespace

std::vector<Row> zoo_rows() {
  std::vector<Row> rows;
  add<ResNet18>(
      rows, {"resnet18", 32, "images", [] {
               return Inputs{{"input", rand({32, 3, 32, 32})}, {"target", randint(0, 10, {32})}};
             }});
  add<Gpt6>(rows, {"gpt", 8, "sequences", [] { return text({8, 256}); }});
  add<Lstm2>(rows, {"lstm", 32, "sequences", [] { return text({64, 32}); }});
  add<SmallUNet>(
      rows,
      {"unet", 8, "images", [] {
         return Inputs{{"input", rand({8, 3, 64, 64})}, {"target", randint(0, 2, {8, 64, 64})}};
       }});
  return rows;
}

}  // namespace bench
