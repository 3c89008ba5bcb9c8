#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "contend/base/error.hpp"
#include "contend/routes/checks/check.hpp"
#include "contend/routes/engines/mend.hpp"
#include "paper_fabrics.hpp"
#include "random_fabric.hpp"

using namespace contend;
using contend::test::Paper;

namespace {

/// Four switches in a ring, one host on each; host h has address h + 1.
Paper ring(bool broken) {
  std::vector<Cable> cables{{0, 2, 1, 3}, {1, 2, 2, 3}, {2, 2, 3, 3}, {3, 2, 0, 3}};
  if (broken) cables.erase(cables.begin());
  return Paper({0, 1, 2, 3}, {1, 1, 1, 1}, {3, 3, 3, 3}, cables);
}

std::size_t sum(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace

TEST_CASE("tables whose routes all arrive stay as they are") {
  const Paper whole = ring(false);
  const Tables tables = minhop(whole.fabric, whole.targets());
  const MendedTables mended = mend(whole.fabric, whole.targets(), tables);
  CHECK(mended.tables == tables);
  CHECK(sum(mended.changed) == 0);
}

TEST_CASE("without a cable of a ring only what went over it turns round") {
  const Paper whole = ring(false);
  const Paper broken = ring(true);
  const Tables tables = minhop(whole.fabric, whole.targets());
  const MendedTables mended = mend(broken.fabric, broken.targets(), tables);
  const std::size_t width = broken.targets().addresses;
  for (SwitchId s = 0; s < 4; ++s) {
    for (Address to = 1; to <= 4; ++to) {
      const PortNumber before = tables[s * width + to];
      // Switch 0 had address 2 by port 2 and switch 1 address 1 by port 3, and so had their
      // neighbours what led through them.
      const bool was_cut = (s == 0 && before == 2) || (s == 1 && before == 3);
      if (was_cut) CHECK(mended.tables[s * width + to] != before);
    }
  }
  const TableView view{mended.tables.data(), 4, width};
  const RouteCheck seen = check_routes(broken.fabric, view, broken.targets().hosts, 0);
  CHECK(seen.routes[0] == 12);
}

TEST_CASE("an address that is no host's is led to where it hangs") {
  const Paper whole = ring(false);
  const Paper broken = ring(true);
  const std::vector<Address> address{9};
  const std::vector<SwitchId> at{1};
  const std::vector<PortNumber> port{7};
  Targets targets = broken.targets();
  const std::size_t before = targets.addresses;
  targets.addresses = 10;
  targets.others = address;
  targets.other_switch = at;
  targets.other_port = port;
  const Tables routed = minhop(whole.fabric, whole.targets());
  Tables tables(4 * targets.addresses, kNoPort);
  for (SwitchId s = 0; s < 4; ++s) {
    std::copy_n(routed.data() + s * before, before, tables.data() + s * targets.addresses);
  }
  const auto entry = [&](const Tables& of, SwitchId s) { return of[s * targets.addresses + 9]; };
  // From switch 0 straight to switch 1, over the cable that is gone.
  tables[0 * targets.addresses + 9] = 2;
  tables[1 * targets.addresses + 9] = 7;
  tables[2 * targets.addresses + 9] = 3;
  tables[3 * targets.addresses + 9] = 3;
  const MendedTables mended = mend(broken.fabric, targets, tables);
  CHECK(entry(mended.tables, 0) == 3);
  CHECK(entry(mended.tables, 1) == 7);
  CHECK(entry(mended.tables, 2) == 3);
  CHECK(entry(mended.tables, 3) == 3);
}

TEST_CASE("where no cable leads there is no entry") {
  const Paper whole({0, 1}, {1, 1}, {2, 2}, {{0, 2, 1, 2}});
  const Paper apart({0, 1}, {1, 1}, {2, 2}, {});
  const Tables tables = minhop(whole.fabric, whole.targets());
  const MendedTables mended = mend(apart.fabric, apart.targets(), tables);
  const std::size_t width = whole.targets().addresses;
  CHECK(mended.tables[2] == kNoPort);
  CHECK(mended.tables[width + 1] == kNoPort);
  CHECK(mended.tables[1] == 1);
  CHECK(sum(mended.changed) >= 2);
}

TEST_CASE("random fabrics that lose cables: all that are joined arrive, the others stay") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const auto made = test::make_random_fabric(seed, 12, 24, 16, 1);
    std::mt19937 engine(seed);
    std::vector<Cable> kept;
    for (ChannelId c = 0; c < made.fabric.switch_channels(); c += 2) {
      if (engine() % 6 == 0) continue;
      kept.push_back({made.fabric.channel_from(c), made.fabric.channel_from_port(c),
                      made.fabric.channel_to(c), made.fabric.channel_to_port(c)});
    }
    std::vector<SwitchId> host_switch;
    std::vector<PortNumber> host_port;
    std::vector<PortNumber> ports;
    for (HostId h = 0; h < made.fabric.hosts(); ++h) {
      host_switch.push_back(made.fabric.host_switch(h));
      host_port.push_back(made.fabric.host_port(h));
    }
    for (SwitchId s = 0; s < 12; ++s) ports.push_back(made.fabric.switch_ports(s));
    const Fabric broken(host_switch, host_port, ports, kept);
    const std::vector<Address> none(12, 0);
    const std::vector<std::uint64_t> guid(12, 0);
    const Targets targets{made.addresses(), none, guid, guid, made.width};
    const MendedTables mended = mend(broken, targets, made.ports);
    const TableView before{made.ports.data(), 12, made.width};
    const TableView after{mended.tables.data(), 12, made.width};
    const RouteCheck lost = check_routes(broken, before, targets.hosts, 0);
    const RouteCheck seen = check_routes(broken, after, targets.hosts, 0);
    // No loops, no dead ends: what does not arrive has no entry at all.
    for (std::size_t end = 1; end < seen.routes.size(); ++end) {
      if (static_cast<TraceEnd>(end) != TraceEnd::no_entry) CHECK(seen.routes[end] == 0);
    }
    CHECK(seen.routes[0] >= lost.routes[0]);
    // An entry from which a route arrived before is kept.
    std::vector<std::size_t> changed(12, 0);
    for (SwitchId s = 0; s < 12; ++s) {
      for (Address a = 1; a < made.width; ++a) {
        const bool other = made.ports[s * made.width + a] != mended.tables[s * made.width + a];
        if (other) ++changed[s];
      }
    }
    CHECK(changed == mended.changed);
    CHECK(mend(broken, targets, mended.tables).tables == mended.tables);
  }
}

TEST_CASE("tables of another fabric are refused") {
  const Paper whole = ring(false);
  CHECK_THROWS_AS(mend(whole.fabric, whole.targets(), Tables(3)), Error);
}
