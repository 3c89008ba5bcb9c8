#include "contend/routes/mend.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "contend/base/error.hpp"
#include "contend/routes/in_tree.hpp"
#include "contend/routes/links.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kLost = std::numeric_limits<std::uint32_t>::max();

/// An address, the switch that it is at, and the port by which it leaves there; 0: the switch.
struct Place {
  Address address;
  SwitchId at;
  PortNumber port;
};

std::vector<Place> places_of(const Fabric& fabric, const Targets& targets) {
  std::vector<Place> places;
  for (const Destination& to : destinations(fabric, targets.hosts)) {
    places.push_back({to.address, fabric.host_switch(to.host), fabric.host_port(to.host)});
  }
  for (SwitchId s = 0; s < fabric.switches(); ++s) {
    if (targets.switches[s] != 0) places.push_back({targets.switches[s], s, 0});
  }
  return places;
}

class Mending {
 public:
  Mending(const Fabric& fabric, const Targets& targets, const Tables& tables)
      : fabric_(fabric),
        links_(fabric),
        width_(targets.addresses),
        mended_{tables, std::vector<std::size_t>(fabric.switches(), 0)},
        hops_(fabric.switches()),
        load_(links_.links(), 0),
        link_of_channel_(fabric.switch_channels(), kNone) {
    if (tables.size() != fabric.switches() * width_) {
      throw Error("tables do not belong to the fabric");
    }
    for (SwitchId s = 0; s < links_.switches(); ++s) {
      for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
        link_of_channel_[fabric.out(s, links_.port(link))] = link;
      }
    }
    for (const Place& place : places_of(fabric, targets)) {
      if (is_routed(place)) places_.push_back(place);
    }
    for (const Place& place : places_) {
      for (SwitchId s = 0; s < links_.switches(); ++s) {
        if (const LinkId link = link_of(s, place.address); link != kNone) ++load_[link];
      }
    }
  }

  MendedTables run() {
    for (const Place& place : places_) {
      follow(place);
      lead_the_lost(place);
    }
    return std::move(mended_);
  }

 private:
  static constexpr LinkId kNone = std::numeric_limits<LinkId>::max();

  PortNumber& entry(SwitchId s, Address address) { return mended_.tables[s * width_ + address]; }

  /// The link by which a switch forwards; kNone where no cable is.
  LinkId link_of(SwitchId s, Address address) {
    const PortNumber port = entry(s, address);
    const ChannelId channel = port == kNoPort ? kNoChannel : fabric_.out(s, port);
    return channel < fabric_.switch_channels() ? link_of_channel_[channel] : kNone;
  }

  /// Whether any other switch has an entry for an address.
  bool is_routed(const Place& place) {
    for (SwitchId s = 0; s < links_.switches(); ++s) {
      if (s != place.at && entry(s, place.address) != kNoPort) return true;
    }
    return false;
  }

  void change(SwitchId s, Address address, PortNumber port) {
    if (entry(s, address) == port) return;
    if (const LinkId before = link_of(s, address); before != kNone) --load_[before];
    entry(s, address) = port;
    ++mended_.changed[s];
    if (const LinkId after = link_of(s, address); after != kNone) ++load_[after];
  }

  /// Finds from where routes arrive, and by how many hops.
  void follow(const Place& place) {
    constexpr std::uint32_t kUnseen = kLost - 1;
    std::fill(hops_.begin(), hops_.end(), kUnseen);
    change(place.at, place.address, place.port);
    hops_[place.at] = 0;
    for (SwitchId start = 0; start < links_.switches(); ++start) {
      path_.clear();
      SwitchId s = start;
      while (hops_[s] == kUnseen) {
        // Taken for lost until it arrives: a route that comes back to where it was is a loop.
        hops_[s] = kLost;
        path_.push_back(s);
        const LinkId link = link_of(s, place.address);
        if (link == kNone) break;
        s = links_.to(link);
      }
      if (hops_[s] >= kUnseen) continue;
      for (std::uint32_t hops = hops_[s]; !path_.empty(); path_.pop_back()) {
        hops_[path_.back()] = ++hops;
      }
    }
  }

  /// From switches that arrive to those beside them that do not, the nearest first.
  void lead_the_lost(const Place& place) {
    if (std::find(hops_.begin(), hops_.end(), kLost) == hops_.end()) return;
    ring_.clear();
    for (SwitchId s = 0; s < links_.switches(); ++s) {
      if (hops_[s] != kLost) enter(s);
    }
    for (std::uint32_t hops = 0; hops < ring_.size(); ++hops) {
      found_.clear();
      for (const SwitchId near : ring_[hops]) {
        for (LinkId link = links_.begin(near); link < links_.end(near); ++link) {
          const SwitchId far = links_.to(link);
          if (hops_[far] != kLost) continue;
          hops_[far] = hops + 1;
          found_.push_back(far);
        }
      }
      // In an order of their own, whatever led to them.
      std::sort(found_.begin(), found_.end());
      for (const SwitchId s : found_) {
        enter(s);
        change(s, place.address, links_.port(least_used(s, hops)));
      }
    }
    for (SwitchId s = 0; s < links_.switches(); ++s) {
      if (hops_[s] == kLost) change(s, place.address, kNoPort);
    }
  }

  void enter(SwitchId s) {
    if (hops_[s] >= ring_.size()) ring_.resize(hops_[s] + 1);
    ring_[hops_[s]].push_back(s);
  }

  /// Of the links to switches so many hops away the one with fewest addresses.
  LinkId least_used(SwitchId s, std::uint32_t hops) const {
    LinkId best = kNone;
    for (LinkId link = links_.begin(s); link < links_.end(s); ++link) {
      if (hops_[links_.to(link)] != hops) continue;
      if (best == kNone || load_[link] < load_[best]) best = link;
    }
    return best;
  }

  const Fabric& fabric_;
  SwitchLinks links_;
  std::size_t width_;
  MendedTables mended_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> hops_;  ///< to the address, by switch
  std::vector<std::uint32_t> load_;  ///< addresses that use a link
  std::vector<LinkId> link_of_channel_;
  std::vector<SwitchId> path_;
  std::vector<std::vector<SwitchId>> ring_;  ///< switches by hops
  std::vector<SwitchId> found_;
};

}  // namespace

MendedTables mend(const Fabric& fabric, const Targets& targets, const Tables& tables) {
  return Mending(fabric, targets, tables).run();
}

}  // namespace contend
