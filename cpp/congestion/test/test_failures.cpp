#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "../../routes/test/random_fabric.hpp"
#include "contend/base/error.hpp"
#include "contend/congestion/failures.hpp"
#include "contend/congestion/messages.hpp"
#include "contend/pattern/random_patterns.hpp"

using namespace contend;

namespace {

constexpr std::uint32_t kDraws = 6;
constexpr std::uint64_t kDrawSeed = 5;

/// A random fabric, addresses of its switches too, what dies in it, and rates or none.
struct FailureCase {
  test::RandomFabric made;
  std::vector<Address> switch_address;
  std::vector<std::uint64_t> guid;
  std::vector<HostId> hosts;
  std::vector<double> rate;
  Losses losses;

  explicit FailureCase(std::uint32_t seed) : made(test::make_random_fabric(seed, 9, 20, 12, 1)) {
    std::mt19937 engine(seed);
    const std::size_t switches = made.fabric.switches();
    const std::size_t before = made.width;
    guid.assign(switches, 0);
    made.width += switches;
    std::vector<PortNumber> ports(switches * made.width, kNoPort);
    for (SwitchId s = 0; s < switches; ++s) {
      std::copy_n(made.ports.begin() + static_cast<std::ptrdiff_t>(s * before), before,
                  ports.begin() + static_cast<std::ptrdiff_t>(s * made.width));
      switch_address.push_back(static_cast<Address>(before + s));
    }
    made.ports = ports;
    // Switches are reached as their first host is; those without hosts are not, nor is the last.
    for (SwitchId to = 0; to + 1 < switches; ++to) {
      for (HostId host = 0; host < made.fabric.hosts(); ++host) {
        if (made.fabric.host_switch(host) != to) continue;
        for (SwitchId s = 0; s < switches; ++s) {
          made.ports[s * made.width + switch_address[to]] =
              s == to ? PortNumber{0} : made.ports[s * made.width + made.first[host]];
        }
        break;
      }
    }
    hosts = test::some_hosts(seed, made.fabric, made.fabric.hosts());
    if (seed % 3 == 0) {
      rate.resize(made.fabric.channels());
      for (double& each : rate) each = 1 + static_cast<double>(engine() % 3);
    }
    for (int n = static_cast<int>(engine() % 3); n > 0; --n) {
      losses.switches.push_back(static_cast<SwitchId>(engine() % switches));
    }
    for (int n = static_cast<int>(engine() % 5); n > 0; --n) {
      losses.cables.push_back(static_cast<std::uint32_t>(engine() % made.fabric.cables()));
    }
  }

  Targets targets(const std::vector<Address>& first, const std::vector<Address>& own) const {
    return {{first, made.lmc}, own, guid, guid, made.width};
  }

  FailureCost cost() const {
    const auto pattern = make_bisect(static_cast<Rank>(hosts.size()), false);
    const FailureJudge judge(made.fabric, targets(made.first, switch_address), made.ports, *pattern,
                             hosts, {kDrawSeed, 0, kDraws, false}, rate);
    return judge.judge(losses);
  }
};

/// The fabric without what died. Numbers stay: switches that died have no cables and no addresses,
/// and hosts that are gone have no addresses.
struct BrokenFabric {
  Fabric fabric;
  std::vector<Address> first;
  std::vector<Address> own;
  Tables tables;

  BrokenFabric(const FailureCase& on, const Remains& rest)
      : fabric(cut(on.made.fabric, rest)),
        first(on.made.first),
        own(on.switch_address),
        tables(on.made.ports) {
    for (HostId host = 0; host < first.size(); ++host) {
      if (rest.host_gone[host] != 0) first[host] = 0;
    }
    for (SwitchId s = 0; s < own.size(); ++s) {
      if (rest.switch_died[s] == 0) continue;
      own[s] = 0;
      for (std::size_t a = 0; a < on.made.width; ++a) tables[s * on.made.width + a] = kNoPort;
    }
  }

  static Fabric cut(const Fabric& whole, const Remains& rest) {
    std::vector<Cable> kept;
    for (ChannelId c = 0; c < whole.switch_channels(); c += 2) {
      if (rest.channel_died[c] != 0) continue;
      kept.push_back({whole.channel_from(c), whole.channel_from_port(c), whole.channel_to(c),
                      whole.channel_to_port(c)});
    }
    std::vector<SwitchId> host_switch;
    std::vector<PortNumber> host_port;
    std::vector<PortNumber> ports;
    for (HostId h = 0; h < whole.hosts(); ++h) {
      host_switch.push_back(whole.host_switch(h));
      host_port.push_back(whole.host_port(h));
    }
    for (SwitchId s = 0; s < whole.switches(); ++s) ports.push_back(whole.switch_ports(s));
    return {host_switch, host_port, ports, kept};
  }
};

/// What the messages of a sample get whose ends are both left, one after the other.
std::vector<double> counted_slowly(const FailureCase& on, const Remains& rest, const Fabric& fabric,
                                   const Tables& tables) {
  std::vector<HostId> left;
  std::vector<Place> place(rest.host_gone.size(), 0);
  for (const HostId host : on.hosts) {
    if (rest.host_gone[host] != 0) continue;
    place[host] = static_cast<Place>(left.size());
    left.push_back(host);
  }
  const auto resolver =
      make_walking_resolver(fabric, {tables.data(), fabric.switches(), on.made.width},
                            on.made.addresses(), {left, false});
  const auto pattern = make_bisect(static_cast<Rank>(on.hosts.size()), false);
  std::vector<double> means;
  for (std::uint32_t sample = 0; sample < kDraws; ++sample) {
    Messages drawn;
    RandomChoices choices({kDrawSeed, sample, 1});
    pattern->fill(0, 0, choices, drawn);
    std::vector<Place> source, target;
    for (std::size_t m = 0; m < drawn.size(); ++m) {
      const HostId from = on.hosts[drawn.source[m]];
      const HostId to = on.hosts[drawn.target[m]];
      if (rest.host_gone[from] != 0 || rest.host_gone[to] != 0) continue;
      source.push_back(place[from]);
      target.push_back(place[to]);
    }
    std::vector<double> rate;
    if (!on.rate.empty()) {
      // Of the cables that are left, then of the ranks that are.
      for (ChannelId c = 0; c < on.made.fabric.switch_channels(); ++c) {
        const bool is_whole = fabric.switch_channels() == on.made.fabric.switch_channels();
        if (is_whole || rest.channel_died[c] == 0) rate.push_back(on.rate[c]);
      }
      for (const std::size_t side : {std::size_t{0}, on.hosts.size()}) {
        for (std::size_t rank = 0; rank < on.hosts.size(); ++rank) {
          if (rest.host_gone[on.hosts[rank]] != 0) continue;
          rate.push_back(on.rate[on.made.fabric.switch_channels() + side + rank]);
        }
      }
    }
    const MessageCongestion found = message_congestion(*resolver, source, target, rate);
    double sum = 0;
    for (const double share : found.share) sum += share;
    means.push_back(found.share.empty() ? 1 : sum / static_cast<double>(found.share.size()));
  }
  return means;
}

void check_costs(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-12));
  }
}

}  // namespace

TEST_CASE("what a failure costs is what the mended tables of the rest say") {
  std::size_t gone = 0;
  std::size_t turned = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    const FailureCase on(seed);
    const FailureCost cost = on.cost();
    const Remains rest(on.made.fabric, on.losses);
    CHECK(cost.hosts_left == rest.hosts_left);
    if (rest.hosts_left < 2) {
      CHECK(cost.after.empty());
      continue;
    }
    const BrokenFabric broken(on, rest);
    const MendedTables mended =
        mend(broken.fabric, on.targets(broken.first, broken.own), broken.tables);
    // A switch that died changes nothing: it has no cables, and so gets no entries.
    CHECK(cost.changed == std::accumulate(mended.changed.begin(), mended.changed.end(), 0U));
    check_costs(cost.before, counted_slowly(on, rest, on.made.fabric, on.made.ports));
    check_costs(cost.after, counted_slowly(on, rest, broken.fabric, mended.tables));
    gone += rest.hosts_left < on.hosts.size() ? 1U : 0U;
    turned += cost.before != cost.after ? 1U : 0U;
  }
  // Both kinds have been seen.
  CHECK(gone > 20);
  CHECK(turned > 50);
}

TEST_CASE("where nothing dies a failure costs nothing, and the figures are the simulation's") {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    FailureCase on(seed);
    on.losses = {};
    const FailureCost cost = on.cost();
    const auto resolver = on.made.walking({on.hosts, false});
    const auto pattern = make_bisect(static_cast<Rank>(on.hosts.size()), false);
    const std::vector<Place> slots = contend::test::in_order(on.hosts.size());
    const BatchResult all =
        simulate(*resolver, *pattern, {slots, 1, false}, {kDrawSeed, 0, kDraws, false}, 1, on.rate);
    CHECK(cost.after == cost.before);
    CHECK(cost.after == (on.rate.empty() ? all.bandwidth : all.share));
  }
}

TEST_CASE("a host whose own switch sends its address elsewhere is refused") {
  FailureCase on(1);
  const HostId host = on.hosts[0];
  const SwitchId at = on.made.fabric.host_switch(host);
  PortNumber& entry = on.made.ports[at * on.made.width + on.made.first[host]];
  for (const PortNumber port : {kNoPort, PortNumber{0}}) {
    entry = port;
    CHECK_THROWS_AS(on.cost(), Error);
  }
}

TEST_CASE("a network that dies whole leaves nothing to count") {
  FailureCase on(1);
  on.losses.switches = contend::test::in_order(on.made.fabric.switches());
  const FailureCost cost = on.cost();
  CHECK(cost.hosts_left == 0);
  CHECK(cost.before.empty());
}

TEST_CASE("losses, patterns and rates of another fabric are refused") {
  FailureCase on(1);
  on.losses = {{99}, {}};
  CHECK_THROWS_AS(on.cost(), Error);
  on.losses = {{}, {99}};
  CHECK_THROWS_AS(on.cost(), Error);
  on.losses = {};
  on.rate.assign(3, 1.0);
  CHECK_THROWS_AS(on.cost(), Error);
  on.rate.clear();
  on.hosts.back() = 99;
  CHECK_THROWS_AS(on.cost(), Error);
}
