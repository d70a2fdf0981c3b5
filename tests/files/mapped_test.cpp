// from_file: files mapped as tensors.
#include <ambit/ambit.h>
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("from_file maps a file, and changes it only if it is shared") {
  const TemporaryFolder folder;
  const std::string path = folder.write("bytes", "abcdefg");
  const Tensor t = from_file(path, false, 4, kUInt8);
  CHECK(t.equal(tensor({97, 98, 99, 100}).to(kUInt8)));
  CHECK(from_file(path, std::nullopt, 0, kUInt8).numel() == 7);
  CHECK(from_file(path, false, 0, kInt16).numel() == 3);
  const Tensor view = t.narrow(0, 2, 2);
  t.fill_(65);
  CHECK(view.equal(full({2}, 65, kUInt8)));
  CHECK(bytes_of(path) == "abcdefg");
  from_file(path, true, 2, kUInt8).fill_(66);
  CHECK(bytes_of(path) == "BBcdefg");

  const std::string made = folder / "made";
  from_file(made, true, 3, kFloat32).copy_(tensor({1, 2, 3}));
  CHECK(bytes_of(made).size() == 12);
  CHECK(from_file(made, true, 5, kFloat32).equal(tensor({1., 2., 3., 0., 0.}).to(kFloat32)));
  CHECK(from_file(made, true, 0).equal(tensor({1., 2., 3., 0., 0.}).to(kFloat32)));
  Tensor out = empty({0}, kInt32);
  CHECK(from_file_out(out, made, false, 1).item<int>() == 0x3f800000);
  CHECK(from_file(folder.write("empty", ""), false).sizes() == IntArrayRef{0});
}

TEST_CASE("the error of from_file names the file and the reason") {
  const TemporaryFolder folder;
  const std::string path = folder.write("short", "abc");
  CHECK_THROWS_WITH_AS(
      from_file(path, false, 4, kUInt8),
      ("from_file: cannot map '" + path + "': it has 3 bytes, but 4 were requested").c_str(),
      SerializationError);
  CHECK_THROWS_AS(from_file(folder / "none", false, 4), SerializationError);
  CHECK_THROWS_AS(from_file(folder.path().string(), false, 4), SerializationError);
  CHECK_THROWS_AS(from_file(path, false, 0, kBool), SerializationError);
  CHECK_THROWS_AS(from_file(path, false, -1), ShapeError);
  CHECK_THROWS_AS(from_file(path, true, INT64_MAX), ShapeError);
  CHECK_THROWS_AS(from_file(path, false, 0, TensorOptions(kUInt8).device("reference")), Error);
  Tensor none;
  CHECK_THROWS_AS(from_file_out(none, path, false, 0), Error);
  CHECK(bytes_of(path) == "abc");
}
