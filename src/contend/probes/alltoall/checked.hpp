#pragma once

#include <optional>
#include <string>

#include "alltoall/blocks.hpp"
#include "common/operation.hpp"

namespace contend::probe::alltoall {

/// How many bytes behind each buffer are watched for somebody writing there. Buffers have them.
inline constexpr std::size_t kGuardBytes = 4096;

/// An all-to-all whose data is known; what all algorithms have in common.
class CheckedAlltoall : public Operation {
 public:
  /// Fills the send buffer and the guards behind both.
  explicit CheckedAlltoall(const Blocks& blocks);

  /// Makes every byte of the receive buffer wrong, where it is looked at afterwards.
  void reset(bool verified) final;

  /// Looks at every byte of the receive buffer, at what lies behind it, and whether what was sent
  /// is still there. O(bytes).
  [[nodiscard]] std::optional<std::string> verify() final;

 protected:
  [[nodiscard]] const Blocks& blocks() const { return blocks_; }

 private:
  Blocks blocks_;
};

}  // namespace contend::probe::alltoall
