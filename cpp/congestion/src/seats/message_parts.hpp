#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "contend/routes/resolver.hpp"
#include "contend/routes/split/ways.hpp"

namespace contend {

/// The channels between switches that messages cross, with the part of each message there, whether
/// they take one way, several, or split over all.
class MessageParts {
 public:
  explicit MessageParts(const Resolver& resolver)
      : resolver_(resolver), ways_(resolver.ways()), part_(1.0 / resolver.unit()) {
    if (ways_ != nullptr) known_.resize(ways_->classes() * ways_->leaves());
  }

  /// Looks up messages between places; source and target differ in each.
  /// Cost: one route each; or where they split, once for any two leaves all ways between them.
  void look_up(std::span<const Place> source, std::span<const Place> target) {
    if (ways_ == nullptr) {
      route_.resize(source.size() * resolver_.stride());
      resolver_.resolve(source, target, route_.data());
      return;
    }
    split_.clear();
    for (std::size_t m = 0; m < source.size(); ++m) {
      const std::uint32_t from = ways_->leaf_of(source[m]);
      const std::uint32_t to = ways_->class_of(target[m]);
      std::unique_ptr<Parts>& parts = known_[to * ways_->leaves() + from];
      if (!parts) parts = std::make_unique<Parts>(ways_->parts_between(from, to));
      split_.push_back(parts.get());
    }
  }

  /// Visits channel and part for one of the messages that were looked up last.
  template <class Visit>
  void for_each(std::size_t message, const Visit& visit) const {
    if (ways_ == nullptr) {
      const std::size_t stride = resolver_.stride();
      const std::uint32_t* channel = route_.data() + message * stride;
      for (std::size_t k = 0; k < stride; ++k) {
        if (channel[k] < resolver_.switch_channels()) visit(channel[k], part_);
      }
    } else {
      for (const PartOnChannel& each : *split_[message]) visit(each.channel, each.part);
    }
  }

 private:
  using Parts = std::vector<PartOnChannel>;

  const Resolver& resolver_;
  const Ways* ways_;
  double part_;
  std::vector<std::uint32_t> route_;
  std::vector<std::unique_ptr<Parts>> known_;  ///< by target's class and source's leaf
  std::vector<const Parts*> split_;            ///< by message
};

}  // namespace contend
