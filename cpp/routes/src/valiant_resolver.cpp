#include <algorithm>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/valiant.hpp"
#include "contend/routes/ways.hpp"
#include "valiant_traffic.hpp"

namespace contend {

namespace {

/// A thousandth of a message is told from none.
constexpr std::uint32_t kUnit = 1024;

class ValiantResolver final : public Resolver, private Ways {
 public:
  ValiantResolver(const Fabric& fabric, const Places& places, ValiantTraffic traffic)
      : Resolver(places.hosts.size(), fabric.switch_channels(), 1, kUnit),
        traffic_(std::move(traffic)) {}

  bool tabled() const override { return false; }
  std::size_t bytes() const override { return traffic_.bytes(); }
  const Ways* ways() const override { return this; }
  std::uint64_t work_of_round() const override { return traffic_.work(); }

  void resolve(std::span<const Place>, std::span<const Place>, std::uint16_t*) const override {
    refuse();
  }
  void resolve(std::span<const Place>, std::span<const Place>, std::uint32_t*) const override {
    refuse();
  }

  std::size_t leaves() const override { return traffic_.leaves(); }
  std::uint32_t leaf_of(Place place) const override { return traffic_.leaf_of(place); }
  std::size_t classes() const override { return traffic_.leaves(); }
  std::uint32_t class_of(Place place) const override { return traffic_.leaf_of(place); }
  std::uint32_t leaf_of_class(std::size_t number) const override {
    return static_cast<std::uint32_t>(number);
  }

  void spread(std::span<const std::uint32_t> messages, std::span<double> load,
              Crossed& /*crossed*/) const override {
    traffic_.send({}, std::vector<double>(messages.begin(), messages.end()), load);
  }

  void largest(std::span<const std::uint32_t> messages, const Crossed& /*crossed*/,
               std::span<const double> value, std::span<double> largest) const override {
    traffic_.find_largest(messages, value, {}, largest);
  }

  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> crossing(switch_channels(), 0);
    crossing[channel] = 1;
    std::vector<std::uint32_t> asked(classes() * leaves(), 1);
    for (std::size_t leaf = 0; leaf < leaves(); ++leaf) asked[leaf * leaves() + leaf] = 0;
    std::vector<double> parts(asked.size(), 0);
    traffic_.find_mean(asked, crossing, {}, parts);
    return parts;
  }

  std::vector<PartOnChannel> parts_between(std::uint32_t source,
                                           std::uint32_t target) const override {
    std::vector<double> message(classes() * leaves(), 0);
    if (source != target) message[target * leaves() + source] = 1;
    std::vector<double> load(switch_channels(), 0);
    traffic_.send({}, message, load);
    std::vector<PartOnChannel> parts;
    for (ChannelId channel = 0; channel < load.size(); ++channel) {
      if (load[channel] > 0) parts.push_back({channel, load[channel]});
    }
    return parts;
  }

 private:
  [[noreturn]] static void refuse() {
    throw Error("routes that take one way at a time, got some that split every message");
  }

  ValiantTraffic traffic_;
};

}  // namespace

std::unique_ptr<Resolver> make_valiant_resolver(const Fabric& fabric, const Places& places,
                                                const Stops& stops, const Remains* rest) {
  return std::make_unique<ValiantResolver>(fabric, places,
                                           ValiantTraffic(fabric, places, stops, rest));
}

}  // namespace contend
