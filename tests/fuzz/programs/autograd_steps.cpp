// Leaves, detached tensors, and gradients.
#include <ambit/autograd.h>
#include <ambit/ops/reduce.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>

#include "generator.h"

namespace fuzz {

using namespace ambit;

namespace {
Tensor& slot(State& s, int i) { return s.slots[static_cast<size_t>(i)]; }
}  // namespace

void Generator::leaf() {
  // Gradients at infinities and NaN differ between libraries.
  const int x = pick(finite_floats(exact()), nullptr);
  if (x < 0) return;
  add(slot_text(x) + ".detach().clone().requires_grad_()",
      [=](State& s) {
        Tensor t = slot(s, x).detach().clone();
        return t.set_requires_grad(true);
      },
      Kind::exact, {x});
}

void Generator::detach() {
  const int x = pick_any();
  if (x < 0) return;
  add(slot_text(x) + ".detach()", [=](State& s) { return slot(s, x).detach(); }, Kind::exact, {x});
}

// Compute the gradients of the sum with respect to every leaf; the result is one of them.
void Generator::backward() {
  const int y = pick(usable(), [&](int i) { return at(i).requires_grad() && !at(i).is_leaf(); });
  const int x = pick(floating(), [&](int i) { return at(i).requires_grad() && at(i).is_leaf(); });
  if (x < 0 || y < 0 || !at(x).is_leaf()) return;
  const bool retain = !random_.one_in(4);
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(state_.slots.size()); ++i) {
    if (at(i).defined() && at(i).requires_grad()) all.push_back(i);
  }
  add(
      fmt::format("backward(r[{}], r[{}], {})", y, x, bool_text(retain)),
      [=](State& s) {
        slot(s, y).sum().backward({}, retain);
        const Tensor& g = slot(s, x).grad();
        return g.defined() ? g.detach().clone() : g;
      },
      Kind::smooth, all);
}

void Generator::grad() {
  const int y = pick(usable(), [&](int i) { return at(i).requires_grad() && !at(i).is_leaf(); });
  const int x = pick(floating(), [&](int i) { return at(i).requires_grad() && i != y; });
  if (x < 0 || y < 0) return;
  const bool create = random_.one_in(3);
  std::vector<int> all;
  for (int i = 0; i < static_cast<int>(state_.slots.size()); ++i) {
    if (at(i).defined() && at(i).requires_grad()) all.push_back(i);
  }
  add(
      fmt::format("torch.autograd.grad(r[{}].sum(), r[{}], retain_graph=True, create_graph={})[0]",
                  y, x, bool_text(create)),
      [=](State& s) {
        return autograd::grad({slot(s, y).sum()}, {slot(s, x)}, {}, true, create)[0];
      },
      Kind::smooth, all);
}

}  // namespace fuzz
