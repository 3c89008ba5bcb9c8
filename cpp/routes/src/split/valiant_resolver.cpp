#include <vector>

#include "contend/routes/split/valiant.hpp"
#include "valiant_traffic.hpp"

namespace contend {

namespace {

class ValiantResolver final : public ByStops {
 public:
  using ByStops::ByStops;

  std::uint64_t work_of_round() const override { return traffic().work(); }
  std::size_t bytes_of_round() const override { return counted(sizeof(double)); }

  void spread(std::span<const std::uint64_t> messages, std::span<double> load,
              Crossed& /*crossed*/) const override {
    traffic().send({}, std::vector<double>(messages.begin(), messages.end()), load);
  }

  void largest(std::span<const std::uint64_t> messages, const Crossed& /*crossed*/,
               std::span<const double> value, std::span<double> largest) const override {
    traffic().find_largest(messages, value, {}, largest);
  }

  std::vector<double> parts_across(ChannelId channel) const override {
    std::vector<double> crossing(switch_channels(), 0);
    crossing[channel] = 1;
    std::vector<std::uint64_t> asked(classes() * leaves(), 1);
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

}  // namespace

std::unique_ptr<Resolver> make_valiant_resolver(const Fabric& fabric, const Places& places,
                                                std::span<const std::uint32_t> group,
                                                const Remains* rest) {
  return std::make_unique<ValiantResolver>(fabric, places,
                                           ValiantTraffic(fabric, places, group, rest));
}

}  // namespace contend
