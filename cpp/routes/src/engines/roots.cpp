#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "contend/base/interruption.hpp"
#include "contend/base/threads.hpp"
#include "contend/routes/engines/engines.hpp"
#include "contend/routes/engines/links.hpp"

namespace contend {

namespace {

/// Searches outward from many switches at once, a bit for each, which share every look at a cable
/// (Then et al., The more the merrier: efficient multi-source graph traversal, PVLDB 8, 2014). A
/// search ends as soon as what it has counted shows that its switch is no root.
class RootSearch {
 public:
  static constexpr std::size_t kTogether = 256;

  explicit RootSearch(const Fabric& fabric)
      : links_(fabric), hosts_on_(fabric.switches(), 0), hosts_(fabric.hosts()) {
    for (const SwitchId s : fabric.host_switches()) ++hosts_on_[s];
  }

  /// What a thread keeps.
  struct Room {
    explicit Room(std::size_t switches) : reached(switches), front(switches), next(switches) {}

    using Bits = std::array<std::uint64_t, kTogether / 64>;
    std::vector<Bits> reached;  ///< by switch: the searches that have been there
    std::vector<Bits> front;    ///< those that got there in the step before
    std::vector<Bits> next;
    std::array<std::uint32_t, kTogether> here;  ///< hosts at the distance that is counted
    std::array<std::uint32_t, kTogether> left;  ///< hosts that no distance has had
    std::array<std::uint8_t, kTogether> has_most;
  };

  /// Whether each of `count` switches from `first` on is a root.
  void find(SwitchId first, std::size_t count, std::uint8_t* is_root, Room& room) const {
    std::ranges::fill(room.reached, Room::Bits{});
    std::ranges::fill(room.front, Room::Bits{});
    room.left.fill(static_cast<std::uint32_t>(hosts_));
    room.has_most.fill(0);
    Room::Bits open{};
    for (std::size_t k = 0; k < count; ++k) {
      open[k / 64] |= std::uint64_t{1} << (k % 64);
      room.front[first + k][k / 64] |= std::uint64_t{1} << (k % 64);
      room.reached[first + k] = room.front[first + k];
    }
    // Distances from 64 on are not looked at.
    constexpr int kFarthest = 64;
    bool any = true;
    for (int distance = 0; any && distance < kFarthest; ++distance) {
      check_interruption();
      open = judge(open, room);
      any = step(open, room);
    }
    for (std::size_t k = 0; k < count; ++k) {
      is_root[k] = room.has_most[k] != 0 && (open[k / 64] >> (k % 64) & 1) != 0;
    }
  }

  std::size_t switches() const { return links_.switches(); }

 private:
  bool more_than(double share, std::uint32_t count) const {
    return count > share * static_cast<double>(hosts_);
  }

  /// Counts the hosts that were reached last; the searches that may still be a root's.
  Room::Bits judge(const Room::Bits& open, Room& room) const {
    room.here.fill(0);
    for (SwitchId s = 0; s < switches(); ++s) {
      if (hosts_on_[s] == 0) continue;
      for (std::size_t w = 0; w < open.size(); ++w) {
        for (std::uint64_t bits = room.front[s][w]; bits != 0; bits &= bits - 1) {
          room.here[64 * w + static_cast<std::size_t>(std::countr_zero(bits))] += hosts_on_[s];
        }
      }
    }
    Room::Bits still{};
    for (std::size_t k = 0; k < kTogether; ++k) {
      if ((open[k / 64] >> (k % 64) & 1) == 0) continue;
      const bool most = more_than(0.9, room.here[k]);
      room.left[k] -= room.here[k];
      const bool fails = more_than(0.05, room.here[k]) && (!most || room.has_most[k] != 0);
      room.has_most[k] |= static_cast<std::uint8_t>(most);
      if (fails || (room.has_most[k] == 0 && !more_than(0.9, room.left[k]))) continue;
      still[k / 64] |= std::uint64_t{1} << (k % 64);
    }
    return still;
  }

  /// Takes the open searches one cable further; false where none gets to another switch.
  bool step(const Room::Bits& open, Room& room) const {
    std::ranges::fill(room.next, Room::Bits{});
    for (SwitchId s = 0; s < switches(); ++s) {
      Room::Bits leaving;
      std::uint64_t some = 0;
      for (std::size_t w = 0; w < open.size(); ++w) {
        some |= leaving[w] = room.front[s][w] & open[w];
      }
      if (some == 0) continue;
      for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
        Room::Bits& far = room.next[links_.to(link)];
        for (std::size_t w = 0; w < open.size(); ++w) far[w] |= leaving[w];
      }
    }
    std::uint64_t any = 0;
    for (SwitchId s = 0; s < switches(); ++s) {
      for (std::size_t w = 0; w < open.size(); ++w) {
        room.next[s][w] &= ~room.reached[s][w];
        room.reached[s][w] |= room.next[s][w];
        any |= room.next[s][w];
      }
    }
    room.front.swap(room.next);
    return any != 0;
  }

  SwitchLinks links_;
  std::vector<std::uint32_t> hosts_on_;  ///< by switch
  std::size_t hosts_;
};

}  // namespace

std::vector<SwitchId> find_roots(const Fabric& fabric) {
  const RootSearch search(fabric);
  const std::size_t switches = fabric.switches();
  std::vector<std::uint8_t> is_root(switches, 0);
  const std::size_t searches = (switches + RootSearch::kTogether - 1) / RootSearch::kTogether;
  in_parallel(thread_count(), searches, 1, [&](const Pieces& pieces) {
    RootSearch::Room room(switches);
    for (const std::size_t k : pieces) {
      const std::size_t first = k * RootSearch::kTogether;
      search.find(static_cast<SwitchId>(first), std::min(RootSearch::kTogether, switches - first),
                  is_root.data() + first, room);
    }
  });
  std::vector<SwitchId> roots;
  for (SwitchId s = 0; s < switches; ++s) {
    if (is_root[s] != 0) roots.push_back(s);
  }
  return roots;
}

}  // namespace contend
