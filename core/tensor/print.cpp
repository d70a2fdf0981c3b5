// Printing of tensors, identical to PyTorch's with its default options.
// Source: torch/_tensor_str.py of PyTorch 1.13.
#include <ambit/autograd.h>
#include <ambit/detail/record.h>
#include <ambit/ops/complex.h>
#include <ambit/ops/shape.h>
#include <ambit/tensor.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace ambit {
namespace {

constexpr int64_t kEdgeItems = 3;     // shown at each end of a summarised dim
constexpr int64_t kThreshold = 1000;  // elements; above it the tensor is summarised
constexpr size_t kLineWidth = 80;     // characters
constexpr std::string_view kPrefix = "tensor(";
constexpr size_t kIndent = kPrefix.size();

// Keep only the first and last items of each long dim, which a summary shows.
Tensor edges(Tensor t) {
  for (int64_t d = 0; d < t.dim(); ++d) {
    if (t.size(d) <= 2 * kEdgeItems) continue;
    t = cat({t.narrow(d, 0, kEdgeItems), t.narrow(d, t.size(d) - kEdgeItems, kEdgeItems)}, d);
  }
  return t;
}

// The elements' texts and their common width: the length of the longest text; for floats, only
// finite non-zero elements count.
struct Elements {
  std::vector<std::string> text;
  size_t width = 1;
  bool pads = true;  // false for complex numbers, of which only the real parts are padded

  void add(std::string s, bool widens = true) {
    if (widens) width = std::max(width, s.size());
    text.push_back(std::move(s));
  }
};

// One notation for all numbers of a tensor.
enum class Notation { whole, fixed, scientific };

std::atomic<bool> scientific_allowed = true;

Notation choose_notation(const double* v, int64_t n) {
  bool whole = true;
  double smallest = INFINITY, largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(v[i]) || v[i] == 0) continue;
    whole = whole && v[i] == std::ceil(v[i]);
    smallest = std::min(smallest, std::fabs(v[i]));
    largest = std::max(largest, std::fabs(v[i]));
  }
  if (largest == 0) return Notation::whole;
  const bool scientific = largest / smallest > 1000 || largest > 1e8 || (!whole && smallest < 1e-4);
  if (scientific && scientific_allowed) return Notation::scientific;
  return whole ? Notation::whole : Notation::fixed;
}

std::string to_text(double v, Notation notation) {
  if (std::isnan(v)) return "nan";  // fmt would print its sign
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  switch (notation) {
    case Notation::whole:
      return fmt::format("{:.0f}.", v);
    case Notation::fixed:
      return fmt::format("{:.4f}", v);
    case Notation::scientific:
      break;
  }
  return fmt::format("{:.4e}", v);
}

Elements format_elements(const Tensor& t);

// Each part has its own notation and width.
Elements format_complex(const Tensor& t) {
  const Elements re = format_elements(real(t)), im = format_elements(imag(t));
  Elements out;
  for (size_t i = 0; i < re.text.size(); ++i) {
    const char* plus = im.text[i].starts_with('-') ? "" : "+";
    out.add(fmt::format("{:>{}}{}{}j", re.text[i], re.width, plus, im.text[i]));
  }
  out.width = re.width + im.width + 1;
  out.pads = false;
  return out;
}

Elements format_elements(const Tensor& t) {
  if (t.is_complex()) return format_complex(t);
  Elements out;
  const int64_t n = t.numel();
  if (!t.is_floating_point()) {
    const Tensor wide = t.to(kCPU, kInt64).contiguous();
    const int64_t* v = wide.data_ptr<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
      if (t.dtype() == kUInt64) {
        out.add(fmt::to_string(static_cast<uint64_t>(v[i])));
        continue;
      }
      out.add(t.dtype() == kBool ? (v[i] ? "True" : "False") : fmt::to_string(v[i]));
    }
    return out;
  }
  const Tensor wide = t.to(kCPU, kFloat64).contiguous();
  const double* v = wide.data_ptr<double>();
  const Notation notation = choose_notation(v, n);
  for (int64_t i = 0; i < n; ++i) {
    out.add(to_text(v[i], notation), std::isfinite(v[i]) && v[i] != 0);
  }
  return out;
}

// Formats nested brackets; `next` iterates over the elements in row-major order.
class Layout {
 public:
  Layout(const Elements& elements, IntArrayRef sizes, bool summarised)
      : elements_(elements), sizes_(sizes), summarised_(summarised) {}

  std::string str(size_t dim = 0, size_t indent = kIndent) {
    if (dim == sizes_.size()) return next();
    const bool is_row = dim + 1 == sizes_.size();
    std::vector<std::string> items;
    const bool cut = summarised_ && sizes_[dim] > 2 * kEdgeItems;
    const int64_t shown = cut ? 2 * kEdgeItems : sizes_[dim];
    for (int64_t i = 0; i < shown; ++i) {
      if (cut && i == kEdgeItems) items.push_back(is_row ? " ..." : "...");
      items.push_back(is_row ? next() : str(dim + 1, indent + 1));
    }
    if (is_row) return fmt::format("[{}]", wrap(items, indent));
    const std::string newlines(sizes_.size() - dim - 1, '\n');
    const std::string separator = "," + newlines + std::string(indent + 1, ' ');
    return fmt::format("[{}]", fmt::join(items, separator));
  }

 private:
  std::string next() {
    const size_t width = elements_.pads ? elements_.width : 0;
    return fmt::format("{:>{}}", elements_.text[next_++], width);
  }

  std::string wrap(const std::vector<std::string>& items, size_t indent) const {
    const size_t room = kLineWidth > indent ? kLineWidth - indent : 0;
    const size_t per_line = std::max<size_t>(1, room / (elements_.width + 2));
    std::string out;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out += i % per_line ? ", " : ",\n" + std::string(indent + 1, ' ');
      out += items[i];
    }
    return out;
  }

  const Elements& elements_;
  IntArrayRef sizes_;
  bool summarised_;
  size_t next_ = 0;
};

std::string contents(const Tensor& t) {
  if (t.is_meta()) return "...";
  if (t.numel() == 0) return "[]";
  NoGradGuard no_grad;
  const bool summarised = t.numel() > kThreshold;
  const Elements elements = format_elements(summarised ? edges(t) : t);
  return Layout(elements, t.sizes(), summarised).str();
}

// A Python tuple: "(2, 3)", "(2,)", "()".
std::string size_tuple(IntArrayRef sizes) {
  return fmt::format("({}{})", fmt::join(sizes.begin(), sizes.end(), ", "),
                     sizes.size() == 1 ? "," : "");
}

std::vector<std::string> suffixes(const Tensor& t) {
  std::vector<std::string> out;
  if (!t.is_cpu()) out.push_back(fmt::format("device='{}'", t.device().str()));
  const bool no_values = t.is_meta() || t.numel() == 0;
  if (t.is_meta() || (t.numel() == 0 && t.dim() != 1)) {
    out.push_back("size=" + size_tuple(t.sizes()));
  }
  // Values show whether they are bool, int64 or complex; without values the dtype is printed.
  const bool is_shown =
      t.dtype() == kInt64 || t.dtype() == kBool || t.dtype() == complex_dtype(get_default_dtype());
  const bool dtype_shows = t.dtype() == get_default_dtype() || (!no_values && is_shown);
  if (!dtype_shows) out.push_back(fmt::format("dtype=torch.{}", name(t.dtype())));
  if (const auto node = t.grad_fn()) {
    out.push_back(fmt::format("grad_fn=<{}>", node->name()));
  } else if (t.requires_grad()) {
    out.push_back("requires_grad=True");
  }
  return out;
}

}  // namespace

std::string str(const Tensor& t) {
  if (!t.defined()) return "undefined";
  std::string out = std::string(kPrefix) + contents(t);
  const size_t newline = out.rfind('\n');
  // PyTorch's length of the last line is one or two characters too high here; the line breaks must
  // match PyTorch's.
  size_t line = out.size() + 1 - (newline == std::string::npos ? size_t(-1) : newline);
  for (const std::string& suffix : suffixes(t)) {
    if (line + suffix.size() + 2 > kLineWidth) {
      out += ",\n" + std::string(kIndent, ' ') + suffix;
      line = kIndent + suffix.size();
    } else {
      out += ", " + suffix;
      line += suffix.size() + 2;
    }
  }
  return out + ")";
}

void set_printoption_sci_mode(bool enabled) { scientific_allowed = enabled; }

std::ostream& operator<<(std::ostream& os, const Tensor& t) { return os << str(t); }

}  // namespace ambit
