// Writes a program in C++ with one kernel call, and its operands as a safetensors file.
#include <ambit/backend/registry.h>
#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/serialize.h>
#include <ambit/settings.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "report.h"

namespace ambit::shadow {
namespace {

namespace fs = std::filesystem;

// Return the text as a string literal of C++.
std::string string_literal(const std::string& text) {
  std::string literal = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + '"';
}

std::string commented(const std::string& text) {
  std::string lines = "// ";
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += "// ";
  }
  return lines;
}

std::string dims(IntArrayRef numbers) {
  return fmt::format("{{{}}}", fmt::join(numbers.begin(), numbers.end(), ", "));
}

std::string dtype_text(DType dtype) {
  return fmt::format("DType::{}", dtype == kBool ? "bool8" : name(dtype));
}

class Program {
 public:
  Program(const Call& call, std::string fault) : call_(call), fault_(std::move(fault)) {}

  void write(const fs::path& source, const fs::path& data);

 private:
  std::string define(const Operand& o, const std::string& variable);
  // The variable of an operand: that of an earlier one if both are the same tensor.
  std::string variable_of(const Operand& o);

  const Call& call_;
  std::string fault_;
  std::string definitions_;
  std::vector<std::pair<Tensor, std::string>> variables_;
  StateDict data_;
};

std::string Program::define(const Operand& o, const std::string& variable) {
  const Tensor& t = o.tensor;
  if (o.before.empty()) {
    return fmt::format("  Tensor {} = empty({}, TensorOptions({}).device(device));\n", variable,
                       dims(t.sizes()), dtype_text(t.dtype()));
  }
  const auto n = static_cast<int64_t>(o.before.size() / element_size(t.dtype()));
  // Borrowed memory: the call outlives the data.
  const Storage bytes(
      new StorageImpl(const_cast<std::byte*>(o.before.data()), o.before.size(), nullptr));
  data_.emplace_back(variable,
                     Tensor(intrusive_ptr<TensorImpl>(new TensorImpl(bytes, {n}, n, t.dtype()))));
  return fmt::format("  Tensor {} = load_tensor(data, \"{}\").to(device).as_strided({}, {}, {});\n",
                     variable, variable, dims(t.sizes()), dims(t.strides()),
                     o.window.first / element_size(t.dtype()));
}

std::string Program::variable_of(const Operand& o) {
  std::string variable = o.name;
  for (char& c : variable) {
    if (c == '[') c = '_';
  }
  std::erase(variable, ']');
  if (!o.is_defined()) {
    definitions_ += fmt::format("  Tensor {};\n", variable);
    return variable;
  }
  for (const auto& [t, known] : variables_) {
    if (t.storage() == o.tensor.storage() && t.storage_offset() == o.tensor.storage_offset() &&
        t.sizes() == o.tensor.sizes() && t.strides() == o.tensor.strides() &&
        t.dtype() == o.tensor.dtype()) {
      return known;
    }
  }
  definitions_ += define(o, variable);
  variables_.emplace_back(o.tensor, variable);
  return variable;
}

void Program::write(const fs::path& source, const fs::path& data) {
  std::string arguments;
  for (const auto& [is_tensor, i] : call_.order()) {
    std::string text;
    if (!is_tensor) {
      const Parameter& p = call_.parameters()[i];
      text = p.text(p.value);
    } else if (const Argument& a = call_.arguments()[i]; a.is_list) {
      std::string list;
      for (const Operand& o : a.operands) list += (list.empty() ? "" : ", ") + variable_of(o);
      definitions_ += fmt::format("  std::vector<Tensor> {}{{{}}};\n", a.name, list);
      text = a.name;
    } else {
      text = variable_of(a.operands[0]);
    }
    arguments += (arguments.empty() ? "" : ", ") + text;
  }
  const std::string device = call_.device().str(), backend(call_.device().type().name());
  std::string library = backend_library(call_.device().kind());
  if (library.find('/') != library.npos) library = fs::absolute(library);
  save(data_, data);
  std::ofstream file(source);
  file << commented(fault_ + '\n' +
                    "Build with the flags of `pkg-config --cflags --libs ambit`; "
                    "exits with 1 if the kernel is wrong.")
       << "\n#include <ambit/ambit.h>\n#include <ambit/backend/kernels.h>\n"
       << "#include <ambit/plugins.h>\n#include <ambit/settings.h>\n\n#include <cmath>\n#include "
          "<cstdlib>\n"
       << "#include <iostream>\n#include <vector>\n\nusing namespace ambit;\n\n"
       << "int main(int argc, char** argv) {\n"
       << fmt::format("  setenv(\"AMBIT_SHADOW\", {}, 1);\n", string_literal(shadow_device().str()))
       << "  setenv(\"AMBIT_SHADOW_DIR\", \"none\", 1);\n"
       << fmt::format("  const std::string data = argc > 1 ? argv[1] : {};\n",
                      string_literal(fs::absolute(data)));
  if (library != "libambit") {
    file << fmt::format("  if (!is_available(\"{}\")) load_backend({});\n", backend,
                        string_literal(library));
  }
  if (is_deterministic()) file << "  set_deterministic(true);\n";
  file << fmt::format("  const Device device(\"{}\");\n", device) << definitions_ << "  try {\n"
       << fmt::format("    kernels::{}({});\n", call_.op().name(), arguments)
       << "  } catch (const Error& e) {\n    std::cerr << e.what() << '\\n';\n    return 1;\n  }\n"
       << fmt::format("  std::cout << \"{} agrees\\n\";\n}}\n", call_.op().name());
  file.flush();
  if (!file) throw Error(fmt::format("cannot write {}", source.string()));
}

}  // namespace

std::string write_reproducer(const Call& call, const std::string& fault) {
  const char* named = std::getenv("AMBIT_SHADOW_DIR");
  const fs::path folder = named && *named ? named : "ambit_shadow";
  if (folder == "none") return "none";
  try {
    fs::create_directories(folder);
    const fs::path source = folder / (std::string(call.op().name()) + ".cpp");
    Program(call, fault).write(source, fs::path(source).replace_extension("safetensors"));
    return source;
  } catch (const std::exception& e) {
    return fmt::format("none: {}", printable(e.what()));
  }
}

}  // namespace ambit::shadow
