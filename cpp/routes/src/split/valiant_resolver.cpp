#include <algorithm>
#include <utility>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/resolvers/valiant.hpp"
#include "contend/routes/ways/ways.hpp"
#include "ugal_split.hpp"
#include "valiant_traffic.hpp"

namespace contend {

namespace {

/// A thousandth of a message is told from none.
constexpr std::uint32_t kUnit = 1024;

/// What routes by way of stops have in common: leaves are counted, and classes are leaves.
class ByStops : public SplittingResolver, protected Ways {
 public:
  ByStops(const Fabric& fabric, const Places& places, const Stops& stops, const Remains* rest)
      : SplittingResolver(places.hosts.size(), fabric.switch_channels(), 1, kUnit),
        traffic_(fabric, places, stops, rest) {}

  std::size_t bytes() const override { return traffic_.bytes(); }
  const Ways* ways() const final { return this; }

  std::size_t leaves() const final { return traffic_.leaves(); }
  std::uint32_t leaf_of(Place place) const final { return traffic_.leaf_of(place); }
  std::size_t classes() const final { return traffic_.leaves(); }
  std::uint32_t class_of(Place place) const final { return traffic_.leaf_of(place); }
  std::uint32_t leaf_of_class(std::size_t number) const final {
    return static_cast<std::uint32_t>(number);
  }

 protected:
  const ValiantTraffic& traffic() const { return traffic_; }
  /// Bytes of a round whose messages are counted by pair, as is what is worst on their ways, and
  /// that needs some more for every pair.
  std::size_t counted(std::size_t more) const {
    return classes() * leaves() * (sizeof(std::uint32_t) + sizeof(double) + more);
  }

 private:
  ValiantTraffic traffic_;
};

class ValiantResolver final : public ByStops {
 public:
  using ByStops::ByStops;

  std::uint64_t work_of_round() const override { return traffic().work(); }
  std::size_t bytes_of_round() const override { return counted(sizeof(double)); }

  void spread(std::span<const std::uint32_t> messages, std::span<double> load,
              Crossed& /*crossed*/) const override {
    traffic().send({}, std::vector<double>(messages.begin(), messages.end()), load);
  }

  void largest(std::span<const std::uint32_t> messages, const Crossed& /*crossed*/,
               std::span<const double> value, std::span<double> largest) const override {
    traffic().find_largest(messages, value, {}, largest);
  }

  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> crossing(switch_channels(), 0);
    crossing[channel] = 1;
    std::vector<std::uint32_t> asked(classes() * leaves(), 1);
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf) asked[leaf * leaves() + leaf] = 0;
    std::vector<double> parts(asked.size(), 0);
    traffic().find_mean(asked, crossing, {}, parts);
    return parts;
  }

  std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                           std::uint32_t target) const override {
    std::vector<double> message(classes() * leaves(), 0);
    if (source != target) message[target * leaves() + source] = 1;
    std::vector<double> load(switch_channels(), 0);
    traffic().send({}, message, load);
    std::vector<PartOnChannel> parts;
    for (ChannelId channel = 0; channel < load.size(); ++channel) {
      if (load[channel] > 0) parts.push_back({channel, load[channel]});
    }
    return parts;
  }
};

/// Which part of a message goes straight, and which around, is told from none if it is less than a
/// unit; `crossed` has one of these for every pair of leaves.
enum Taken : std::uint32_t { straight = 1, around = 2 };

class UgalResolver final : public ByStops {
 public:
  UgalResolver(const Fabric& fabric, const Places& places, const Stops& stops,
               std::vector<double> seconds, const Remains* rest)
      : ByStops(fabric, places, stops, rest), seconds_(std::move(seconds)) {
    if (seconds_.size() != switch_channels()) throw Error("seconds for every channel");
  }

  std::uint64_t work_of_round() const override { return kLooks * traffic().work(); }
  std::size_t bytes_of_round() const override { return counted(UgalSplit::kBytesOfPair); }

  void spread(std::span<const std::uint32_t> messages, std::span<double> load,
              Crossed& crossed) const override {
    std::vector<double> by_stops = settled(messages);
    std::vector<double> direct(messages.begin(), messages.end());
    crossed.clear();
    crossed.items.reserve(messages.size());
    for (std::size_t pair = 0; pair < messages.size(); ++pair) {
      const double part = by_stops[pair];
      by_stops[pair] *= direct[pair];
      if (part < 1.0 / kUnit) by_stops[pair] = 0;
      if (part > 1 - 1.0 / kUnit) by_stops[pair] = direct[pair];
      direct[pair] -= by_stops[pair];
      crossed.items.push_back((direct[pair] > 0 ? Taken::straight : 0U) |
                              (by_stops[pair] > 0 ? Taken::around : 0U));
    }
    traffic().send(direct, by_stops, load);
  }

  void largest(std::span<const std::uint32_t> messages, const Crossed& crossed,
               std::span<const double> value, std::span<double> largest) const override {
    std::vector<double> by_stops(messages.size(), 0);
    traffic().find_largest(messages, value, largest, by_stops);
    for (std::size_t pair = 0; pair < messages.size(); ++pair) {
      const std::uint32_t taken = crossed.items[pair];
      if ((taken & Taken::straight) == 0) largest[pair] = 0;
      if ((taken & Taken::around) != 0) largest[pair] = std::max(largest[pair], by_stops[pair]);
    }
  }

  std::vector<double> parts_across(ChannelId) const override { refuse_alone(); }
  std::vector<PartOnChannel> parts_between(std::uint32_t, std::uint32_t) const override {
    refuse_alone();
  }

 private:
  /// The part of the messages of every pair that goes around.
  std::vector<double> settled(std::span<const std::uint32_t> messages) const {
    UgalSplit split(traffic(), messages, seconds_);
    split.settle();
    return split.take_around();
  }

  /// Roughly so often a round looks at all ways.
  static constexpr std::uint64_t kLooks = 200;

  [[noreturn]] static void refuse_alone() {
    throw Error("messages by themselves, which split only beside others");
  }

  std::vector<double> seconds_;
};

}  // namespace

std::unique_ptr<Resolver> make_valiant_resolver(const Fabric& fabric, const Places& places,
                                                const Stops& stops, const Remains* rest) {
  return std::make_unique<ValiantResolver>(fabric, places, stops, rest);
}

std::unique_ptr<Resolver> make_ugal_resolver(const Fabric& fabric, const Places& places,
                                             const Stops& stops, std::vector<double> seconds,
                                             const Remains* rest) {
  return std::make_unique<UgalResolver>(fabric, places, stops, std::move(seconds), rest);
}

}  // namespace contend
