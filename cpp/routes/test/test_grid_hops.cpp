#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "contend/routes/split/ways.hpp"
#include "contend/routes/ways/grid_hops.hpp"
#include "contend/routes/ways/next_hops.hpp"

using namespace contend;

namespace {

/// The dimensions of a grid, the last of which has neighbours with consecutive numbers.
using Lines = std::vector<Grid::Dimension>;

Lines lines_of(const std::vector<std::uint32_t>& sizes, Grid::Line line, std::uint32_t links = 1) {
  Lines lines;
  for (const std::uint32_t size : sizes) lines.push_back({size, 1, links, line, 0});
  for (std::size_t d = lines.size() - 1; d-- > 0;) {
    lines[d].stride = lines[d + 1].stride * lines[d + 1].size;
  }
  return lines;
}

/// Where a switch has its cables along one dimension after the other, in the order of ports.
std::vector<SwitchId> neighbours(const Lines& lines, SwitchId s) {
  std::vector<SwitchId> found;
  for (const Grid::Dimension& line : lines) {
    const std::uint32_t at = s / line.stride % line.size;
    const auto lead = [&](std::uint32_t to) { found.push_back(s + (to - at) * line.stride); };
    if (line.line == Grid::Line::full) {
      for (std::uint32_t to = 0; to < line.size; ++to) {
        for (std::uint32_t copy = 0; to != at && copy < line.links; ++copy) lead(to);
      }
    } else {
      const bool ring = line.line == Grid::Line::ring;
      if (ring || at + 1 < line.size) lead((at + 1) % line.size);
      if (ring || at > 0) lead((at + line.size - 1) % line.size);
    }
  }
  return found;
}

/// With a host on every switch.
Fabric fabric_of(const Lines& lines) {
  const std::uint32_t switches = lines.front().stride * lines.front().size;
  std::vector<SwitchId> hosts(switches);
  std::iota(hosts.begin(), hosts.end(), SwitchId{0});
  std::vector<PortNumber> ports(switches), host_port;
  std::vector<Cable> cables;
  for (SwitchId s = 0; s < switches; ++s) {
    const std::vector<SwitchId> near = neighbours(lines, s);
    for (std::size_t k = 0; k < near.size(); ++k) {
      if (near[k] < s) continue;
      // The cables between two switches come in the same order at both.
      const std::vector<SwitchId> far = neighbours(lines, near[k]);
      const auto copy =
          std::count(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(k), near[k]);
      auto back = std::find(far.begin(), far.end(), s);
      for (std::ptrdiff_t skipped = 0; skipped < copy; ++skipped) {
        back = std::find(back + 1, far.end(), s);
      }
      cables.push_back({s, static_cast<PortNumber>(k + 1), near[k],
                        static_cast<PortNumber>(back - far.begin() + 1)});
    }
    ports[s] = static_cast<PortNumber>(near.size() + 1);
    host_port.push_back(ports[s]);
  }
  return {hosts, host_port, ports, cables};
}

std::vector<PartOnChannel> sorted(std::vector<PartOnChannel> parts) {
  std::ranges::sort(parts, {}, &PartOnChannel::channel);
  return parts;
}

void check_close(const std::vector<double>& some, const std::vector<double>& others) {
  REQUIRE(some.size() == others.size());
  for (std::size_t k = 0; k < some.size(); ++k) {
    CHECK(some[k] == doctest::Approx(others[k]).epsilon(1e-12));
  }
}

void check_spray(const Lines& lines) {
  const Fabric fabric = fabric_of(lines);
  const auto grid = find_grid(fabric);
  REQUIRE(grid);
  Places places;
  // Not every switch has somebody who takes part.
  for (HostId host = 0; host < fabric.hosts(); ++host) {
    if (host % 5 != 3) places.hosts.push_back(host);
  }
  const auto computed = make_sprayed_resolver(fabric, places, grid.get());
  const auto sets = make_sprayed_resolver(fabric, places, next_hops(fabric, places));
  const Ways& ways = *computed->ways();
  const Ways& others = *sets->ways();
  REQUIRE(ways.leaves() == others.leaves());
  for (std::uint32_t target = 0; target < ways.classes(); ++target) {
    for (std::uint32_t source = 0; source < ways.leaves(); ++source) {
      const std::vector<PartOnChannel> some = sorted(ways.parts_between(source, target));
      const std::vector<PartOnChannel> expected = sorted(others.parts_between(source, target));
      REQUIRE(some.size() == expected.size());
      for (std::size_t k = 0; k < some.size(); ++k) {
        CHECK(some[k].channel == expected[k].channel);
        CHECK(some[k].part == doctest::Approx(expected[k].part).epsilon(1e-12));
      }
    }
  }

  std::mt19937 draw(3);
  std::vector<std::uint64_t> messages(ways.leaves() * ways.classes());
  for (std::uint64_t& count : messages) count = draw() % 3;
  for (std::size_t leaf = 0; leaf < ways.leaves(); ++leaf) messages[leaf * (ways.leaves() + 1)] = 0;
  std::vector<double> value(fabric.switch_channels());
  for (double& each : value) each = draw() % 1000;
  std::vector<double> load[2], largest[2];
  for (const Ways* each : {&ways, &others}) {
    const std::size_t which = each == &ways ? 0 : 1;
    Crossed crossed;
    load[which].assign(fabric.switch_channels(), 0);
    each->spread(messages, load[which], crossed);
    largest[which].assign(messages.size(), 0);
    each->largest(messages, crossed, value, largest[which]);
  }
  check_close(load[0], load[1]);
  CHECK(largest[0] == largest[1]);
  for (const ChannelId channel : {ChannelId{0}, ChannelId{3}}) {
    check_close(ways.parts_across(channel), others.parts_across(channel));
  }
}

}  // namespace

TEST_CASE("what is sprayed over a grid splits as over the sets that a search finds") {
  check_spray(lines_of({4, 3, 6}, Grid::Line::ring));
  check_spray(lines_of({8}, Grid::Line::ring));
  check_spray(lines_of({3, 5}, Grid::Line::path));
  check_spray(lines_of({3, 4, 3}, Grid::Line::full, 2));
  check_spray(lines_of({2, 2, 2, 2}, Grid::Line::full));
  Lines mixed = lines_of({3, 4, 2}, Grid::Line::full);
  mixed[1].line = Grid::Line::ring;
  check_spray(mixed);
}
