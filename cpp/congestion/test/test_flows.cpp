#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "../../routes/test/random_fabric.hpp"
#include "../../routes/test/small_ring.hpp"
#include "contend/congestion/flows.hpp"
#include "contend/congestion/messages.hpp"

using namespace contend;

TEST_CASE("shares of what begins and ends are those of all found anew") {
  const auto on = contend::test::make_random_fabric(3, 12, 30, 15);
  const std::vector<HostId> hosts = contend::test::in_order(30);
  const auto resolver = on.tabled({hosts, false});
  std::mt19937 engine(7);
  std::vector<Place> source;
  std::vector<Place> target;
  for (int m = 0; m < 60; ++m) {
    source.push_back(static_cast<Place>(engine() % 30));
    target.push_back((source.back() + 1 + static_cast<Place>(engine() % 29)) % 30);
  }
  const Crossings crossings(*resolver, source, target);
  Flows flows(crossings, std::vector<double>(crossings.channels(), 1.0));
  std::vector<std::pair<std::size_t, std::uint32_t>> under_way;
  for (int step = 0; step < 300; ++step) {
    for (int change = static_cast<int>(engine() % 3); change >= 0; --change) {
      if (under_way.size() < 40 && engine() % 2 == 0) {
        const std::size_t route = engine() % source.size();
        under_way.emplace_back(route, flows.begin(route));
      } else if (!under_way.empty()) {
        std::swap(under_way[engine() % under_way.size()], under_way.back());
        flows.end(under_way.back().second);
        under_way.pop_back();
      }
    }
    flows.gather();
    flows.fill();
    std::vector<Place> from;
    std::vector<Place> to;
    for (const auto& [route, flow] : under_way) {
      from.push_back(source[route]);
      to.push_back(target[route]);
    }
    const std::vector<double> expected = fair_share(*resolver, from, to);
    for (std::size_t k = 0; k < under_way.size(); ++k) {
      CHECK(flows.share(under_way[k].second) == doctest::Approx(expected[k]).epsilon(1e-12));
    }
  }
}

TEST_CASE("only what is joined to a change is looked at") {
  // Clockwise ring of 6: 0 -> 1 and 3 -> 4 share nothing.
  const contend::test::ClockwiseRing ring(6);
  std::vector<HostId> hosts{0, 1, 2, 3, 4, 5};
  const auto resolver = ring.tabled({hosts, false});
  const std::vector<Place> source{0, 3, 0};
  const std::vector<Place> target{1, 4, 2};
  const Crossings crossings(*resolver, source, target);
  Flows flows(crossings, std::vector<double>(crossings.channels(), 8.0));
  const std::uint32_t near = flows.begin(0);
  const std::uint32_t far = flows.begin(1);
  flows.gather();
  CHECK(flows.fill().size() == 2);
  CHECK(flows.share(far) == 8);
  const std::uint32_t rival = flows.begin(2);
  const auto gathered = flows.gather();
  // Injection of 0, channels 0 and 2, ejections of 1 and 2.
  CHECK(gathered.size() == 5);
  CHECK(flows.fill().size() == 2);
  CHECK(flows.share(near) == 4);
  CHECK(flows.share(rival) == 4);
  CHECK(flows.congestion(near) == 2);
  CHECK(flows.congestion(far) == 1);
}
