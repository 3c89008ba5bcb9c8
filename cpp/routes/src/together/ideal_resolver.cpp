#include <algorithm>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/routes/together/ideal_ways.hpp"

namespace contend {

namespace {

/// A thousandth of a message is told from none.
constexpr std::uint32_t kUnit = 1024;
/// Times that a round looks at each of its ways, roughly: few where switches are alike.
constexpr std::uint64_t kPasses = 500;

class IdealResolver final : public SplittingResolver {
 public:
  IdealResolver(const Fabric& fabric, const Places& places, NextHops next, std::size_t most_arcs)
      : SplittingResolver(places.hosts.size(), fabric.switch_channels(),
                          std::max<std::size_t>(next.hops, 1), kUnit),
        ways_{Classes(fabric, places, next), std::move(next), fabric.channel_ends(), most_arcs} {
    for (const std::uint32_t set : ways_.next.set_of) {
      work_ += kPasses * ways_.next.of_set(set).size();
    }
  }

  std::size_t bytes() const override {
    return (ways_.next.set_of.size() + ways_.next.members.size() + ways_.to.size()) *
           sizeof(std::uint32_t);
  }
  const IdealWays* ideal_ways() const override { return &ways_; }
  std::uint64_t work_of_round() const override { return work_; }

 private:
  IdealWays ways_;
  std::uint64_t work_ = 0;
};

}  // namespace

std::unique_ptr<Resolver> make_ideal_resolver(const Fabric& fabric, const Places& places,
                                              NextHops next, std::size_t most_arcs) {
  return std::make_unique<IdealResolver>(fabric, places, std::move(next), most_arcs);
}

}  // namespace contend
