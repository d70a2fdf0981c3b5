#include "lbfgs_history.h"

#include <ambit/detail/printable.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace ambit::optim {
namespace {

const TensorOptions kOnHost = TensorOptions(kFloat64).device(kCPU);

// PyTorch stores numbers or one-element tensors.
double number(const Value& v) {
  return v.kind() == Value::Kind::tensor ? v.to_tensor().item<double>() : v.to_double();
}

Value list_of(const std::deque<Tensor>& tensors) {
  Value::List list;
  for (const Tensor& t : tensors) list.emplace_back(t.detach());
  return Value::list(std::move(list));
}

std::deque<Tensor> tensors_of(const Value& list) {
  std::deque<Tensor> tensors;
  for (const Value& v : list.items()) tensors.push_back(v.to_tensor());
  return tensors;
}

Tensor stacked(const std::deque<Tensor>& rows, const Tensor& like) {
  if (rows.empty()) return empty({0, like.numel()}, like.options());
  return stack(std::vector<Tensor>(rows.begin(), rows.end()));
}

std::deque<Tensor> unstacked(const Tensor& rows) {
  if (rows.dim() != 2) {
    throw Error(fmt::format("load_state_dict: expected a matrix of the history, got sizes {}",
                            str(rows.sizes())));
  }
  const auto list = rows.unbind(0);
  return {list.begin(), list.end()};
}

}  // namespace

Value LBFGS::History::to_value() const {
  Value::Dict dict{{"func_evals", func_evals}, {"n_iter", n_iter}};
  if (!d.defined()) return Value::dict(std::move(dict));
  Value::List rho;
  for (const double r : ro) rho.emplace_back(scalar_tensor(r, kOnHost));
  const std::pair<const char*, Value> rest[] = {{"d", d.detach()},
                                                {"t", t},
                                                {"old_dirs", list_of(old_dirs)},
                                                {"old_stps", list_of(old_stps)},
                                                {"ro", Value::list(std::move(rho))},
                                                {"H_diag", scalar_tensor(H_diag, kOnHost)},
                                                {"prev_flat_grad", prev_flat_grad.detach()},
                                                {"prev_loss", prev_loss}};
  for (const auto& [name, value] : rest) dict.emplace_back(name, value);
  return Value::dict(std::move(dict));
}

LBFGS::History LBFGS::History::of(const Value& value) {
  History h;
  h.func_evals = value["func_evals"].to_int();
  h.n_iter = value["n_iter"].to_int();
  const Value* direction = value.find("d");
  if (!direction || direction->is_none()) return h;
  h.d = direction->to_tensor();
  h.t = number(value["t"]);
  h.prev_loss = number(value["prev_loss"]);
  h.H_diag = number(value["H_diag"]);
  h.prev_flat_grad = value["prev_flat_grad"].to_tensor();
  h.old_dirs = tensors_of(value["old_dirs"]);
  h.old_stps = tensors_of(value["old_stps"]);
  for (const Value& v : value["ro"].items()) h.ro.push_back(number(v));
  return h;
}

StateDict LBFGS::History::to_state_dict() const {
  const auto count = [](int64_t n) { return full({}, n, TensorOptions(kInt64).device(kCPU)); };
  StateDict dict{{"0.func_evals", count(func_evals)}, {"0.n_iter", count(n_iter)}};
  if (!d.defined()) return dict;
  const Tensor rho = empty({static_cast<int64_t>(ro.size())}, kOnHost);
  std::copy(ro.begin(), ro.end(), rho.data_ptr<double>());
  dict.insert(dict.end(), {{"0.d", d.detach()},
                           {"0.t", scalar_tensor(t, kOnHost)},
                           {"0.old_dirs", stacked(old_dirs, d)},
                           {"0.old_stps", stacked(old_stps, d)},
                           {"0.ro", rho},
                           {"0.H_diag", scalar_tensor(H_diag, kOnHost)},
                           {"0.prev_flat_grad", prev_flat_grad.detach()},
                           {"0.prev_loss", scalar_tensor(prev_loss, kOnHost)}});
  return dict;
}

LBFGS::History LBFGS::History::of(const StateDict& dict) {
  static constexpr const char* kNames[] = {"0.func_evals",     "0.n_iter",   "0.d",  "0.t",
                                           "0.old_dirs",       "0.old_stps", "0.ro", "0.H_diag",
                                           "0.prev_flat_grad", "0.prev_loss"};
  const size_t known = std::size(kNames);
  std::vector<Tensor> found(known);
  std::string wrong;
  for (const auto& [key, value] : dict) {
    const size_t i = static_cast<size_t>(std::find(kNames, kNames + known, key) - kNames);
    if (i == known || found[i].defined()) {
      wrong += fmt::format("\n  {}: {}", printable(key), i == known ? "unexpected" : "given twice");
    } else {
      found[i] = value;
    }
  }
  const size_t needed = dict.size() <= 2 ? 2 : known;  // before the first iteration some are absent
  for (size_t i = 0; i < needed; ++i) {
    if (!found[i].defined()) wrong += fmt::format("\n  {}: missing", kNames[i]);
  }
  if (!wrong.empty()) throw Error("load_state_dict: expected LBFGS's state, got" + wrong);
  History h;
  h.func_evals = found[0].item<int64_t>();
  h.n_iter = found[1].item<int64_t>();
  if (needed == 2) return h;
  h.d = found[2];
  h.t = found[3].item<double>();
  h.old_dirs = unstacked(found[4]);
  h.old_stps = unstacked(found[5]);
  const Tensor rho = found[6].to(kOnHost).contiguous().flatten();
  h.ro.assign(rho.data_ptr<double>(), rho.data_ptr<double>() + rho.numel());
  h.H_diag = found[7].item<double>();
  h.prev_flat_grad = found[8];
  h.prev_loss = found[9].item<double>();
  return h;
}

}  // namespace ambit::optim
