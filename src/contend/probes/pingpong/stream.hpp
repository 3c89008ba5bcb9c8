#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "common/operation.hpp"
#include "pingpong/messages.hpp"

namespace contend::probe::pingpong {

/// Windows of messages that are under way together, each acknowledged by an empty message.
class Stream : public Operation {
 public:
  /// `inner` windows of `window` messages are a sample. `both_ways`: partners send to each other at
  /// the same time.
  Stream(Partners partners, bool both_ways, std::size_t bytes, std::size_t window,
         std::int64_t inner, MPI_Comm comm);

  [[nodiscard]] bool takes_part() const override { return takes_part_; }
  void reset(bool verified) override;
  void run(Stamps& stamps) override;
  [[nodiscard]] std::optional<std::string> verify() override;

 private:
  void transfer();
  void acknowledge();

  bool takes_part_;
  std::size_t window_;
  std::int64_t inner_;
  MPI_Comm comm_;
  // All messages of a window that are sent are the same, and held once.
  std::vector<Messages> out_;
  std::vector<Messages> in_;
  std::vector<MPI_Request> requests_;
};

}  // namespace contend::probe::pingpong
