// Transfers as MPI's non-blocking calls. MPI counts are int: larger transfers use one element of a
// derived datatype, larger reductions are split into pieces.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include <ambit/backend/plugin.h>

#include "runtime.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace ambit::distributed::mpi {
namespace {

// Return the number of elements per call, which tests set by $AMBIT_MPI_PIECE.
int64_t piece_size() {
  constexpr int64_t kMost = int64_t{1} << 30;
  const char* const text = std::getenv("AMBIT_MPI_PIECE");
  return text ? std::clamp<int64_t>(std::atoll(text), 1, kMost) : kMost;
}

// Reduced floating-point types are only copied, not reduced.
MPI_Datatype type_of(DType dtype) {
  static const std::map<DType, MPI_Datatype> types{{kBool, MPI_C_BOOL},
                                                   {kUInt8, MPI_UINT8_T},
                                                   {kInt8, MPI_INT8_T},
                                                   {kInt16, MPI_INT16_T},
                                                   {kInt32, MPI_INT32_T},
                                                   {kInt64, MPI_INT64_T},
                                                   {kFloat32, MPI_FLOAT},
                                                   {kFloat64, MPI_DOUBLE},
                                                   {kFloat16, MPI_INT16_T},
                                                   {kBFloat16, MPI_INT16_T},
                                                   {kUInt16, MPI_UINT16_T},
                                                   {kUInt32, MPI_UINT32_T},
                                                   {kUInt64, MPI_UINT64_T},
                                                   {kComplexFloat, MPI_C_FLOAT_COMPLEX},
                                                   {kComplexDouble, MPI_C_DOUBLE_COMPLEX}};
  return types.at(dtype);
}

// MPI does not define the maximum of a number and NaN; here it is NaN, as in max().
template <ReduceOp op, DType dtype>
MPI_Op make_op() {
  MPI_Op made = MPI_OP_NULL;
  const auto fold = [](void* from, void* into, int* count, MPI_Datatype*) {
    combine(op, dtype, into, from, *count);
  };
  check(MPI_Op_create(fold, 1, &made), "MPI_Op_create");
  return made;
}

MPI_Op op_of(ReduceOp op, DType dtype) {
  static const std::map<std::pair<ReduceOp, DType>, MPI_Op> with_nan{
      {{ReduceOp::MIN, kFloat32}, make_op<ReduceOp::MIN, kFloat32>()},
      {{ReduceOp::MAX, kFloat32}, make_op<ReduceOp::MAX, kFloat32>()},
      {{ReduceOp::MIN, kFloat64}, make_op<ReduceOp::MIN, kFloat64>()},
      {{ReduceOp::MAX, kFloat64}, make_op<ReduceOp::MAX, kFloat64>()}};
  if (const auto own = with_nan.find({op, dtype}); own != with_nan.end()) return own->second;
  static const std::map<ReduceOp, std::pair<MPI_Op, MPI_Op>> ops{
      // operations for numbers and for bool
      {ReduceOp::SUM, {MPI_SUM, MPI_LOR}},    {ReduceOp::PRODUCT, {MPI_PROD, MPI_LAND}},
      {ReduceOp::MIN, {MPI_MIN, MPI_LAND}},   {ReduceOp::MAX, {MPI_MAX, MPI_LOR}},
      {ReduceOp::BAND, {MPI_BAND, MPI_LAND}}, {ReduceOp::BOR, {MPI_BOR, MPI_LOR}},
      {ReduceOp::BXOR, {MPI_BXOR, MPI_LXOR}}};
  return dtype == kBool ? ops.at(op).second : ops.at(op).first;
}

// Starts the MPI calls of one operation.
class Starter {
 public:
  explicit Starter(Operation& o) : o_(o), t_(o.transfer), comm_(o.group->comm) {}
  void move();
  void reduce();

 private:
  int64_t bytes(int64_t elements) const {
    return elements * static_cast<int64_t>(element_size(t_.dtype));
  }
  char* at(const void* base, int64_t element) const {
    return const_cast<char*>(static_cast<const char*>(base)) + bytes(element);
  }
  MPI_Request* next() { return &o_.requests.emplace_back(MPI_REQUEST_NULL); }
  void check(int code) const { mpi::check(code, name(t_.what)); }
  MPI_Datatype make_share() const;
  // Call f(first element, count) for each piece of this rank's elements; once if there are none,
  // since the call still synchronises.
  template <class F>
  void in_pieces(const F& f) const {
    int64_t first = 0;
    do {
      const auto n = static_cast<int>(std::min(piece_, t_.count - first));
      f(first, n);
      first += n;
    } while (first < t_.count);
  }
  void reduce_to(int root, const void* in);

  Operation& o_;
  const Transfer& t_;
  const MPI_Comm comm_;
  const int64_t piece_ = piece_size();
  const MPI_Datatype type_ = type_of(t_.dtype);
  const MPI_Op op_ = op_of(t_.op, t_.dtype);
};

// Return a datatype whose single element holds all elements of this rank: pieces, and the rest.
MPI_Datatype Starter::make_share() const {
  const auto pieces = static_cast<int>(t_.count / piece_);
  const auto rest = static_cast<int>(t_.count % piece_);
  MPI_Datatype piece = MPI_DATATYPE_NULL, share = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(piece_), type_, &piece));
  const int counts[] = {pieces, rest};
  const MPI_Aint places[] = {0, bytes(pieces * piece_)};
  const MPI_Datatype types[] = {piece, type_};
  check(MPI_Type_create_struct(2, counts, places, types, &share));
  check(MPI_Type_commit(&share));
  check(MPI_Type_free(&piece));
  return share;
}

void Starter::move() {
  // For copies, the total count of all ranks must also fit in int.
  const bool is_large = t_.count * o_.group->size > piece_;
  MPI_Datatype type = is_large ? make_share() : type_;
  const int n = is_large ? 1 : static_cast<int>(t_.count), peer = t_.peer;
  const bool is_root = o_.group->rank == peer;
  const auto start = [&] {
    switch (t_.what) {
      case Collective::broadcast:
        return MPI_Ibcast(t_.out, n, type, peer, comm_, next());
      case Collective::allgather:
        return MPI_Iallgather(t_.in, n, type, t_.out, n, type, comm_, next());
      case Collective::alltoall:
        return MPI_Ialltoall(t_.in, n, type, t_.out, n, type, comm_, next());
      case Collective::gather:
        return MPI_Igather(t_.in, n, type, is_root ? t_.out : nullptr, n, type, peer, comm_,
                           next());
      case Collective::scatter:
        return MPI_Iscatter(is_root ? t_.in : nullptr, n, type, t_.out, n, type, peer, comm_,
                            next());
      case Collective::send:
        return MPI_Isend(t_.in, n, type, peer, t_.tag, comm_, next());
      case Collective::recv:
        return MPI_Irecv(t_.out, n, type, peer, t_.tag, comm_, next());
      default:
        return MPI_Ibarrier(comm_, next());
    }
  };
  check(start());
  if (is_large) check(MPI_Type_free(&type));  // MPI frees it when the transfers have completed
}

void Starter::reduce_to(int root, const void* in) {
  const bool is_root = o_.group->rank == root;
  in_pieces([&](int64_t first, int n) {
    const void* from = in == t_.out && is_root ? MPI_IN_PLACE : at(in, first);
    void* const to = is_root ? at(t_.out, first) : nullptr;
    check(MPI_Ireduce(from, to, n, type_, op_, root, comm_, next()));
  });
}

void Starter::reduce() {
  const int size = o_.group->size;
  if (t_.what == Collective::reduce) return reduce_to(t_.peer, t_.in);
  if (t_.what == Collective::allreduce) {
    return in_pieces([&](int64_t first, int n) {
      check(MPI_Iallreduce(MPI_IN_PLACE, at(t_.out, first), n, type_, op_, comm_, next()));
    });
  }
  if (t_.count * size <= piece_) {
    const auto n = static_cast<int>(t_.count);
    return check(MPI_Ireduce_scatter_block(t_.in, t_.out, n, type_, op_, comm_, next()));
  }
  for (int r = 0; r < size; ++r) reduce_to(r, at(t_.in, r * t_.count));
}

class MpiRequest final : public Request {
 public:
  explicit MpiRequest(std::shared_ptr<Operation> o) : operation_(std::move(o)) {}
  bool wait(Milliseconds limit) override {
    const auto is_over = [&] { return operation_->is_done || !operation_->error.empty(); };
    if (!Runtime::of_process().drive(limit, is_over)) return false;
    if (!operation_->error.empty()) throw DistributedError(operation_->error);
    return true;
  }

 private:
  std::shared_ptr<Operation> operation_;
};

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(std::shared_ptr<Group> group) : group_(std::move(group)) {}
  ~MpiCommunicator() override {
    if (group_ == runtime_.world()) {
      runtime_.leave_world();
    } else {
      const auto held = runtime_.lock();
      runtime_.leave(*group_);
    }
  }
  int rank() const override { return group_->rank; }
  int size() const override { return group_->size; }
  bool takes(Device d, const Transfer& t) const override {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    // Open MPI can only copy CUDA memory: its non-blocking reductions compute on the host, and
    // crash (open-mpi/ompi, issues 9845 and 12045).
    if (d.is_cuda()) return !is_reduction(t.what) && MPIX_Query_cuda_support() == 1;
#endif
    return d.is_cpu();
  }

  std::unique_ptr<Request> start(const Transfer& transfer) override {
    auto operation = std::make_shared<Operation>();
    operation->group = group_;
    operation->transfer = transfer;
    const auto held = runtime_.lock();
    if (!group_->failure.empty()) throw DistributedError(group_->failure);
    if (!is_between_two(transfer.what)) operation->number = ++group_->begun;
    Starter starter(*operation);
    is_reduction(transfer.what) ? starter.reduce() : starter.move();
    runtime_.begin(operation);
    return std::make_unique<MpiRequest>(std::move(operation));
  }

  std::vector<Absence> absent(uint64_t number, Milliseconds limit) override {
    std::vector<Peer>& peers = group_->peers;
    {
      const auto held = runtime_.lock();
      for (Peer& peer : peers) peer.has_answered = peer.has_left;
      group_->peer(group_->rank) = {group_->begun, true, false};
      runtime_.send_note_to_all(*group_, Note::ask);
    }
    runtime_.drive(limit, [&] { return std::ranges::all_of(peers, &Peer::has_answered); });
    const auto held = runtime_.lock();
    std::vector<Absence> all;
    for (int r = 0; r < size(); ++r) {
      const Peer& peer = group_->peer(r);
      if (!peer.has_answered) {
        all.push_back({r, "does not answer"});
      } else if (peer.begun < number) {
        all.push_back({r, peer.has_left ? "has left the group"
                                        : fmt::format("has entered {} collectives", peer.begun)});
      }
    }
    return all;
  }

  std::unique_ptr<Communicator> split(std::span<const int> ranks) override {
    const auto held = runtime_.lock();
    ++group_->begun;
    const auto me = std::find(ranks.begin(), ranks.end(), group_->rank);
    MPI_Comm part = MPI_COMM_NULL;
    const std::jthread limit = limited("new_group");
    check(MPI_Comm_split(group_->comm, me == ranks.end() ? MPI_UNDEFINED : 0,
                         static_cast<int>(me - ranks.begin()), &part),
          "MPI_Comm_split");
    if (part == MPI_COMM_NULL) return nullptr;
    return std::make_unique<MpiCommunicator>(runtime_.add_group(part));
  }

  void abort(const std::string& reason) noexcept override {
    try {
      if (const auto held = runtime_.lock(); group_->failure.empty()) {
        group_->failure = reason;
        runtime_.send_note_to_all(*group_, Note::failed, reason);
      }
      runtime_.drive(Milliseconds(0), [] { return true; });
    } catch (...) {
      // MPI itself has failed: the launcher ends the other ranks.
    }
  }

 private:
  Runtime& runtime_ = Runtime::of_process();
  std::shared_ptr<Group> group_;
};

std::unique_ptr<Communicator> make(const CommunicatorOptions& options) {
  Runtime::timeout = options.timeout;
  Runtime& runtime = Runtime::of_process();
  std::shared_ptr<Group> world = runtime.world();
  if (!world) {
    throw DistributedError("init_process_group: expected MPI once in a process, got it again");
  }
  return std::make_unique<MpiCommunicator>(std::move(world));
}

void load(Registry& registry) {
  // These variables select algorithms other than Open MPI's defaults. For in-place reductions the
  // default has half the speed of MPI_Allreduce. For reductions of many MB to one of two or three
  // ranks, the default is recursive and overflows the stack. MPI_Init reads the variables.
  setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "rabenseifner", 0);
  setenv("OMPI_MCA_coll_libnbc_ireduce_algorithm", "binomial", 0);
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  registry.add_communicator("mpi", make, std::string(version, std::strcspn(version, ",\n")));
}

}  // namespace
}  // namespace ambit::distributed::mpi

AMBIT_PLUGIN(mpi, ambit::distributed::mpi::load)
