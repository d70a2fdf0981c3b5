#include "equation.h"

#include <ambit/error.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

namespace ambit {
namespace {

constexpr int kFirstDot = 128;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Normalise one side of the arrow to letters, and '.' for an ellipsis, without spaces.
std::string cleaned(std::string_view text, std::string_view whole) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text.substr(i, 3) == "...") {
      out.push_back('.');
      i += 2;
    } else if (is_letter(text[i]) || text[i] == ',') {
      out.push_back(text[i]);
    } else {
      throw Error(fmt::format(
          "einsum: expected letters, commas, \"...\" and one \"->\", got \"{}\"", whole));
    }
  }
  return out;
}

std::vector<std::string> split_terms(const std::string& text) {
  std::vector<std::string> terms(1);
  for (const char c : text) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back().push_back(c);
    }
  }
  return terms;
}

// Return the number of dims that a term's ellipsis stands for.
size_t dots_of(const std::string& term, const Tensor& t, size_t i) {
  const auto dots = static_cast<size_t>(std::count(term.begin(), term.end(), '.'));
  if (dots > 1) {
    throw Error(fmt::format("einsum: expected one \"...\" in a term at most, got {}", dots));
  }
  const size_t letters = term.size() - dots, dims = t.sizes().size();
  if (dots == 0 ? letters != dims : letters > dims) {
    throw ShapeError(fmt::format("einsum: expected tensors[{}] to have {}{} dims, got shape {}", i,
                                 dots ? "at least " : "", letters, str(t.sizes())));
  }
  return dims - letters;
}

// Replace the ellipsis by the last n of the `all` labels that stand for ellipses.
std::string with_dots(const std::string& term, size_t n, size_t all) {
  std::string out;
  for (const char c : term) {
    if (c != '.') {
      out.push_back(c);
      continue;
    }
    for (size_t i = all - n; i < all; ++i) {
      out.push_back(static_cast<char>(static_cast<unsigned char>(kFirstDot + i)));
    }
  }
  return out;
}

// Return the labels of the result if the equation has no arrow: the ellipsis, then in order the
// letters that occur once.
std::string implied_result(const std::vector<std::string>& terms) {
  std::array<int, 256> times{};
  for (const std::string& term : terms) {
    for (const char c : term) ++times[static_cast<unsigned char>(c)];
  }
  std::string out(1, '.');
  for (int c = 'A'; c <= 'z'; ++c) {
    if (is_letter(static_cast<char>(c)) && times[static_cast<size_t>(c)] == 1) {
      out.push_back(static_cast<char>(c));
    }
  }
  return out;
}

void check_result(const std::string& result, const Equation& eq, std::string_view text) {
  for (size_t i = 0; i < result.size(); ++i) {
    if (result[i] == ',') {
      throw Error(fmt::format("einsum: expected one term after the arrow, got \"{}\"", text));
    }
    if (result.find(result[i], i + 1) != std::string::npos) {
      throw Error(fmt::format("einsum: expected each letter once in the result, got \"{}\"", text));
    }
    if (is_letter(result[i]) && eq.size(result[i]) < 0) {
      throw Error(
          fmt::format("einsum: expected '{}' before the arrow, too, got \"{}\"", result[i], text));
    }
  }
}

void see_sizes(Equation& eq, const Term& term, size_t i) {
  for (size_t d = 0; d < term.labels.size(); ++d) {
    int64_t& known = eq.sizes[static_cast<unsigned char>(term.labels[d])];
    const int64_t size = term.tensor.sizes()[d];
    if (known >= 0 && known != 1 && size != 1 && size != known) {
      throw ShapeError(
          fmt::format("einsum: expected size {} or 1 for dim {} of tensors[{}], got shape {}",
                      known, d, i, str(term.tensor.sizes())));
    }
    if (known < 0 || known == 1) known = size;
  }
}

// Take the diagonal of each repeated label.
void take_diagonals(Term& term, size_t at) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    for (size_t j; (j = term.labels.find(term.labels[i], i + 1)) != std::string::npos;) {
      const auto a = static_cast<int64_t>(i), b = static_cast<int64_t>(j);
      if (term.tensor.size(a) != term.tensor.size(b)) {
        throw ShapeError(
            fmt::format("einsum: expected dims {} and {} of tensors[{}], which have the same "
                        "letter, to have the same size, got shape {}",
                        a, b, at, str(term.tensor.sizes())));
      }
      term.tensor = movedim(diagonal(term.tensor, 0, a, b), -1, a);
      term.labels.erase(j, 1);
    }
  }
}

void drop_ones(Term& term) {
  for (size_t d = term.labels.size(); d-- > 0;) {
    if (term.tensor.sizes()[d] != 1) continue;
    term.tensor = squeeze(term.tensor, static_cast<int64_t>(d));
    term.labels.erase(d, 1);
  }
}

}  // namespace

Equation read_equation(std::string_view text, TensorList tensors) {
  const size_t arrow = text.find("->");
  const bool is_explicit = arrow != std::string_view::npos;
  const std::vector<std::string> written = split_terms(cleaned(text.substr(0, arrow), text));
  std::string result =
      is_explicit ? cleaned(text.substr(arrow + 2), text) : implied_result(written);
  if (written.size() != tensors.size()) {
    throw Error(fmt::format("einsum: expected {} tensors for \"{}\", got {}", written.size(), text,
                            tensors.size()));
  }
  std::vector<size_t> dots;
  for (size_t i = 0; i < tensors.size(); ++i) dots.push_back(dots_of(written[i], tensors[i], i));
  const size_t all = *std::max_element(dots.begin(), dots.end());
  if (all > 256 - kFirstDot) {
    throw ShapeError(
        fmt::format("einsum: expected {} dims for \"...\" at most, got {}", 256 - kFirstDot, all));
  }
  Equation eq;
  eq.sizes.fill(-1);
  for (size_t i = 0; i < tensors.size(); ++i) {
    eq.terms.push_back({tensors[i], with_dots(written[i], dots[i], all)});
    take_diagonals(eq.terms.back(), i);
    see_sizes(eq, eq.terms.back(), i);
  }
  check_result(result, eq, text);
  eq.result = with_dots(result, all, all);
  for (Term& term : eq.terms) drop_ones(term);
  return eq;
}

}  // namespace ambit
