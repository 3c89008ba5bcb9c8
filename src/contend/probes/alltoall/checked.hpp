#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alltoall/alltoall.hpp"
#include "alltoall/blocks.hpp"
#include "common/operation.hpp"

namespace contend::probe::alltoall {

/// How many bytes behind each buffer are watched for somebody writing there. Buffers have them.
inline constexpr std::size_t kGuardBytes = 4096;

/// An all-to-all whose data is known, under any schedule.
class CheckedAlltoall final : public Operation {
 public:
  /// Fills the send buffer and the guards behind both.
  CheckedAlltoall(const Blocks& blocks, std::unique_ptr<Alltoall> alltoall);

  [[nodiscard]] std::vector<std::string> columns() const override { return alltoall_->columns(); }

  /// Makes every byte of the receive buffer wrong, where it is looked at afterwards.
  void reset(bool verified) override;
  void run(Stamps& stamps) override { alltoall_->run(stamps); }

  /// Looks at every byte of the receive buffer, at what lies behind it, and whether what was sent
  /// is still there. O(bytes).
  [[nodiscard]] std::optional<std::string> verify() override;

 private:
  Blocks blocks_;
  std::unique_ptr<Alltoall> alltoall_;
};

}  // namespace contend::probe::alltoall
