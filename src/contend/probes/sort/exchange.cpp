#include "sort/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

#include "common/check.hpp"
#include "common/operation.hpp"
#include "common/waiting.hpp"
#include "compat/alltoall.hpp"
#include "compat/large_count.hpp"

namespace contend::probe::sort {

namespace {

constexpr int kTag = 0;

/// Blocks that lie behind each other, in bytes.
Side side_of(const std::vector<std::int64_t>& doubles) {
  Side side;
  std::size_t begin = 0;
  for (const std::int64_t count : doubles) {
    side.bytes.push_back(static_cast<std::size_t>(count) * sizeof(double));
    side.begin.push_back(begin);
    begin += side.bytes.back();
  }
  return side;
}

/// The library's MPI_Alltoallv.
class LibraryV final : public Exchange {
 public:
  LibraryV(const Side& out, const Side& in, MPI_Comm comm) : comm_(comm), call_(out, in) {
    const int mine = call_.possible() ? 1 : 0;
    int all = 0;
    check("MPI_Allreduce", MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm));
    if (all == 0) {
      fail("sizes overflow 32 bits: MPI_Alltoallv counts no further before MPI 4");
    }
  }

  void run(const double* unsorted, double* sorted) override {
    call_.call(unsorted, sorted, comm_);
  }

 private:
  MPI_Comm comm_;
  UnequalAlltoall call_;
};

/// What schedules of messages between two ranks have in common. Blocks without bytes are left out.
class Messages : public Exchange {
 public:
  Messages(Side out, Side in, MPI_Comm comm)
      : comm_(comm),
        rank_(rank_in(comm)),
        ranks_(size_of(comm)),
        out_(std::move(out)),
        in_(std::move(in)) {}

  void run(const double* unsorted, double* sorted) final {
    send_ = reinterpret_cast<const std::byte*>(unsorted);
    receive_ = reinterpret_cast<std::byte*>(sorted);
    exchange();
    const auto own = static_cast<std::size_t>(rank_);
    std::copy_n(send_ + out_.begin[own], out_.bytes[own], receive_ + in_.begin[own]);
    wait_all(requests_);
    requests_.clear();
  }

 protected:
  /// Begins or does all messages but the own one.
  virtual void exchange() = 0;

  [[nodiscard]] int ranks() const { return ranks_; }
  /// The rank a number of places further, around the end; up to p places back.
  [[nodiscard]] std::size_t shifted(int places) const {
    return static_cast<std::size_t>((rank_ + places + ranks_) % ranks_);
  }

  void begin_receive(std::size_t from) {
    if (in_.bytes[from] != 0) {
      requests_.push_back(receive_bytes(receive_ + in_.begin[from], in_.bytes[from],
                                        static_cast<int>(from), kTag, comm_));
    }
  }
  void begin_send(std::size_t to) {
    if (out_.bytes[to] != 0) {
      requests_.push_back(
          send_bytes(send_ + out_.begin[to], out_.bytes[to], static_cast<int>(to), kTag, comm_));
    }
  }
  void send_and_receive(std::size_t to, std::size_t from) {
    const auto rank_or_none = [](std::size_t rank, std::size_t bytes) {
      return bytes == 0 ? MPI_PROC_NULL : static_cast<int>(rank);
    };
    send_and_receive_bytes(send_ + out_.begin[to], out_.bytes[to],
                           rank_or_none(to, out_.bytes[to]), receive_ + in_.begin[from],
                           in_.bytes[from], rank_or_none(from, in_.bytes[from]), kTag, comm_);
  }

 private:
  MPI_Comm comm_;
  int rank_;
  int ranks_;
  Side out_;
  Side in_;
  const std::byte* send_ = nullptr;
  std::byte* receive_ = nullptr;
  std::vector<MPI_Request> requests_;
};

/// All Irecv, all Isend, then wait for all: the case that floods a network.
class Linear final : public Messages {
  using Messages::Messages;
  void exchange() override {
    for (int places = 1; places < ranks(); ++places) {
      begin_receive(shifted(-places));
    }
    for (int places = 1; places < ranks(); ++places) {
      begin_send(shifted(places));
    }
  }
};

/// In phase i a Sendrecv to rank r + i and from rank r - i.
class Shift final : public Messages {
  using Messages::Messages;
  void exchange() override {
    for (int places = 1; places < ranks(); ++places) {
      send_and_receive(shifted(places), shifted(-places));
    }
  }
};

}  // namespace

const std::vector<std::string>& exchange_names() {
  static const std::vector<std::string> names = {"library-v", "linear", "shift"};
  return names;
}

std::unique_ptr<Exchange> make_exchange(const std::string& name, const Counts& counts,
                                        MPI_Comm comm) {
  const Side out = side_of(counts.to);
  const Side in = side_of(counts.from);
  if (name == "linear") {
    return std::make_unique<Linear>(out, in, comm);
  }
  if (name == "shift") {
    return std::make_unique<Shift>(out, in, comm);
  }
  return std::make_unique<LibraryV>(out, in, comm);
}

}  // namespace contend::probe::sort
