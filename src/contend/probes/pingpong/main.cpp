#include "common/probe.hpp"
#include "common/check.hpp"
using namespace contend::probe;
namespace {
class Round : public Operation {
 public:
  Round(std::int64_t bytes, MPI_Comm comm) : comm_(comm), rank_(rank_in(comm)), data_(static_cast<std::size_t>(bytes)) {}
  bool takes_part() const override { return rank_ < 2; }
  void reset(bool) override {}
  void run(Stamps&) override {
    const int other = 1 - rank_;
    for (int turn = 0; turn < 2; ++turn) {
      if (turn == rank_) check("MPI_Send", MPI_Send(data_.data(), static_cast<int>(data_.size()), MPI_BYTE, other, 0, comm_));
      else check("MPI_Recv", MPI_Recv(data_.data(), static_cast<int>(data_.size()), MPI_BYTE, other, 0, comm_, MPI_STATUS_IGNORE));
    }
  }
  std::optional<std::string> verify() override { return std::nullopt; }
 private:
  MPI_Comm comm_;
  int rank_;
  std::vector<char> data_;
};
}
int main(int argc, char** argv) {
  Probe probe;
  probe.name = "pingpong";
  probe.about = "Ping pong.";
  probe.example = "--bytes 1:1M";
  probe.axes = {{"bytes", Kind::sizes, "1:1M", "Bytes of a message."}};
  probe.make = [](const Cell& cell, const Context&, MPI_Comm comm) {
    return std::make_unique<Round>(cell.integer("bytes"), comm);
  };
  return run_probe(argc, argv, probe);
}
