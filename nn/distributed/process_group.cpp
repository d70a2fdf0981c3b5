// Converts between tensors and transfers of contiguous memory.
#include <ambit/autograd.h>
#include <ambit/backend/op.h>
#include <ambit/backend/registry.h>
#include <ambit/distributed/process_group.h>
#include <ambit/ops/creation.h>
#include <ambit/ops/elementwise.h>
#include <ambit/ops/shape.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

namespace ambit::distributed {
namespace {

using Tensors = std::vector<Tensor>;

double seconds(Milliseconds t) { return static_cast<double>(t.count()) / 1000; }

// The inputs or outputs of a call, and the contiguous memory used for the transfer: that of the
// only tensor, or a staging buffer.
struct Side {
  std::vector<Tensor> tensors;
  Tensor memory = {};  // undefined: none
  bool is_staged = false;

  Tensor place(size_t i) const {
    const Tensor& t = tensors[i];
    return memory.narrow(0, static_cast<int64_t>(i) * t.numel(), t.numel()).view(t.sizes());
  }
  void* address() const { return memory.defined() ? memory.data_ptr() : nullptr; }
};

// Prepare the memory of one side of the transfer. The memory has the transfer's dtype, which
// differs from the dtype of the tensors if that is too narrow for sums. `is_kept`: copy the result
// to the tensors.
void lay_out(Side& side, const Communicator& communicator, const Transfer& transfer, bool is_read,
             bool is_kept = true) {
  if (side.tensors.empty()) return;
  const Tensor& first = side.tensors[0];
  const Device device = first.device();
  const bool is_direct = communicator.takes(device, transfer);
  side.is_staged = !is_direct || !is_kept || side.tensors.size() > 1 || !first.is_contiguous() ||
                   first.dtype() != transfer.dtype;
  if (side.is_staged) {
    const int64_t all = transfer.count * static_cast<int64_t>(side.tensors.size());
    side.memory = empty({all}, TensorOptions(transfer.dtype).device(is_direct ? device : Device()));
    // Pinned memory allows the fastest copies.
    if (!is_direct && !device.is_cpu() && all > 0) side.memory = side.memory.pin_memory(device);
    for (size_t i = 0; is_read && i < side.tensors.size(); ++i) {
      side.place(i).copy_(side.tensors[i]);
    }
  } else {
    side.memory = first.detach();
  }
  // A device communicator orders transfers after queued work on the device; other communicators
  // need this wait.
  const Device home = side.memory.device();
  if (!home.is_cpu() && communicator.device().is_cpu()) ambit::synchronize(home);
}

// Copy the results from the staging buffer to the tensors.
void bring_back(const Side& side) {
  const NoGradGuard no_grad;
  for (size_t i = 0; i < side.tensors.size(); ++i) {
    const Tensor t = side.tensors[i].detach();
    side.is_staged ? void(t.copy_(side.place(i))) : t.bump_version();
  }
}

// Errors: Error unless there is one tensor for each of `ranks` ranks.
void expect(const char* call, const char* side, const Tensors& tensors, int ranks) {
  if (tensors.size() == static_cast<size_t>(ranks)) return;
  throw Error(
      fmt::format("{}: expected {} {} on this rank, got {}", call, ranks, side, tensors.size()));
}

}  // namespace

// The arguments of a collective.
struct ProcessGroup::Call {
  Collective what;
  std::vector<Tensor> outs, ins;
  int peer = 0;
  ReduceOp op = ReduceOp::SUM;
  int tag = 0;

  std::string text() const { return name(what); }
  const Tensor& any() const { return outs.empty() ? ins[0] : outs[0]; }
  bool is_empty() const { return outs.empty() && ins.empty(); }
  void check(int rank, int size) const;
  // Return the part that must be equal on all ranks: "allreduce(float32[3], SUM, root 0)".
  std::string str() const;
};

void ProcessGroup::Call::check(int rank, int size) const {
  if (peer < 0 || peer >= size) {
    throw Error(fmt::format("{}: expected a rank below {}, got {}", text(), size, peer));
  }
  if (is_between_two(what) && peer == rank) {
    throw Error(fmt::format("{}: expected a rank other than this one, got {}", text(), peer));
  }
  if (is_empty()) return;
  for (const auto* side : {&outs, &ins}) {
    for (const Tensor& t : *side) {
      if (!t.defined()) throw Error(fmt::format("{}: expected a tensor, got none", text()));
      check_devices(text().c_str(), {{"tensor", any()}, {"tensor", t}}, DeviceRule::in_place);
      if (t.device().is_meta()) {
        throw BackendError(
            fmt::format("{}: expected a tensor with memory, got one on meta", text()));
      }
      if (t.dtype() != any().dtype()) {
        throw DTypeError(fmt::format("{}: expected one dtype, got {} and {}", text(),
                                     ambit::name(any().dtype()), ambit::name(t.dtype())));
      }
      if (t.sizes() != any().sizes()) {
        throw ShapeError(fmt::format("{}: expected one size, got {} and {}", text(),
                                     ambit::str(any().sizes()), ambit::str(t.sizes())));
      }
    }
  }
  if (ambit::is_complex(any().dtype()) && (op == ReduceOp::MIN || op == ReduceOp::MAX)) {
    throw DTypeError(fmt::format("{}: expected numbers with an order for {}, got {}", text(),
                                 name(op), ambit::name(any().dtype())));
  }
  const bool is_real = ambit::is_differentiable(any().dtype());
  const bool is_bits = op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR;
  if (is_real ? is_bits : op == ReduceOp::AVG) {
    throw DTypeError(fmt::format("{}: expected {} for {}, got {}", text(),
                                 is_real ? "integers or bool" : "a floating-point dtype", name(op),
                                 ambit::name(any().dtype())));
  }
}

std::string ProcessGroup::Call::str() const {
  if (is_empty()) return text() + "()";
  return fmt::format("{}({}{}, {}, root {})", text(), ambit::name(any().dtype()),
                     ambit::str(any().sizes()), name(op), peer);
}

ProcessGroup::ProcessGroup(std::shared_ptr<Communicator> communicator, Milliseconds timeout)
    : communicator_(std::move(communicator)), timeout_(timeout) {
  const char* const debug = std::getenv("AMBIT_DISTRIBUTED_DEBUG");
  compares_ = debug && std::string_view(debug) != "0" && *debug;
}

void ProcessGroup::abort(const std::string& reason) noexcept { communicator_->abort(reason); }

// Compare the arguments of all ranks first, because a mismatch could hang the collective.
void ProcessGroup::compare(const Call& call) {
  constexpr size_t kLength = 256;  // longer texts are truncated
  const Tensor mine = zeros({int64_t{kLength}}, TensorOptions(kUInt8).device(kCPU));
  call.str().copy(static_cast<char*>(mine.data_ptr()), kLength - 1);
  Call exchange{Collective::allgather, {}, {mine.to(communicator_->device())}};
  for (int r = 0; r < size(); ++r) exchange.outs.push_back(empty_like(exchange.ins[0]));
  const WorkPtr work = begin(exchange);
  work->what_ = fmt::format("{} (comparing the calls of all ranks)", call.text());
  work->wait();
  const auto text = [&](size_t rank) {
    return std::string(static_cast<char*>(exchange.outs[rank].cpu().data_ptr()));
  };
  for (size_t r = 1; r < exchange.outs.size(); ++r) {
    if (text(r) == text(0)) continue;
    const std::string reason =
        fmt::format("{}: expected the same call on all ranks, got {} on rank 0 and {} on rank {}",
                    call.text(), text(0), text(r), r);
    communicator_->abort(reason);
    throw DistributedError(reason);
  }
}

WorkPtr ProcessGroup::start(const Call& call) {
  call.check(rank(), size());
  const Device home = communicator_->device();
  if (!call.is_empty() && !home.is_cpu() && call.any().device() != home) {
    const Tensor there = empty({0}, TensorOptions().device(home));
    check_devices(call.text().c_str(), {{"process group", there}, {"tensor", call.any()}});
  }
  // For gather and scatter, ranks other than root have only one side, so the total size is
  // compared.
  if (compares_ && !is_between_two(call.what)) compare(call);
  return begin(call);
}

WorkPtr ProcessGroup::begin(const Call& call) {
  const NoGradGuard no_grad;
  struct Memory {
    Side out, in;
  };
  const auto memory = std::make_shared<Memory>(Memory{{call.outs}, {call.ins}});
  const bool is_in_place = call.ins.empty(), is_root = rank() == call.peer;
  const bool is_mean = call.op == ReduceOp::AVG;
  Transfer transfer{.what = call.what,
                    .op = is_mean ? ReduceOp::SUM : call.op,
                    .dtype = call.is_empty() ? kUInt8 : call.any().dtype(),
                    .count = call.is_empty() ? 0 : call.any().numel(),
                    .peer = call.peer,
                    .tag = call.tag,
                    .memory = memory};
  // Reduced floating-point types are summed in float32; device communicators do this themselves.
  if (is_reduction(call.what) && is_reduced_floating(transfer.dtype) &&
      communicator_->device().is_cpu()) {
    transfer.dtype = kFloat32;
  }
  // The contents of the output of reduce on other ranks are unspecified, so they are discarded.
  const bool has_result = call.what != Collective::reduce || is_root;
  const bool is_read = is_in_place && call.what != Collective::recv &&
                       (call.what != Collective::broadcast || is_root);
  lay_out(memory->out, *communicator_, transfer, is_read, has_result);
  lay_out(memory->in, *communicator_, transfer, true);
  transfer.in = (is_in_place ? memory->out : memory->in).address();
  transfer.out = memory->out.address();
  WorkPtr work(new Work);
  work->communicator_ = communicator_;
  work->what_ = call.text();
  if (is_between_two(call.what)) {
    work->peer_ = call.peer;
  } else {
    work->number_ = ++number_;
  }
  work->timeout_ = timeout_;
  if (has_result) {
    work->results_ = call.outs;
    work->finish_ = [memory, is_mean, size = size()] {
      if (is_mean && memory->out.memory.defined()) memory->out.memory.div_(size);
      bring_back(memory->out);
    };
  }
  work->request_ = communicator_->start(transfer);
  return work;
}

WorkPtr ProcessGroup::broadcast(const Tensor& tensor, int root) {
  return start({Collective::broadcast, {tensor}, {}, root});
}
WorkPtr ProcessGroup::allreduce(const Tensor& tensor, ReduceOp op) {
  return start({Collective::allreduce, {tensor}, {}, 0, op});
}
WorkPtr ProcessGroup::reduce(const Tensor& tensor, int root, ReduceOp op) {
  return start({Collective::reduce, {tensor}, {}, root, op});
}
WorkPtr ProcessGroup::allgather(const Tensors& outputs, const Tensor& input) {
  expect("allgather", "outputs", outputs, size());
  return start({Collective::allgather, outputs, {input}});
}
WorkPtr ProcessGroup::gather(const Tensors& outputs, const Tensor& input, int root) {
  expect("gather", "outputs", outputs, rank() == root ? size() : 0);
  return start({Collective::gather, outputs, {input}, root});
}
WorkPtr ProcessGroup::scatter(const Tensor& output, const Tensors& inputs, int root) {
  expect("scatter", "inputs", inputs, rank() == root ? size() : 0);
  return start({Collective::scatter, {output}, inputs, root});
}
WorkPtr ProcessGroup::reduce_scatter(const Tensor& output, const Tensors& inputs, ReduceOp op) {
  expect("reduce_scatter", "inputs", inputs, size());
  return start({Collective::reduce_scatter, {output}, inputs, 0, op});
}
WorkPtr ProcessGroup::alltoall(const Tensors& outputs, const Tensors& inputs) {
  expect("alltoall", "outputs", outputs, size());
  expect("alltoall", "inputs", inputs, size());
  return start({Collective::alltoall, outputs, inputs});
}
WorkPtr ProcessGroup::send(const Tensor& tensor, int destination, int tag) {
  return start({Collective::send, {}, {tensor}, destination, ReduceOp::SUM, tag});
}
WorkPtr ProcessGroup::recv(const Tensor& tensor, int source, int tag) {
  return start({Collective::recv, {tensor}, {}, source, ReduceOp::SUM, tag});
}
WorkPtr ProcessGroup::barrier() { return start({Collective::barrier, {}, {}}); }

std::shared_ptr<ProcessGroup> ProcessGroup::new_group(const std::vector<int>& ranks) {
  std::set<int> seen;
  for (const int r : ranks) {
    if (r < 0 || r >= size() || !seen.insert(r).second) {
      throw Error(fmt::format("new_group: expected different ranks below {}, got [{}]", size(),
                              fmt::join(ranks, ", ")));
    }
  }
  barrier()->wait();  // so that no rank waits for a rank that does not take part
  ++number_;
  std::shared_ptr<Communicator> part = communicator_->split(ranks);
  return part ? std::make_shared<ProcessGroup>(std::move(part), timeout_) : nullptr;
}

std::exception_ptr Work::exception() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

// Return whether the request has ended; the caller holds the lock. A failure is stored in error_.
bool Work::finish_within(Milliseconds limit) {
  if (error_ || !request_) return true;
  try {
    if (!request_->wait(limit)) return false;
    if (finish_) finish_();
  } catch (...) {
    error_ = std::current_exception();
  }
  request_.reset();
  finish_ = nullptr;
  return true;
}

bool Work::is_completed() {
  const std::lock_guard lock(mutex_);
  return finish_within(Milliseconds(0));
}

// Describe the ranks that have not joined within that time.
std::string Work::missing(Milliseconds limit) const {
  if (peer_ >= 0) {
    return fmt::format("{}: expected rank {} to take part within {:g} s, got no call from it",
                       what_, peer_, seconds(limit));
  }
  std::vector<std::string> ranks;
  // This is long enough for an answer over any network, and short compared with a sensible timeout.
  for (const Absence& a : communicator_->absent(number_, std::max(limit / 4, Milliseconds(500)))) {
    ranks.push_back(fmt::format("rank {} ({})", a.rank, a.reason));
  }
  return fmt::format(
      "{}: expected all ranks in collective {} within {:g} s, got {}{}", what_, number_,
      seconds(limit),
      ranks.empty() ? "no result, though no rank is known to be missing" : "all but ",
      fmt::join(ranks, ", "));
}

bool Work::wait(std::optional<Milliseconds> timeout) {
  const std::lock_guard lock(mutex_);
  const Milliseconds limit = timeout.value_or(timeout_);
  if (!finish_within(limit)) {
    const std::string reason = missing(limit);
    communicator_->abort(reason);
    error_ = std::make_exception_ptr(DistributedError(reason));
    request_.reset();
    finish_ = nullptr;
  }
  if (error_) std::rethrow_exception(error_);
  return true;
}

}  // namespace ambit::distributed
