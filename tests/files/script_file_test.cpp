// TorchScript's archives in the format of torch.jit.save in PyTorch 2.15, made by hand: frozen
// modules, attributes that ambit cannot represent, modules without tensors.
#include <ambit/archive.h>
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <doctest/doctest.h>

#include <string>

#include "pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

std::string object(const std::string& attributes) {
  return "\x80\x02" + pickled_global("__torch__", "M") + ")\x81}(" + attributes + "ub.";
}

const std::string kOne("\0\0\x80\x3f", 4), kTwo("\0\0\0\x40", 4);  // of float32
const std::string kTensor = pickled(PickledTensor{.numel = 1, .sizes = {1}, .strides = {1}});

}  // namespace

TEST_CASE("the weights of a frozen module are read, with their names in its code") {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "frozen.pt", zip_bytes({{"frozen/data.pkl", object(pickled("w") + kTensor)},
                              {"frozen/data/0", kTwo},
                              {"frozen/constants/0", kOne},
                              {"frozen/constants.pkl", "\x80\x02" + kTensor + kTensor + "\x86."}}));
  const StateDict dict = load(path);
  REQUIRE(dict.size() == 3);
  CHECK(dict[0].first == "w");
  CHECK(dict[0].second.equal(tensor({2.})));  // of another folder, although the key is the same
  CHECK(dict[1].first == "CONSTANTS.c0");
  CHECK(dict[1].second.equal(tensor({1.})));
  CHECK(dict[2].first == "CONSTANTS.c1");
}

TEST_CASE("attributes that ambit cannot represent do not prevent reading a TorchScript archive") {
  const TemporaryFolder folder;
  const std::string attributes =
      pickled("dev") + pickled_global("torch", "device") + pickled("cpu") + "\x85R" + pickled("c") +
      pickled_global("builtins", "complex") + "K\x01K\x02\x86R" + pickled("w") + kTensor;
  const std::string path =
      folder.write("script.pt", zip_bytes({{"script/data.pkl", object(attributes)},
                                           {"script/data/0", kOne},
                                           {"script/constants.pkl", "\x80\x02)."}}));
  const StateDict dict = load(path);
  REQUIRE(dict.size() == 1);
  CHECK(dict[0].second.equal(tensor({1.})));
  serialize::InputArchive archive;
  archive.load_from(path);
  Tensor w;
  archive.read("w", w);
  CHECK(w.equal(tensor({1.})));
  CHECK(archive.value()["dev"].to_opaque().type == "torch.device");
}

// Modules of quantize_dynamic() store their weights like this: in objects of C++ classes, whose
// states are tuples.
TEST_CASE("an object whose state is not a dict of attributes is opaque") {
  const TemporaryFolder folder;
  const std::string packed =
      pickled_global("__torch__.torch.classes.quantized", "LinearPackedParamsBase") + ")\x81(" +
      pickled("1") + kTensor + "tb";
  const std::string path = folder.write(
      "q.pt",
      zip_bytes({{"q/data.pkl", object(pickled("packed") + packed + pickled("w") + kTensor)},
                 {"q/data/0", kOne},
                 {"q/constants.pkl", "\x80\x02)."}}));
  const StateDict dict = load(path);
  REQUIRE(dict.size() == 1);
  CHECK(dict[0].first == "w");
  CHECK(load_checkpoint(path)["packed"].to_opaque().type == "object of a custom class");
}

TEST_CASE("a TorchScript archive without tensors is an error with the reason") {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("none.pt", zip_bytes({{"none/data.pkl", object(pickled("n") + "K\x03")},
                                         {"none/constants.pkl", "\x80\x02)."}}));
  CHECK_THROWS_WITH_AS(load(path),
                       ("load: cannot read '" + path +
                        "': expected tensors in a TorchScript archive, got none: its module has "
                        "neither parameters, buffers nor constants; save the state_dict() of the "
                        "original module; load_checkpoint() reads everything")
                           .c_str(),
                       SerializationError);
  CHECK(load_checkpoint(path)["n"].to_int() == 3);
  const std::string bad =
      folder.write("bad.pt", zip_bytes({{"bad/data.pkl", object("")},
                                        {"bad/constants.pkl", "\x80\x02" + kTensor + "\x85."}}));
  CHECK_THROWS_AS(load(bad), SerializationError);  // no such constant
}
