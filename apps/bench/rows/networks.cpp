// Training steps and inference of the lessons' networks, with the lessons' optimizers.
#include "networks.h"

#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/random.h>

#include "network_works.h"
#include "rows.h"

namespace bench {
namespace {

using namespace ambit;

// Batches of images, and their classes.
Inputs images(int64_t batch) {
  return {{"input", rand({batch, 3, 32, 32})}, {"target", randint(0, 10, {batch})}};
}

}  // namespace

Row lesson_row(const std::string& what, int64_t batch) {
  const bool amp = what.ends_with("_amp");
  const NetworkRow about{what.substr(0, what.find('/')), batch, "images",
                         [batch] { return images(batch); }, amp};
  if (what == "net/train") {
    return training_row<Net>(about, optim::SGDOptions(0.001).momentum(0.9));
  }
  if (what == "net/infer") return inference_row<Net>(about);
  if (what == "tudui/train" || what == "tudui/train_amp") {
    return training_row<Tudui>(about, optim::SGDOptions(0.01));
  }
  if (what == "tudui/infer" || what == "tudui/infer_amp") return inference_row<Tudui>(about);
  throw Error("bench: expected one of net/train, net/infer, tudui/train, tudui/infer, got " + what);
}

std::vector<Row> network_rows() {
  std::vector<Row> rows;
  for (const char* const what : kLessonWorks) {
    for (const int64_t batch : {4, 64, 256, 1024}) rows.push_back(lesson_row(what, batch));
  }
  for (const char* const what : {"tudui/train_amp", "tudui/infer_amp"}) {
    rows.push_back(lesson_row(what, 64));
  }
  return rows;
}

}  // namespace bench
