// Training steps and inference of networks of the zoo, in sizes used for training.
#include "../zoo_networks.h"
#include "network_works.h"
#include "rows.h"

namespace bench {
namespace {

using namespace ambit;

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
  for (const bool amp : {false, true}) {
    const auto images = [] {
      return Inputs{{"input", rand({32, 3, 32, 32})}, {"target", randint(0, 10, {32})}};
    };
    add<ResNet18>(rows, {"resnet18", 32, "images", images, amp});
  }
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
