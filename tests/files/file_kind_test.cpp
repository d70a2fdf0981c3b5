// Detection of a file's kind by its first bytes, and the errors that name it.
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/serialize.h>
#include <doctest/doctest.h>

#include <string>

#include "pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;

namespace {

std::string load_error(const std::string& path) {
  try {
    load(path);
  } catch (const SerializationError& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("files without tensors are refused by their kind, whatever their extension") {
  const TemporaryFolder folder;
  using namespace std::string_literals;
  std::string tar(1024, '\0');
  tar.replace(0, 8, "storages").replace(257, 5, "ustar");
  const std::string lfs =
      "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 46830571\n";
  const std::pair<std::string, std::string> files[] = {
      {lfs, "a Git LFS pointer"},
      {"<!DOCTYPE html>\n<html><head>", "an HTML page"},
      {"\n <HTML lang=\"en\">", "an HTML page"},
      {"\xef\xbb\xbf<!doctype HTML>", "an HTML page"},
      {"<head><title>404 Not Found</title></head>", "an HTML page"},
      {"<!-- saved from example.org -->\n<html>", "an HTML page or an XML document"},
      {"<?xml version=\"1.0\"?>", "an XML document"},
      {"{\"error\": \"Invalid credentials\"}", "a JSON text"},
      {"\x1f\x8b\x08\0\0\0\0\0\0\3"s, "a gzip file"},
      {"BZh91AY&SY", "a bzip2 file"},
      {"\xfd"
       "7zXZ\0\0\4"s,
       "an xz file"},
      {"\x28\xb5\x2f\xfd\x24\x05", "a zstd file"},
      {tar, "a tar file"},
      {"\x89HDF\r\n\x1a\n\0\0"s, "an HDF5 file"},
      {"GGUF\3\0\0\0"s, "a GGUF file"},
      {"\x93NUMPY\1\0"s, "an array of NumPy"},
      {"\x1c\0\0\0TFL3"s, "a TensorFlow Lite model"},
      {"\x08\x07\x12\x07pytorch\x1a\x03"
       "1.9",
       "an ONNX model"},
      {"\x24\0\0\0PTMF\x1c\0"s, "a PyTorch Mobile flatbuffer"},
      {"\x08\x01\x12\xa9\x81\x01", "a TensorFlow model"},
      {"\0\0\x06\x08\1\x1a\2\x08\1\0"s, "the index of a TensorFlow checkpoint"},
      {"\x0a\x12\x0a\x03img\x12\x0bPlaceholder", "a TensorFlow model"},
      {"\x89PNG\r\n\x1a\n", "a PNG image"},
      {"\xff\xd8\xff\xe0\0\x10JFIF"s, "a JPEG image"},
      {"\x80\x04\x95\x0b\0\0\0\0\0\0\0}\x94."s,
       "a pickle without torch.save()'s zip file around it"},
      {"(dp0\nVa\np1\nI1\ns.", "a pickle without torch.save()'s zip file around it"},
      {"ctorch._utils\n_rebuild_tensor_v2\np0\n",
       "a pickle without torch.save()'s zip file around it"},
      {"(cnumpy.core.multiarray\n_reconstruct\n",
       "a pickle without torch.save()'s zip file around it"},
      {"ccollections\nOrderedDict\nq\0)Rq\1."s,
       "a pickle without torch.save()'s zip file around it"},
      // Lengths of one byte and of two bytes.
      {"\x08\x05\x12\x07\x0a\x05\x0a\x03"
       "img\xa2\x1f\x00"s,
       "a Core ML model"},
      {"\x08\x05\x12\x87\x02\x0a\x0b\x0a\x05image\x1a\x02 \0"s, "a Core ML model"},
      {"\x08\x41\x12\xcf\x9c\x80\x80\x80\x80\x80",
       "an unknown file"},  // the length has no last byte
      {"", "an empty file"},
      {"some notes", "an unknown file"},
      {"weights of some other program", "an unknown file"},
  };
  for (const auto& [bytes, kind] : files) {
    CAPTURE(kind);
    for (const char* name : {"f.safetensors", "f.pth", "f.bin"}) {
      const std::string path = folder.write(name, bytes);
      CHECK(file_kind(path) == kind);
      const std::string error = load_error(path);
      CHECK(error.starts_with("load: cannot read '" + path + "': expected "));
      CHECK_MESSAGE(error.find("got " + kind) != error.npos, error);
    }
  }
  folder.write("f.pth", lfs);
  CHECK(load_error(folder / "f.pth").ends_with("; fetch the file itself with 'git lfs pull'"));
  CHECK_THROWS_AS(file_kind(folder / "missing"), SerializationError);
}

TEST_CASE("zip files are distinguished by their first entry") {
  const TemporaryFolder folder;
  const auto kind = [&](const std::string& entry) {
    return file_kind(folder.write("f.zip", zip_bytes({{entry, "x"}})));
  };
  CHECK(kind("weight.npy") == "an .npz file of NumPy");
  CHECK(kind("model/archive_format") == "a .pt2 file of torch.export");
  CHECK(kind("archive/data.pkl") == "a file of torch.save() or TorchScript");
  CHECK(kind("readme.txt") == "a zip file");
}

TEST_CASE("the contents of a file determine its format, not its name") {
  const TemporaryFolder folder;
  const StateDict dict = {{"x", arange(3.)}, {"y", ones({2, 2})}};
  save(dict, folder / "f.safetensors");
  save(dict, folder / "f.pth");
  CHECK(file_kind(folder / "f.safetensors") == "a safetensors file");
  CHECK(file_kind(folder / "f.pth") == "a file of torch.save() or TorchScript");
  const std::string tensors = folder.write("a.pth", read_bytes(folder / "f.safetensors"));
  const std::string zip = folder.write("b.safetensors", read_bytes(folder / "f.pth"));
  for (const std::string& path : {tensors, zip}) {
    const StateDict back = load(path);
    REQUIRE(back.size() == 2);
    CHECK(back[0].second.equal(arange(3.)));
    CHECK(load_checkpoint(path)["y"].to_tensor().equal(ones({2, 2})));
  }
}
