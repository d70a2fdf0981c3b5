// Optimizer: groups and steps. Options are in optimizer_options.cpp, state dicts in
// optimizer_state.cpp, PyTorch's format of options and state in optimizer_checkpoint.cpp.
#include <ambit/autograd.h>
#include <ambit/backend/kernels.h>
#include <ambit/backend/registry.h>
#include <ambit/detail/memory_errors.h>
#include <ambit/detail/record.h>
#include <ambit/error.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/optim/optimizer.h>

#include <ambit/profiler.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <typeinfo>
#include <unordered_set>

namespace ambit::optim {

namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

}  // namespace

OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
OptimizerParamGroup::OptimizerParamGroup(std::vector<Tensor> params,
                                         std::unique_ptr<OptimizerOptions> options)
    : params_(std::move(params)), options_(std::move(options)) {}
OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& o)
    : params_(o.params_),
      options_(o.options_ ? o.options_->clone() : nullptr),
      schedule_(o.schedule_) {}
OptimizerParamGroup::OptimizerParamGroup(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup& OptimizerParamGroup::operator=(OptimizerParamGroup&&) noexcept = default;
OptimizerParamGroup::~OptimizerParamGroup() = default;

void OptimizerParamGroup::set_options(std::unique_ptr<OptimizerOptions> options) {
  options_ = std::move(options);
}

OptimizerOptions& OptimizerParamGroup::options() const {
  if (!options_) throw Error("OptimizerParamGroup: expected a group with options, got one without");
  return *options_;
}

Optimizer::Optimizer(const std::vector<OptimizerParamGroup>& groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)), id_(next_id()) {
  defaults_->check();
  for (const OptimizerParamGroup& group : groups) add_param_group(group);
}
Optimizer::Optimizer(const std::vector<Tensor>& params, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(std::vector<OptimizerParamGroup>{params}, std::move(defaults)) {}

Optimizer::Optimizer(Optimizer&&) noexcept = default;
Optimizer::~Optimizer() = default;

size_t Optimizer::size() const { return parameters().size(); }

const Tensor& OptimizerParamState::operator[](std::string_view name) const {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].name == name) return tensors[i];
  }
  throw Error(fmt::format("OptimizerParamState: expected the name of a state, got \"{}\"", name));
}

int64_t OptimizerParamState::step() const {
  const Tensor& count = (*this)["step"];
  return count.defined() ? count.item().toLong() : 0;
}

void OptimizerParamState::step(int64_t count) {
  const Tensor& known = (*this)["step"];
  if (!known.defined()) {
    throw Error("OptimizerParamState: expected the state of an update, got an empty one");
  }
  known.fill_(count);
}

void Optimizer::update(const Batch&, const OptimizerOptions&) const {
  throw NotImplementedError("step: expected an optimizer that overrides step(), got one without");
}

// --- groups

namespace {

std::string describe(size_t position, const Tensor& param) {
  return param.name().empty() ? fmt::format("parameter {} of the group", position)
                              : "parameter " + param.name();
}

}  // namespace

void Optimizer::check_group(const OptimizerParamGroup& group) const {
  std::unordered_set<const TensorImpl*> seen;
  for (const Tensor& param : parameters()) seen.insert(param.impl());
  for (size_t i = 0; i < group.params().size(); ++i) {
    const Tensor& param = group.params()[i];
    if (!param.defined()) {
      throw Error(fmt::format("add_param_group: expected tensors, got an undefined one at {}", i));
    }
    if (!param.is_leaf()) {
      throw Error(
          fmt::format("add_param_group: expected leaves, got the result of an op at {}", i));
    }
    if (!seen.insert(param.impl()).second) {
      throw Error(fmt::format("add_param_group: expected each parameter once, got {} again",
                              describe(i, param)));
    }
  }
}

void Optimizer::add_param_group(const OptimizerParamGroup& group) {
  typed_memory_errors("add_param_group", [&] { check_and_add(group); });
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  add_param_group(OptimizerParamGroup(parameters));
}

void Optimizer::check_and_add(const OptimizerParamGroup& group) {
  check_group(group);
  OptimizerParamGroup added = group;
  const bool has_own = added.has_options();
  if (!has_own) added.set_options(defaults_->clone());
  OptimizerOptions& options = added.options();
  const OptimizerOptions& defaults = *defaults_;
  if (typeid(options) != typeid(defaults)) {
    throw Error("add_param_group: expected options of this optimizer, got those of another");
  }
  if (has_own) {
    options.inherit(defaults);
    if (defaults.keeps_master_weights()) options.keep_master_weights(true);
  }
  options.check();
  param_groups_.push_back(std::move(added));
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> all;
  for (const OptimizerParamGroup& group : param_groups_) {
    all.insert(all.end(), group.params().begin(), group.params().end());
  }
  return all;
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const OptimizerParamGroup& group : param_groups_) {
    for (const Tensor& param : group.params()) {
      if (!param.grad().defined()) continue;
      Tensor& grad = param.mutable_grad();
      if (set_to_none) {
        grad.reset();
        continue;
      }
      if (grad.requires_grad()) grad = grad.detach();
      grad.zero_();
    }
  }
}

// --- step()

void Optimizer::check_gradient(const char* step, const Tensor& param, const Tensor& grad) {
  check_devices(step, {{"param", param}, {"grad", grad}}, DeviceRule::in_place);
  if (grad.dtype() != param.dtype()) {
    throw DTypeError(fmt::format("{}: expected grad of dtype {}, got {}", step,
                                 ambit::name(param.dtype()), ambit::name(grad.dtype())));
  }
  if (grad.sizes() != param.sizes()) {
    throw ShapeError(fmt::format("{}: expected grad of shape {}, got {}", step, str(param.sizes()),
                                 str(grad.sizes())));
  }
}

// Return whether the parameter has a float32 master copy.
bool Optimizer::has_master(const Tensor& param, const OptimizerOptions& options) {
  return options.keeps_master_weights() && is_reduced_floating(param.dtype());
}

// Create or update the float32 copy. It is stale if the parameter was modified since it was last
// written from the copy, for example by the program or by loading a file.
void Optimizer::keep_master(const Tensor& param, State& state) {
  const Tensor& master = state.master;
  const uint32_t version = param.version(), replaced = param.impl()->replaced;
  if (master.defined() && state.master_version == version && state.master_replaced == replaced) {
    return;
  }
  const bool is_rounded = master.defined() && master.sizes() == param.sizes() &&
                          (param.is_meta() || equal(master.to(param.dtype()), param.detach()));
  if (!is_rounded) state.master = param.detach().to(kFloat32).contiguous();
  state.master_version = version;
  state.master_replaced = replaced;
}

// Move the state to the parameter's current device and dtype. These may change between steps, the
// shape may not.
void Optimizer::move_state_to_param(const Tensor& param, State& state,
                                    const OptimizerOptions& options) const {
  const auto description = state_tensors();
  const bool has_copy = has_master(param, options);
  if (state.master.defined()) {
    state.master = has_copy ? state.master.to(param.device()) : Tensor();
  }
  std::array<Tensor, kMaxState> moved = state.tensors;
  for (size_t i = 0; i < description.size(); ++i) {
    Tensor& t = moved[i];
    if (!description[i].like_param || !t.defined()) continue;
    if (t.sizes() != param.sizes()) {
      throw ShapeError(fmt::format("{}: expected {} of shape {}, got {}", step_name(),
                                   description[i].name, str(param.sizes()), str(t.sizes())));
    }
    t = t.to(param.device(), has_copy ? kFloat32 : param.dtype());
  }
  state.tensors = std::move(moved);
}

// If groups were edited since the last step, look the state up in the map.
Optimizer::State& Optimizer::state_of(const Work& work) {
  state_at_.resize(std::max(state_at_.size(), work.position + 1));
  State*& state = state_at_[work.position];
  if (!state || !state->param.is_same(*work.param)) {
    state = &state_[work.param->impl()];
    state->param = *work.param;
    state->names = state_tensors();
  }
  return *state;
}

// State created while a graph is captured would be recreated at each replay. Refuse it, and restore
// the previous state.
void Optimizer::expect_lasting(const Tensor& param, State& state, const State& before) {
  if (param.is_cpu() || param.is_meta()) return;
  const auto is_new = [](const Tensor& t, const Tensor& old) {
    return t.defined() && !t.is_same(old);
  };
  bool made = is_new(state.master, before.master);
  for (size_t i = 0; i < kMaxState; ++i) made |= is_new(state.tensors[i], before.tensors[i]);
  if (!made) return;
  try {
    backend_of(param.device())
        .expect_repeatable(param.device().index(),
                           "an optimizer's new state, which would begin anew at each replay");
  } catch (...) {
    state = before;
    throw;
  }
}

// All checks that fail by a mistake of the user are done here, before the first update.
void Optimizer::plan() {
  work_.clear();
  if (is_shared_) state_at_.clear();
  size_t position = 0;
  for (const OptimizerParamGroup& group : param_groups_) {
    OptimizerOptions& options = group.options();
    options.read_lr();
    options.check();
    for (const Tensor& param : group.params()) {
      if (param.grad().defined()) {
        check_gradient(step_name(), param, param.grad());
        const bool is_refused = param.storage()->is_read_only() || param.is_inference();
        if (is_refused) check_in_place(step_name(), param);  // throws, except in InferenceMode
        work_.push_back({&param, &options, position});
      }
      ++position;
    }
  }
  for (Work& work : work_) {
    work.state = &state_of(work);
    const State before = work.param->is_cpu() ? State() : *work.state;
    move_state_to_param(*work.param, *work.state, *work.options);
    if (has_master(*work.param, *work.options)) keep_master(*work.param, *work.state);
    prepare(work.updated(), *work.state, *work.options);
    expect_lasting(*work.param, *work.state, before);
    work.batch_key = batch_key(*work.state);
  }
}

bool Optimizer::Work::can_batch_with(const Work& o) const {
  return options == o.options && batch_key == o.batch_key && param->device() == o.param->device() &&
         updated().dtype() == o.updated().dtype();
}

void Optimizer::Batch::clear() {
  params.clear();
  grads.clear();
  for (auto& list : state) list.clear();
  for (auto& list : scratch) list.clear();
}

// All allocations of an update are here.
void Optimizer::gather(std::span<const Work> work, Batch& batch) const {
  batch.clear();
  batch.batch_key = work.front().batch_key;
  const auto add = [](std::vector<Tensor>& list, Tensor t) {
    // Optimizer kernels need row-major elements; at this point the conversion may still fail.
    if (t.defined() && !t.is_meta()) t.storage()->make_row_major();
    list.push_back(std::move(t));
  };
  for (const Work& w : work) {
    if (!w.param->is_contiguous()) check_in_place(step_name(), *w.param);
    add(batch.params, w.updated().contiguous());
    const Tensor grad = w.param->grad().to(w.updated().dtype()).contiguous();
    add(batch.grads, w.options->maximizes() ? grad.neg() : grad);
    for (size_t i = 0; i < kMaxState; ++i) add(batch.state[i], w.state->tensors[i]);
  }
  const size_t scratch = scratch_tensors(*work.front().options);
  if (scratch == 0) return;
  int64_t most = 0;
  for (const Tensor& p : batch.params) most = std::max(most, p.numel());
  for (size_t i = 0; i < scratch; ++i) {
    const Tensor room = empty({most}, batch.params[0].options());
    for (const Tensor& p : batch.params) {
      batch.scratch[i].push_back(room.narrow(0, 0, p.numel()).view(p.sizes()));
    }
  }
}

void Optimizer::apply(const Update& update) const {
  this->update(update.batch, *update.work.front().options);
  for (size_t i = 0; i < update.work.size(); ++i) {
    Tensor param = *update.work[i].param;
    const Tensor& updated = update.batch.params[i];
    if (!updated.is_same(param)) kernels::copy(param, updated);
    param.bump_version();
    update.work[i].state->fresh = false;
    update.work[i].state->master_version = param.version();
  }
}

Tensor Optimizer::step(LossClosure closure) {
  const profiler::RecordFunction scope(
      profiler::is_enabled() ? fmt::format("Optimizer.step#{}", step_name()) : "");
  Tensor loss;
  if (closure) {
    const AutoGradMode on(true);
    loss = closure();
  }
  const NoGradGuard no_grad;
  size_t count = 0;  // elements of updates_ in use; the others keep their memory for later steps
  const auto clear = [this](void*) {  // release the gradients
    for (Update& update : updates_) update.batch.clear();
  };
  const std::unique_ptr<void, decltype(clear)> at_end(this, clear);
  typed_memory_errors(step_name(), [&] {
    plan();
    for (auto first = work_.begin(); first != work_.end(); ++count) {
      const Work leader = *first;
      const auto last = std::partition(
          first, work_.end(), [&](const Work& work) { return work.can_batch_with(leader); });
      if (count == updates_.size()) updates_.emplace_back();
      updates_[count].work = {first, last};
      gather(updates_[count].work, updates_[count].batch);
      first = last;
    }
    for (size_t i = 0; i < count; ++i) apply(updates_[i]);
  });
  return loss;
}

}  // namespace ambit::optim
