// Invalid and hostile archives are refused: wrong formats, false sizes, endless contents.
#include <ambit/archive.h>
#include <ambit/checkpoint.h>
#include <ambit/error.h>
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/files/pickled_file.h"
#include "tests/temporary_folder.h"

using namespace ambit;
using serialize::InputArchive;

namespace {

// Return an archive made by hand: a pickle, and the entries that mark TorchScript.
std::string script_bytes(const std::string& pickle, const std::vector<std::string>& storages = {}) {
  std::vector<ZipEntry> entries{{"x/data.pkl", "\x80\x02" + pickle + "."},
                                {"x/constants.pkl", "\x80\x02)."},
                                {"x/code/__torch__.py", "packed", 8}};
  for (size_t i = 0; i < storages.size(); ++i) {
    entries.push_back({"x/data/" + std::to_string(i), storages[i]});
  }
  return zip_bytes(entries);
}

std::string error_of(const std::string& bytes) {
  InputArchive archive;
  try {
    archive.load_from(bytes.data(), bytes.size());
  } catch (const SerializationError& e) {
    return e.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string kObject = "c__torch__\nModule\n)\x81";

}  // namespace

TEST_CASE("objects of TorchScript are read as dicts, and no other classes are instantiated") {
  CHECK(error_of(script_bytes(kObject + "}b")) == "");
  CHECK(error_of(script_bytes(kObject)) == "");  // without attributes
  CHECK(error_of(script_bytes(kObject + "}(" + pickled("a") + kObject + "}bub")) == "");
  CHECK(error_of(script_bytes(kObject + "}(" + pickled("a") +
                              "ctorch.jit._pickle\nbuild_intlist\n(](K\x01"
                              "K\x02"
                              "etRub")) == "");
  for (const std::string pickle : {
           "c__torch__\nModule\n)R",                        // called
           "c__torch__\nModule\n(K\x01t\x81",               // with arguments
           "cos\nsystem\n)\x81",                            // a class of another module
           "ccollections\nOrderedDict\n)\x81",              // a function as a class
           "c__torch__\nModule\n",                          // the class itself
           "c__torch__\nModule\n)\x81(K\x01K\x02u",         // filled as a dict
           "c__torch__\nModule\n)\x81}b}b",                 // twice
           "c__torch__\nModule\n)\x81q\x01}(K\x01h\x01ub",  // itself
           "}}b",                                           // of a dict
           "(K\x01tc__torch__\nModule\n\x81",               // class and state in the wrong order
           "ctorch.jit._pickle\nbuild_intlist\n)R",         // without a list
           "ctorch.jit._pickle\nbuild_intlist\n(K\x01tR",   // of a number
           "ctorch.jit._pickle\nrestore_type_tag\n(]tR",    // without a type
       }) {
    INFO(pickle);
    CHECK(contains(error_of(script_bytes(pickle)), "got a TorchScript archive: expected"));
  }
  CHECK(contains(error_of(script_bytes("K\x01")), "expected an archive, got an int"));
  CHECK(contains(error_of(pytorch_bytes("]")), "expected an archive, got a list"));
}

TEST_CASE("wrong tensors of an archive are refused") {
  const PickledTensor t{.numel = 4, .sizes = {2, 2}, .strides = {2, 1}};
  const auto archive = [&](const PickledTensor& tensor, size_t bytes) {
    return script_bytes(kObject + "}(" + pickled("w") + pickled(tensor) + "ub",
                        {std::string(bytes, '\0')});
  };
  CHECK(error_of(archive(t, 16)) == "");
  CHECK(error_of(archive(t, 12)) != "");
  PickledTensor far = t;
  far.strides = {2, 7};
  CHECK(error_of(archive(far, 16)) != "");
  // Every prefix of a file, and every changed byte, gives an error or an archive.
  const std::string good = archive(t, 16);
  for (size_t n = 0; n < good.size(); ++n) CHECK(error_of(good.substr(0, n)) != "");
  for (size_t n = 0; n < good.size(); ++n) {
    std::string changed = good;
    changed[n] = static_cast<char>(changed[n] ^ 0x20);
    error_of(changed);
  }
}

TEST_CASE("an archive that repeats one object a million times is refused quickly") {
  std::string pickle = kObject + "}bq\x01";  // each level contains the previous one twice
  for (int i = 0; i < 60; ++i) {
    pickle += "0" + kObject + "}(" + pickled("a") + "h\x01" + pickled("b") + "h\x01ubq\x01";
  }
  // POP is not an opcode of plain values; without POP the stack keeps all values.
  CHECK(error_of(script_bytes(pickle)) != "");
  std::string nested = kObject + "}b";
  for (int i = 0; i < 60; ++i) {
    nested = kObject + "}(" + pickled("a") + nested + "q\x01" + pickled("b") + "h\x01ub";
  }
  const TemporaryFolder folder;
  const std::string path = folder.write("f.pt", script_bytes(nested));
  CHECK_THROWS_WITH_AS(load(path), doctest::Contains("names, got more"), SerializationError);
}

TEST_CASE("errors name entries that are not deflated correctly, or compressed by another method") {
  const TemporaryFolder folder;
  const auto refused = [&](uint16_t method, const char* message) {
    const std::string path =
        folder.write("f.pth", zip_bytes({{"x/data.pkl", "packed", method}, {"x/version", "3"}}));
    CHECK_THROWS_WITH_AS(load_checkpoint(path), doctest::Contains(message), SerializationError);
  };
  refused(8, "'x/data.pkl': expected 6 bytes in deflate's format");
  refused(12, "expected 'x/data.pkl' stored or deflated");  // bzip2
}
