// Each archive has a class that declares the types of its attributes; libtorch compiles it before
// it reads the values. Format: torch/csrc/jit/serialization/docs/serialization.md of PyTorch.
#include "archive_writer.h"

#include <ambit/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unordered_map>
#include <utility>

#include "file_storages.h"
#include "pickle.h"
#include "pytorch_file.h"

namespace ambit {

using serialize::ArchiveEntry;

namespace {

// `left`: how many more values may be visited. Shared nested lists are visited once per use.
std::string type_of(const Value& value, size_t& left) {
  if (left-- == 0) throw SerializationError("expected fewer values in lists and tuples");
  using Kind = Value::Kind;
  switch (value.kind()) {
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::string:
      return "str";
    case Kind::tensor:
      return "Tensor";
    case Kind::list: {
      // An empty list needs a type too: LBFGS has lists of tensors that are empty at first.
      std::string element = value.items().empty() ? "Tensor" : type_of(value.items()[0], left);
      for (const Value& item : value.items()) {
        if (const std::string other = type_of(item, left); other != element) {
          throw SerializationError(
              fmt::format("expected a list of one type, got {} and {}", element, other));
        }
      }
      return fmt::format("List[{}]", element);
    }
    case Kind::tuple: {
      std::vector<std::string> types;
      for (const Value& item : value.items()) types.push_back(type_of(item, left));
      return types.empty() ? "Tuple[()]" : fmt::format("Tuple[{}]", fmt::join(types, ", "));
    }
    default:
      throw SerializationError(
          fmt::format("expected a plain value or a nested archive, got {}", value.kind_name()));
  }
}

}  // namespace

std::string script_type(const Value& value) {
  size_t left = 1'000'000;
  return type_of(value, left);
}

struct ArchiveFile::Parts {
  explicit Parts(const std::vector<ArchiveEntry>& entries) : root(object(entries)) {
    storages.plan(root);
    const auto place = [this](const Tensor& t) {
      pickle::Place p = storages.place_of(t);
      p.requires_grad = t.requires_grad();
      return p;
    };
    const auto type = [this](const Value& v) {
      return v.is_dict() ? fmt::format("__torch__.{}", classes.at(&v.entries())) : script_type(v);
    };
    pickled = pickle::write(root, place, type);
    if (pickled.size() > pytorch_file::kMaxPickleBytes) {
      throw SerializationError(fmt::format("expected at most {} bytes without the tensors, got {}",
                                           pytorch_file::kMaxPickleBytes, pickled.size()));
    }
  }

  // Writes nested archives first, so that their classes are declared before use.
  Value object(const std::vector<ArchiveEntry>& entries) {
    const std::string name = next == 0 ? "Module" : fmt::format("Module_{}", next);
    ++next;
    Value::Dict attributes;
    std::string parameters, buffers, types;
    for (const ArchiveEntry& e : entries) {
      const Value value = e.nested ? object(*e.nested) : e.value;
      const std::string type =
          e.nested ? fmt::format("__torch__.{}", classes.at(&value.entries())) : script_type(value);
      types += fmt::format("  __annotations__[\"{}\"] = {}\n", e.key, type);
      if (e.role == ArchiveEntry::Role::parameter) parameters += fmt::format("\"{}\", ", e.key);
      if (e.role == ArchiveEntry::Role::buffer) buffers += fmt::format("\"{}\", ", e.key);
      attributes.emplace_back(e.key, value);
    }
    code += fmt::format(
        "class {}(Module):\n  __parameters__ = [{}]\n  __buffers__ = [{}]\n"
        "  __annotations__ = []\n{}",
        name, parameters, buffers, types);
    Value value = Value::dict(std::move(attributes));
    classes.emplace(&value.entries(), name);
    return value;
  }

  size_t next = 0;
  std::unordered_map<const void*, std::string>
      classes;  // class of each object, by the address of its entries
  std::string code;
  Value root;
  FileStorages storages;
  std::string pickled;
};

ArchiveFile::ArchiveFile(const std::vector<ArchiveEntry>& entries)
    : parts_(std::make_unique<const Parts>(entries)) {}
ArchiveFile::~ArchiveFile() = default;

void ArchiveFile::write(const ZipWriter::Sink& sink) const {
  using namespace pytorch_file;
  ZipWriter zip(sink);
  zip.add_in_folder(kPickle, parts_->pickled);
  zip.add_in_folder(kCode, parts_->code);
  zip.add_in_folder(kConstants, kConstantsPickle);
  parts_->storages.write(zip);
  zip.add_in_folder(kVersion, kVersionText);
  zip.finish();
}

}  // namespace ambit
