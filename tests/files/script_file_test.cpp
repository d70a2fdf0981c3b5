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
  CHECK(dict[0].second.equal(
      tensor({2.})));  // the storage of another folder, although the key is the same
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

// TorchScript names a storage type for each dtype, also where Python's PyTorch has none.
TEST_CASE("a TorchScript archive may have storages of every dtype of PyTorch 2.15") {
  const TemporaryFolder folder;
  const auto path_with = [&](const std::string& type, const std::string& bytes, int64_t numel) {
    const PickledTensor t{
        .type = type, .key = "1", .numel = numel, .sizes = {numel}, .strides = {1}};
    return folder.write(
        "s.pt",
        zip_bytes({{"s/data.pkl", object(pickled("b") + pickled(t) + pickled("w") + kTensor)},
                   {"s/data/0", kOne},
                   {"s/data/1", bytes},
                   {"s/constants.pkl", "\x80\x02)."}}));
  };
  const auto check_unsigned = [&](const char* type, DType dtype, size_t size) {
    CAPTURE(type);
    const StateDict dict =
        load(path_with(type, little_endian(7, size) + std::string(size, '\xff'), 2));
    REQUIRE(dict.size() == 2);
    CHECK(dict[0].second.dtype() == dtype);
    CHECK(dict[0].second[0].item<uint64_t>() == 7);
    CHECK(dict[0].second[1].item<uint64_t>() == UINT64_MAX >> (64 - 8 * size));
    CHECK(dict[1].second.equal(tensor({1.})));
  };
  check_unsigned("UInt16Storage", kUInt16, 2);
  check_unsigned("UInt32Storage", kUInt32, 4);
  check_unsigned("UInt64Storage", kUInt64, 8);
  for (const auto& [type, dtype] : {std::pair("Float8_e4m3fnStorage", "torch.float8_e4m3fn"),
                                    {"Float8_e8m0fnuStorage", "torch.float8_e8m0fnu"},
                                    {"Bits8Storage", "torch.bits8"},
                                    {"Int4Storage", "torch.int4"}}) {
    CAPTURE(type);
    const std::string path = path_with(type, "\1\2", 2);
    const StateDict dict = load(path);
    REQUIRE(dict.size() == 1);
    CHECK(dict[0].first == "w");
    CHECK(load_checkpoint(path)["b"].to_opaque().type == std::string(dtype) + " tensor");
  }
  CHECK_THROWS_AS(load(path_with("UInt16Storage", "abc", 2)), SerializationError);
  CHECK_THROWS_AS(load(path_with("UInt128Storage", "ab", 1)), SerializationError);
}

// libtorch does not read _rebuild_tensor_v3, which torch.save() writes for these dtypes.
TEST_CASE("archives name storages of wide unsigned dtypes as libtorch does") {
  const TemporaryFolder folder;
  serialize::OutputArchive archive;
  archive.write("x", tensor({1, 65535}, kUInt16));
  archive.save_to(folder / "f.pt");
  const std::string bytes = read_bytes(folder / "f.pt");
  CHECK(bytes.find("UInt16Storage") != bytes.npos);
  CHECK(bytes.find("_rebuild_tensor_v3") == bytes.npos);
  serialize::InputArchive again;
  again.load_from(folder / "f.pt");
  Tensor x;
  again.read("x", x);
  CHECK(x.equal(tensor({1, 65535}, kUInt16)));
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
