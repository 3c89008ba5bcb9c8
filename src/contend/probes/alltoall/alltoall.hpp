#pragma once

#include <string>
#include <vector>

#include "alltoall/blocks.hpp"
#include "common/operation.hpp"

namespace contend::probe::alltoall {

/// An all-to-all of given blocks under one schedule, to be done again and again; whatever the data
/// is, and whoever looks at it.
///
/// Making and ending one may communicate.
class Alltoall {
 public:
  explicit Alltoall(const Blocks& blocks) : blocks_(blocks) {}
  Alltoall(const Alltoall&) = delete;
  Alltoall& operator=(const Alltoall&) = delete;
  virtual ~Alltoall() = default;

  /// Names of what run() puts into the stamps.
  [[nodiscard]] virtual std::vector<std::string> columns() const { return {}; }
  /// Brings every rank its blocks. Collective.
  virtual void run(Stamps& stamps) = 0;

 protected:
  [[nodiscard]] const Blocks& blocks() const { return blocks_; }

 private:
  Blocks blocks_;
};

}  // namespace contend::probe::alltoall
