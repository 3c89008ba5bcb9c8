#include "contend/base/threads.hpp"
#include "contend/routes/engines/balance.hpp"

namespace contend {

namespace {

constexpr std::uint32_t kFar = 0xFFFFFFFF;

class BreadthFirst {
 public:
  explicit BreadthFirst(const SwitchLinks& links)
      : links_(&links), distance_(links.switches()), queue_(links.switches()) {}

  void operator()(SwitchId destination, LinkSet& next) {
    distance_.assign(distance_.size(), kFar);
    distance_[destination] = 0;
    queue_[0] = destination;
    std::size_t tail = 1;
    for (std::size_t head = 0; head < tail; ++head) {
      const SwitchId at = queue_[head];
      for (LinkId link = links_->begin(at); link < links_->end(at); ++link) {
        const SwitchId far = links_->to(link);
        if (distance_[far] == kFar) {
          distance_[far] = distance_[at] + 1;
          queue_[tail++] = far;
        }
        if (distance_[far] == distance_[at] + 1) next.insert(far, links_->reverse(link));
      }
    }
  }

 private:
  const SwitchLinks* links_;
  std::vector<std::uint32_t> distance_;
  std::vector<SwitchId> queue_;
};

}  // namespace

MakeNextLinks shortest_paths(const SwitchLinks& links) {
  return [&links] { return NextLinks(BreadthFirst(links)); };
}

void reach_switches(const Fabric& fabric, const SwitchLinks& links, const Targets& targets,
                    Tables& tables) {
  const MakeNextLinks make_next = shortest_paths(links);
  in_parallel(thread_count(), fabric.switches(), 16, [&](const Pieces& pieces) {
    const NextLinks next = make_next();
    std::vector<std::uint64_t> words(links.set_words());
    LinkSet set(links, words);
    std::vector<LinkId> allowed;
    for (const std::size_t k : pieces) {
      const auto destination = static_cast<SwitchId>(k);
      const Address address = targets.switches[destination];
      if (address == 0) continue;
      set.clear();
      next(destination, set);
      for (SwitchId s = 0; s < fabric.switches(); ++s) {
        allowed.clear();
        set.out_of(s, allowed);
        PortNumber& entry = tables[s * targets.addresses + address];
        if (s == destination) {
          entry = 0;
        } else if (!allowed.empty()) {
          entry = links.port(allowed.front());
        }
      }
    }
  });
}

Tables minhop(const Fabric& fabric, const Targets& targets) {
  const SwitchLinks links(fabric);
  return least_loaded(fabric, links, targets, shortest_paths(links), Spread::any);
}

Tables dimension_order(const Fabric& fabric, const Targets& targets) {
  const SwitchLinks links(fabric);
  return least_loaded(fabric, links, targets, shortest_paths(links), Spread::one_neighbour);
}

}  // namespace contend
