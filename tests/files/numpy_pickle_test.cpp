// NumPy's arrays, numbers and dtypes in checkpoints: tensors, numbers and opaque values. The
// pickles are those of NumPy 1.24 and 2.4.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <doctest/doctest.h>

#include <string>

#include "load_error.h"
#include "pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

Value load_pickle(const std::string& pickle) {
  const TemporaryFolder folder;
  return load_checkpoint(folder.write("f.pth", pytorch_bytes(pickle)));
}

// numpy.dtype(name, False, True), with its byte order.
std::string dtype(const std::string& name, const std::string& order = "<") {
  return pickled_global("numpy", "dtype") + pickled(name) + "\x89\x88\x87R(K\x03" + pickled(order) +
         "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK" + std::string(1, '\0') + "tb";
}

std::string short_bytes(const std::string& bytes) {
  return "C" + std::string(1, static_cast<char>(bytes.size())) + bytes;
}

std::string array(const std::vector<int64_t>& shape, const std::string& type,
                  const std::string& bytes, const std::string& module = "numpy.core.multiarray",
                  bool is_fortran = false) {
  return pickled_global(module, "_reconstruct") + "(" + pickled_global("numpy", "ndarray") +
         pickled(std::vector<int64_t>{0}) + short_bytes("b") + "tR(K\x01" + pickled(shape) + type +
         (is_fortran ? "\x88" : "\x89") + bytes + "tb";
}

std::string scalar(const std::string& type, const std::string& bytes) {
  return pickled_global("numpy._core.multiarray", "scalar") + type + short_bytes(bytes) + "\x86R";
}

const std::string kShorts("\1\0\2\0\3\0\4\0\5\0\xff\xff", 12);

}  // namespace

TEST_CASE("an array of NumPy is a tensor") {
  const Tensor expected = tensor({{1, 2, 3}, {4, 5, -1}}, kInt16);
  for (const std::string module : {"numpy.core.multiarray", "numpy._core.multiarray"}) {
    const Tensor t =
        load_pickle(array({2, 3}, dtype("i2"), short_bytes(kShorts), module)).to_tensor();
    CHECK(t.dtype() == kInt16);
    CHECK(t.equal(expected));
  }
  // Arrays in Fortran order, and with reversed bytes.
  CHECK(load_pickle(array({3, 2}, dtype("i2"), short_bytes(kShorts), "numpy.core.multiarray", true))
            .to_tensor()
            .equal(expected.t()));
  const std::string big("\0\1\0\2\0\3\0\4\0\5\xff\xff", 12);
  CHECK(load_pickle(array({2, 3}, dtype("i2", ">"), short_bytes(big))).to_tensor().equal(expected));
  // The data as bytes in protocol 2, as a bytearray, and as Python 2's strings.
  const std::string latin1 = pickled_global("_codecs", "encode") + pickled("\x01\x7f\xc3\xbf") +
                             pickled("latin1") + "\x86R";
  for (const std::string& bytes :
       {latin1, short_bytes("\x01\x7f\xff"), std::string("U\x03\x01\x7f\xff"),
        std::string("\x96\3\0\0\0\0\0\0\0\x01\x7f\xff", 12)}) {
    CHECK(load_pickle(array({3}, dtype("u1", "|"), bytes))
              .to_tensor()
              .equal(tensor({1, 127, 255}, kUInt8)));
  }
  CHECK(load_pickle(array({2}, dtype("u1", "|"),
                          "U\x02"
                          "ab"))
            .to_tensor()
            .equal(tensor({97, 98}, kUInt8)));
  const std::string none = pickled_global("__builtin__", "bytes") + ")R";
  CHECK(load_pickle(array({0, 3}, dtype("f4"), none)).to_tensor().sizes() == IntArrayRef{0, 3});
  // Protocol 5.
  const std::string buffer = pickled_global("numpy._core.numeric", "_frombuffer") + "(" +
                             short_bytes(kShorts) + dtype("i2") +
                             pickled(std::vector<int64_t>{2, 3}) + pickled("C") + "tR";
  CHECK(load_pickle(buffer).to_tensor().equal(expected));
}

TEST_CASE("shared arrays of NumPy share their memory") {
  const Value pair =
      load_pickle(array({2, 3}, dtype("i2"), short_bytes(kShorts)) + "q\x05h\x05\x86");
  CHECK(pair.items()[0].to_tensor().data_ptr() == pair.items()[1].to_tensor().data_ptr());
}

TEST_CASE("a number of NumPy is a number") {
  CHECK(load_pickle(scalar(dtype("f8"), std::string("\0\0\0\0\0\0\xf8\x3f", 8))).to_double() ==
        1.5);
  CHECK(load_pickle(scalar(dtype("f4"), std::string("\0\0\x80\x3f", 4))).to_double() == 1);
  CHECK(load_pickle(scalar(dtype("f8", ">"), std::string("\x3f\xf8\0\0\0\0\0\0", 8))).to_double() ==
        1.5);
  CHECK(load_pickle(scalar(dtype("i4"), std::string("\xfe\xff\xff\xff", 4))).to_int() == -2);
  CHECK(load_pickle(scalar(dtype("b1", "|"), "\x01")).to_bool());
  CHECK(load_pickle(scalar(dtype("u8"), std::string(8, '\xff'))).to_opaque().type ==
        "scalar of NumPy");
}

TEST_CASE("arrays of unsigned integers become tensors") {
  const auto load = [](const char* type, const std::string& bytes) {
    return load_pickle(array({2}, dtype(type), short_bytes(bytes))).to_tensor();
  };
  const Tensor u2 = load("u2", std::string("\1\0\xff\xff", 4));
  CHECK(u2.dtype() == ambit::kUInt16);
  CHECK(u2[0].item<int>() == 1);
  CHECK(u2[1].item<int>() == 65535);
  const Tensor u4 = load("u4", std::string("\1\0\0\0\xff\xff\xff\xff", 8));
  CHECK(u4.dtype() == ambit::kUInt32);
  CHECK(u4[1].item<int64_t>() == 4294967295);
  const Tensor u8 = load("u8", std::string("\1\0\0\0\0\0\0\0", 8) + std::string(8, '\xff'));
  CHECK(u8.dtype() == ambit::kUInt64);
  CHECK(u8[1].item<uint64_t>() == ~uint64_t{0});
}

TEST_CASE("arrays of a dtype that ambit does not have are opaque, and so are dtypes") {
  const Value value = load_pickle(
      "(" + array({1}, dtype("c32"), short_bytes(std::string(32, 'x'))) +
      array({1}, dtype("O8", "|"), "]Na") + dtype("f4") + dtype("i8", ">") + pickled(7) + "t");
  CHECK(value.items()[0].to_opaque().type == "numpy.ndarray");
  CHECK(value.items()[1].to_opaque().type == "numpy.ndarray");
  CHECK(value.items()[2].to_opaque().type == "numpy.dtype");
  CHECK(value.items()[2].to_opaque().arguments[0].to_string() == "f4");
  CHECK(value.items()[3].to_opaque().arguments[0].to_string() == ">i8");
  CHECK(value.items()[4].to_int() == 7);
  // Dtypes are written unchanged.
  const TemporaryFolder folder;
  save_checkpoint(value.items()[3], folder / "f.pth");
  CHECK(load_checkpoint(folder / "f.pth").to_opaque().arguments[0].to_string() == ">i8");
  // A dtype with fields, whose state contains their names.
  std::string fields = dtype("V2", "|");
  fields.replace(fields.find("NNN"), 3, "N(" + pickled("a") + "t}");
  CHECK(load_pickle(array({1}, fields, short_bytes("ab"))).to_opaque().type == "numpy.ndarray");
  CHECK(load_pickle(fields).to_opaque().function.empty());
}

TEST_CASE("pickles that NumPy would not write are refused") {
  const auto refused = [](const std::string& pickle, const std::string& why) {
    const std::string error = pickle_error(pickle);
    CHECK_MESSAGE(contains(error, why), error);
  };
  const std::string bytes = short_bytes(kShorts);
  refused(array({2, 4}, dtype("i2"), bytes), "expected 16 bytes of an array [2, 4], got 12");
  refused(array({-1, -6}, dtype("i2"), bytes), "that memory can hold");
  refused(array({int64_t{1} << 62, 4}, dtype("i2"), bytes), "that memory can hold");
  refused(array({0, int64_t{1} << 62, 4}, dtype("i2"), bytes), "that memory can hold");
  refused(array(std::vector<int64_t>(65, 1), dtype("i2"), bytes), "at most 64 dims");
  refused(array({6}, pickled("i2"), bytes), "a dtype of NumPy");
  refused(array({6}, dtype("i2"), "N"), "opaque");
  refused(array({12}, dtype("b1", "|"), bytes), "bytes 0 and 1");
  refused(array({6}, dtype("i2"), bytes) + "(tb", "one state of 5 items per array");
  refused(pickled_global("numpy.core.multiarray", "_reconstruct") + "(" +
              pickled_global("numpy", "ndarray") + ")Nt" + "R",
          "without");
  refused(pickled_global("numpy", "ndarray") + ")R", "a function to call");
  refused(pickled_global("numpy", "load") + pickled("/etc/passwd") + "\x85R", "'numpy.load'");
  refused(dtype(std::string(1000, 'a')), "at most 32 bytes");
  refused(scalar(dtype("f8"), "ab"), "expected 8 bytes of an array [], got 2");
  // Many arrays that share one buffer.
  const std::string large = "B" + little_endian(1 << 20, 4) + std::string(1 << 20, '\0') + "q\x01";
  std::string many = "(" + large + dtype("u1", "|") + "q\x02";
  for (int i = 0; i < 300; ++i) many += array({1 << 20}, "h\x02", "h\x01");
  refused(many + "t", "bytes in memory");
}
