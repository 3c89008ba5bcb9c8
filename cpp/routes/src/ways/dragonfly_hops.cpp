#include "contend/routes/ways/dragonfly_hops.hpp"

#include <bit>

#include "contend/base/progress.hpp"

namespace contend {

namespace {

void sort_once_each(DragonflyHops::Ways& ways) {
  if (ways.size() < 2) return;
  std::sort(ways.begin(), ways.end());
  ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
}

}  // namespace

DragonflyHops::DragonflyHops(const Dragonfly& dragonfly, bool by_groups)
    : dragonfly_(dragonfly), by_groups_(by_groups), words_((dragonfly.groups + 63) / 64) {
  const std::uint32_t uplinks = dragonfly.uplinks, others = dragonfly.groups - 1;
  for (std::uint32_t channel = 0; channel < dragonfly.channels(); ++channel) {
    channels_.push_back({channel / uplinks, channel / others});
  }
  for (std::uint32_t number = 0; number < dragonfly.switches; ++number) {
    const std::uint32_t begin = std::min(number * uplinks, dragonfly.channels());
    const std::uint32_t end = std::min(begin + uplinks, dragonfly.channels());
    copies_.push_back(begin < end ? Range{begin / others, (end - 1) / others + 1} : Range{});
  }
  if (!by_groups) find_joint();
}

void DragonflyHops::find_joint() {
  joint_.assign(dragonfly_.groups * words_, 0);
  const Range all{0, dragonfly_.copies};
  for (const std::uint32_t group : InParts(dragonfly_.groups)) {
    for (std::uint32_t other = 0; other < group; ++other) {
      for_each_between(group, all, other, all, [&](Range, std::uint32_t, std::uint32_t) {
        joint_[group * words_ + other / 64] |= std::uint64_t{1} << other % 64;
        joint_[other * words_ + group / 64] |= std::uint64_t{1} << group % 64;
      });
    }
  }
}

std::size_t DragonflyHops::longest(const Fabric& fabric, std::span<const HostId> hosts) const {
  if (hosts.empty()) return 0;
  const At first = at(fabric.host_switch(hosts.front()));
  bool differ = false;
  for (const HostId host : hosts) {
    const At other = at(fabric.host_switch(host));
    if (other.group != first.group) return dragonfly_.switches > 1 ? 3 : 1;
    differ = differ || other != first;
  }
  return differ ? 1 : 0;
}

DragonflyHops::Step DragonflyHops::step(At from, std::uint32_t way) const {
  if (way < dragonfly_.switches) {
    return {dragonfly_.local(from.group, from.number, way), {from.group, way}};
  }
  const std::uint32_t number = from.number * dragonfly_.uplinks + way - dragonfly_.switches;
  const std::uint32_t copy = channels_[number].copy;
  const std::uint32_t place = number - copy * (dragonfly_.groups - 1);
  const std::uint32_t other = place + (place >= from.group ? 1 : 0);
  return {dragonfly_.global(from.group, other, copy), {other, holder(other, from.group, copy)}};
}

DragonflyHops::Range DragonflyHops::groups_at(At at, std::uint32_t copy) const {
  const std::uint32_t first = copy * (dragonfly_.groups - 1);
  const std::uint32_t begin = at.number * dragonfly_.uplinks;
  const Range held =
      Range{begin, begin + dragonfly_.uplinks} & Range{first, first + dragonfly_.groups - 1};
  if (held.empty()) return {};
  const auto group = [&](std::uint32_t channel) {
    return channel - first + (channel - first >= at.group ? 1 : 0);
  };
  return {group(held.begin), group(held.end - 1) + 1};
}

/// Visits those of some groups between which and another one a group stands that has a switch with
/// cables to both.
template <class Visit>
void DragonflyHops::for_each_joint(std::uint32_t group, Range others, const Visit& visit) const {
  for (std::uint32_t other = others.begin; other < others.end;) {
    const std::uint64_t word = joint_[group * words_ + other / 64] >> other % 64;
    if (word == 0) {
      other = (other / 64 + 1) * 64;
      continue;
    }
    other += static_cast<std::uint32_t>(std::countr_zero(word));
    if (other >= others.end) return;
    visit(other++);
  }
}

/// Visits the groups between two others that have a switch with cables to both: as ranges, with the
/// copies of the cables to the one and to the other.
///
/// A group has its cables to two others on the same channels as all that stand on the same sides of
/// these.
template <class Visit>
void DragonflyHops::for_each_between(std::uint32_t group, Range copies, std::uint32_t other,
                                     Range back, const Visit& visit) const {
  const std::uint32_t others = dragonfly_.groups - 1;
  const auto [low, high] = std::minmax(group, other);
  const auto try_all = [&](Range between, std::uint32_t group_less, std::uint32_t other_less) {
    if (between.empty()) return;
    for (std::uint32_t copy = copies.begin; copy < copies.end; ++copy) {
      const std::uint32_t holds = channels_[copy * others + group - group_less].holder;
      for (std::uint32_t its = back.begin; its < back.end; ++its) {
        if (channels_[its * others + other - other_less].holder == holds) {
          visit(between, copy, its);
        }
      }
    }
  };
  try_all({0, low}, 1, 1);
  try_all({low + 1, high}, group > other ? 1 : 0, other > group ? 1 : 0);
  try_all({high + 1, dragonfly_.groups}, 0, 0);
}

/// Whether a way of two global cables joins switches of two groups.
bool DragonflyHops::meet(At from, At to) const {
  bool any = false;
  for_each_between(from.group, copies_[from.number], to.group, copies_[to.number],
                   [&](Range between, std::uint32_t copy, std::uint32_t its) {
                     any = any || !(between & groups_at(from, copy) & groups_at(to, its)).empty();
                   });
  return any;
}

void DragonflyHops::find_by_groups(At from, At to, Ways& ways) const {
  std::uint32_t fewest = 2;
  for (std::uint32_t copy = 0; copy < dragonfly_.copies; ++copy) {
    const std::uint32_t near = holder(from.group, to.group, copy);
    const std::uint32_t local =
        (near != from.number ? 1 : 0) + (holder(to.group, from.group, copy) != to.number ? 1 : 0);
    if (local > fewest) continue;
    if (local < fewest) ways.clear();
    fewest = local;
    ways.push_back(near == from.number ? way_to(from, to.group, copy) : near);
  }
  sort_once_each(ways);
}

void DragonflyHops::find_by_cables(At from, At to, Ways& ways) const {
  const Range copies = copies_[from.number];
  for (std::uint32_t copy = copies.begin; copy < copies.end; ++copy) {
    if (holder(from.group, to.group, copy) == from.number &&
        holder(to.group, from.group, copy) == to.number) {
      ways.push_back(way_to(from, to.group, copy));
    }
  }
  if (!ways.empty()) return;
  find_two(from, to, ways);
  if (ways.empty()) find_three(from, to, ways);
  sort_once_each(ways);
}

/// Where no cable joins them: by way of the group of either, or of one between.
void DragonflyHops::find_two(At from, At to, Ways& ways) const {
  const Range copies = copies_[from.number], back = copies_[to.number];
  for (std::uint32_t copy = back.begin; copy < back.end; ++copy) {
    if (holder(to.group, from.group, copy) == to.number) {
      ways.push_back(holder(from.group, to.group, copy));
    }
  }
  for (std::uint32_t copy = copies.begin; copy < copies.end; ++copy) {
    if (holder(from.group, to.group, copy) == from.number) {
      ways.push_back(way_to(from, to.group, copy));
    }
  }
  if (!joint(from.group, to.group)) return;
  for_each_between(from.group, copies, to.group, back,
                   [&](Range between, std::uint32_t copy, std::uint32_t its) {
                     const Range groups = between & groups_at(from, copy) & groups_at(to, its);
                     for (std::uint32_t group = groups.begin; group < groups.end; ++group) {
                       ways.push_back(way_to(from, group, copy));
                     }
                   });
}

/// Where no two cables do either.
void DragonflyHops::find_three(At from, At to, Ways& ways) const {
  const Range copies = copies_[from.number], back = copies_[to.number];
  const Range all{0, dragonfly_.copies};
  for (std::uint32_t copy = 0; copy < dragonfly_.copies; ++copy) {
    ways.push_back(holder(from.group, to.group, copy));
  }
  if (joint(from.group, to.group)) {
    // Local, global, global; and global, global, local.
    for_each_between(from.group, all, to.group, back,
                     [&](Range between, std::uint32_t copy, std::uint32_t its) {
                       const Range groups = between & groups_at(to, its);
                       for (std::uint32_t group = groups.begin; group < groups.end; ++group) {
                         ways.push_back(holder(from.group, group, copy));
                       }
                     });
    for_each_between(from.group, copies, to.group, all,
                     [&](Range between, std::uint32_t copy, std::uint32_t) {
                       const Range groups = between & groups_at(from, copy);
                       for (std::uint32_t group = groups.begin; group < groups.end; ++group) {
                         ways.push_back(way_to(from, group, copy));
                       }
                     });
  }
  for (std::uint32_t copy = copies.begin; copy < copies.end; ++copy) {
    const Range mine = groups_at(from, copy);
    // Global, local, global.
    for (std::uint32_t its = back.begin; its < back.end; ++its) {
      const Range both = mine & groups_at(to, its);
      for (std::uint32_t group = both.begin; group < both.end; ++group) {
        ways.push_back(way_to(from, group, copy));
      }
    }
    // Three global cables.
    for_each_joint(to.group, mine, [&](std::uint32_t group) {
      if (group == from.group) return;
      if (meet({group, holder(group, from.group, copy)}, to)) {
        ways.push_back(way_to(from, group, copy));
      }
    });
  }
}

}  // namespace contend
