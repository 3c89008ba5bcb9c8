#include "contend/base/progress.hpp"

#include <algorithm>

namespace contend {
namespace {

thread_local Progress* innermost = nullptr;

}  // namespace

Progress::Progress(std::uint64_t parts, std::uint64_t at_once)
    : parts_(parts > 0 ? parts : 1), at_once_(at_once), outer_(innermost) {
  innermost = this;
}

Progress::~Progress() { innermost = outer_; }

/// Where what is done within a part has come to `share`.
double Progress::within(double share) const {
  const auto done = static_cast<double>(done_.load(std::memory_order_relaxed));
  const double doing = share * static_cast<double>(at_once_);
  return std::min((done + doing) / static_cast<double>(parts_), 1.0);
}

double share_done() {
  if (innermost == nullptr) return -1;
  Progress* at = innermost;
  double share = at->within(0);
  for (; at->outer_ != nullptr; share = at->within(share)) at = at->outer_;
  return at->seen_ = std::max(at->seen_, share);
}

}  // namespace contend
