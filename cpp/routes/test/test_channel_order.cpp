#include <doctest/doctest.h>

#include <random>
#include <utility>

#include "contend/routes/checks/channel_order.hpp"
#include "paper_fabrics.hpp"
#include "random_fabric.hpp"

using namespace contend;

namespace {

/// Whether a link is reached from another by pairs that were noted.
bool leads(const SwitchLinks& links, const ChannelOrder& order, LinkId from, LinkId to) {
  std::vector<LinkId> reached{from};
  std::vector<bool> seen(links.links(), false);
  for (std::size_t head = 0; head < reached.size(); ++head) {
    if (reached[head] == to) return true;
    const SwitchId at = links.to(reached[head]);
    for (LinkId next = links.begin(at); next < links.end(at); ++next) {
      if (!order.has(reached[head], next) || seen[next]) continue;
      seen[next] = true;
      reached.push_back(next);
    }
  }
  return false;
}

}  // namespace

TEST_CASE("around a ring, the last pair would close the circle, until another is taken back") {
  const test::Paper ring = test::ring(4);
  const SwitchLinks links(ring.fabric);
  // Port 2 leads to the next switch: the first of a switch's two links.
  const LinkId to_next[] = {links.begin(0), links.begin(1), links.begin(2), links.begin(3)};
  ChannelOrder order(links, std::vector<std::uint32_t>(links.links(), 0));
  CHECK(order.insert(to_next[0], to_next[1]));
  CHECK(order.insert(to_next[1], to_next[2]));
  CHECK(order.insert(to_next[2], to_next[3]));
  CHECK_FALSE(order.insert(to_next[3], to_next[0]));
  CHECK_FALSE(order.admits(to_next[3], to_next[0]));
  order.remove(to_next[1], to_next[2]);
  // What was refused stays refused for a while.
  CHECK_FALSE(order.admits(to_next[3], to_next[0]));
  order.forget_refusals();
  CHECK(order.admits(to_next[3], to_next[0]));
  CHECK(order.insert(to_next[3], to_next[0]));
  CHECK_FALSE(order.insert(to_next[1], to_next[2]));
  // What is noted is not held as well, and what is held counts until it is released.
  CHECK_FALSE(order.hold(to_next[3], to_next[0]));
  order.remove(to_next[3], to_next[0]);
  REQUIRE(order.admits(to_next[1], to_next[2]));
  CHECK(order.hold(to_next[1], to_next[2]));
  CHECK_FALSE(order.insert(to_next[3], to_next[0]));
  order.release(to_next[1], to_next[2]);
  CHECK(order.insert(to_next[3], to_next[0]));
}

TEST_CASE("a pair is admitted just where the next link does not lead back to the first") {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto made = test::make_random_fabric(seed, 8, 8, 10);
    const SwitchLinks links(made.fabric);
    ChannelOrder order(links, std::vector<std::uint32_t>(links.links(), 0));
    std::vector<std::pair<LinkId, LinkId>> noted;
    std::mt19937 engine(seed);
    for (int step = 0; step < 300; ++step) {
      const auto first = static_cast<LinkId>(engine() % links.links());
      const SwitchId at = links.to(first);
      const auto next =
          static_cast<LinkId>(links.begin(at) + engine() % (links.end(at) - links.begin(at)));
      const bool closes = leads(links, order, next, first);
      CHECK(order.insert(first, next) == !closes);
      if (!closes) noted.emplace_back(first, next);
      if (engine() % 3 == 0 && !noted.empty()) {
        std::swap(noted[engine() % noted.size()], noted.back());
        order.remove(noted.back().first, noted.back().second);
        noted.pop_back();
      }
    }
  }
}
