// The values in blocks of memory: writes to a whole block, writes to parts of it, and reads.
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>

#include "recorder.h"

namespace ambit::graph::capturing {

Recorder::Content Recorder::join_parts(const Tensor& t, const std::vector<Part>& parts) {
  const DType d = t.dtype();
  const int64_t all = elements_of(t);
  const auto covered = [](const Part& p) {
    int64_t n = 1;
    for (const int64_t length : p.layout.lengths) n *= length;
    return n;
  };
  Content out{"", d, Dims(), t};
  out.sizes.push_back(all);
  int64_t sum = 0;
  for (const Part& p : parts) sum += covered(p);
  const Layout& first = parts[0].layout;
  // Adjacent intervals of one factor are a concatenation.
  size_t dim = 0;
  while (dim < first.factors.size() && first.lengths[dim] == first.factors[dim]) ++dim;
  int64_t next = 0;
  bool is_cat = sum == all;
  json names = json::array();
  for (const Part& p : parts) {
    is_cat = is_cat && p.layout.factors == first.factors && p.layout.starts[dim] == next;
    if (!is_cat) break;
    next += p.layout.lengths[dim];
    names.push_back(one("name", p.name));
  }
  if (is_cat && next == first.factors[dim]) {
    out.sizes = first.factors;
    out.name = call("cat.default",
                    {{"tensors", one("as_tensors", std::move(names))},
                     {"dim", integer(static_cast<int64_t>(dim))}},
                    d, first.factors);
    return out;
  }
  if (sum == all) {
    out.name =
        call("full.default",
             {{"size", ints(out.sizes)}, {"fill_value", number(Scalar(0), d)}, {"dtype", type(d)}},
             d, out.sizes);
  } else {
    refuse("memory that kernels fill as a whole before it is read");
  }
  for (const Part& p : parts) {
    const std::string base = reshaped(out.name, d, out.sizes, p.layout.factors);
    out.sizes = p.layout.factors;
    out.name = scattered(base, d, p);
  }
  return out;
}

std::string Recorder::scattered(const std::string& into, DType d, const Part& part) {
  const Layout& l = part.layout;
  std::vector<std::pair<size_t, std::string>> levels;  // partial dims and their full dims
  std::vector<Dims> sizes_of;
  Dims sizes = l.factors;
  std::string base = into;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (l.lengths[i] == sizes[i]) continue;
    levels.emplace_back(i, base);
    sizes_of.push_back(sizes);
    base = sliced(base, d, sizes, i, l.starts[i], l.lengths[i]);
    sizes[i] = l.lengths[i];
  }
  std::string name = part.name;
  for (size_t i = levels.size(); i-- > 0;) {
    const size_t dim = levels[i].first;
    name = call("slice_scatter.default",
                {{"self", value(levels[i].second)},
                 {"src", value(name)},
                 {"dim", integer(static_cast<int64_t>(dim))},
                 {"start", integer(l.starts[dim])},
                 {"end", integer(l.starts[dim] + l.lengths[dim])}},
                d, sizes_of[i]);
  }
  return name;
}

Recorder::Content& Recorder::content(const Tensor& t) {
  const void* key = t.storage().get();
  if (const auto module = module_of_.find(key); module != module_of_.end())
    module_ = module->second;
  if (const auto parts = parts_.find(key); parts != parts_.end()) {
    const std::vector<Part> all = std::move(parts->second);
    parts_.erase(parts);
    contents_[key] = join_parts(t, all);
  }
  auto found = contents_.find(key);
  if (found == contents_.end()) {
    const int64_t all = elements_of(t);
    const Tensor whole = t.numel() == all && t.is_contiguous() ? t : as_strided(t, all, 1, 0);
    found = contents_.emplace(key, Content{add_constant(whole), t.dtype(), Dims(whole.sizes()), t})
                .first;
  }
  if (found->second.name.empty()) refuse("results that torch.export's functions have, too");
  if (found->second.dtype != t.dtype()) refuse("memory that is read in one dtype");
  return found->second;
}

std::string Recorder::read(const Tensor& t) {
  if (t.numel() == 0) {
    return call("full.default",
                {{"size", ints(t.sizes())},
                 {"fill_value", number(Scalar(0), t.dtype())},
                 {"dtype", type(t.dtype())}},
                t.dtype(), t.sizes());
  }
  return view_of(content(t), t);
}

json Recorder::tensor(const Tensor& t) { return value(read(t)); }

std::string Recorder::as_part(const Tensor& y, const Layout& layout, const std::string& name) {
  Dims packed, order;
  std::vector<size_t> dims = layout.dims;
  std::sort(dims.begin(), dims.end());
  for (const size_t d : dims) packed.push_back(y.sizes()[d]);
  for (const size_t d : layout.dims) {
    order.push_back(std::find(dims.begin(), dims.end(), d) - dims.begin());
  }
  Dims ordered;
  for (const size_t d : layout.dims) ordered.push_back(y.sizes()[d]);
  std::string out = reshaped(name, y.dtype(), y.sizes(), packed);
  out = permuted(out, y.dtype(), packed, order);
  return reshaped(out, y.dtype(), ordered, layout.lengths);
}

void Recorder::store(const Tensor& t, const std::string& name) {
  Content c{name, t.dtype(), Dims(t.sizes()), t};
  if (t.numel() != elements_of(t)) {
    refuse("parameters, buffers and inputs that own their memory");
  }
  if (!t.is_contiguous()) {
    const Layout layout = layout_of(t);
    c.name = as_part(t, layout, name);
    c.sizes = layout.lengths;
  }
  contents_[t.storage().get()] = std::move(c);
}

void Recorder::write(const Tensor& y, const std::string& name) {
  const void* key = y.storage().get();
  if (given_.contains(key)) refuse("a forward that changes no parameter, buffer or input in place");
  if (y.numel() == 0) return;
  if (y.numel() == elements_of(y)) {
    parts_.erase(key);
    return store(y, name);
  }
  const Layout layout = layout_of(y);
  Part part{layout, as_part(y, layout, name)};
  if (!contents_.contains(key)) {
    owners_.push_back(y);
    parts_[key].push_back(std::move(part));
    return;
  }
  Content& c = content(y);
  const std::string base = reshaped(c.name, c.dtype, c.sizes, layout.factors);
  c = Content{scattered(base, c.dtype, part), c.dtype, layout.factors, y};
}

}  // namespace ambit::graph::capturing
