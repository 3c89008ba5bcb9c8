// Bisect patterns on the fabrics that tools/bench_fabrics.py wrote: nanoseconds per message and
// core for drawing and counting, beside a bare loop that does the same and nothing else on the same
// arrays. Times are processor times of the threads, the best of several repetitions, so that other
// work on the machine does not count.

#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "contend/congestion/simulate.hpp"
#include "contend/pattern/random_patterns.hpp"
#include "contend/routes/trace.hpp"

namespace {

using namespace contend;

struct Loaded {
  std::vector<SwitchId> host_switch;
  std::vector<PortNumber> host_port;
  std::vector<PortNumber> switch_ports;
  std::vector<Cable> cables;
  std::vector<Address> lid;
  std::vector<std::uint8_t> lmc;
  std::vector<PortNumber> ports;
  std::size_t addresses = 0;
};

template <class T>
std::vector<T> read_array(std::ifstream& file, std::size_t count) {
  std::vector<T> values(count);
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(count * sizeof(T)));
  return values;
}

Loaded load(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const auto counts = read_array<std::uint64_t>(file, 4);
  Loaded loaded;
  loaded.host_switch = read_array<std::uint32_t>(file, counts[0]);
  loaded.host_port = read_array<std::uint16_t>(file, counts[0]);
  loaded.switch_ports = read_array<std::uint16_t>(file, counts[1]);
  const auto from = read_array<std::uint32_t>(file, counts[2]);
  const auto from_port = read_array<std::uint16_t>(file, counts[2]);
  const auto to = read_array<std::uint32_t>(file, counts[2]);
  const auto to_port = read_array<std::uint16_t>(file, counts[2]);
  for (std::size_t k = 0; k < counts[2]; ++k) {
    loaded.cables.push_back({from[k], from_port[k], to[k], to_port[k]});
  }
  loaded.lid = read_array<std::uint32_t>(file, counts[0]);
  loaded.lmc.assign(counts[0], 0);
  loaded.addresses = counts[3];
  loaded.ports = read_array<std::uint16_t>(file, counts[1] * counts[3]);
  return loaded;
}

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What anyone would write for one fabric and one pattern: xorshift, Fisher and Yates, counters.
class BareLoop {
 public:
  BareLoop(const Fabric& fabric, const TableView& tables, const std::vector<Address>& lid)
      : fabric_(fabric), tables_(tables), lid_(lid), usage_(fabric.switch_channels() + 1) {
    hops_ = 0;
    std::vector<ChannelId> route;
    // A fabric too large for a table of routes is walked.
    tabled_ = fabric.hosts() < 10'000;
    std::vector<std::uint32_t> row(fabric.switches(), kNoSwitch);
    for (HostId h = 0; h < fabric.hosts(); ++h) {
      std::uint32_t& r = row[fabric.host_switch(h)];
      if (r == kNoSwitch) {
        r = static_cast<std::uint32_t>(leaves_.size());
        leaves_.push_back(fabric.host_switch(h));
      }
      row_.push_back(r);
    }
    if (!tabled_) return;
    for (const SwitchId leaf : leaves_) {
      for (HostId h = 0; h < fabric.hosts(); ++h) {
        trace(fabric, tables, leaf, h, lid[h], route);
        hops_ = std::max(hops_, route.size());
      }
    }
    table_.assign(leaves_.size() * fabric.hosts() * hops_,
                  static_cast<std::uint16_t>(fabric.switch_channels()));
    for (std::size_t r = 0; r < leaves_.size(); ++r) {
      for (HostId h = 0; h < fabric.hosts(); ++h) {
        trace(fabric, tables, leaves_[r], h, lid[h], route);
        std::copy(route.begin(), route.end(),
                  table_.begin() + static_cast<std::ptrdiff_t>((r * fabric.hosts() + h) * hops_));
      }
    }
  }

  void draw(std::uint64_t seed) {
    std::uint64_t x = seed * 0x9E3779B97F4A7C15U + 1;
    permutation_.resize(fabric_.hosts());
    std::iota(permutation_.begin(), permutation_.end(), 0U);
    for (auto n = static_cast<std::uint32_t>(permutation_.size()); n > 1; --n) {
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      std::swap(permutation_[n - 1], permutation_[(x & 0xFFFFFFFF) * n >> 32]);
    }
  }

  double count() {
    std::fill(usage_.begin(), usage_.end(), std::uint16_t{0});
    return tabled_ ? count_tabled() : count_walked();
  }

 private:
  double count_tabled() {
    const std::size_t pairs = permutation_.size() / 2;
    for (std::size_t m = 0; m < pairs; ++m) {
      for (std::size_t k = 0; k < hops_; ++k) ++usage_[entry(m, pairs)[k]];
    }
    usage_.back() = 1;
    double sum = 0;
    for (std::size_t m = 0; m < pairs; ++m) {
      std::uint16_t most = 1;
      for (std::size_t k = 0; k < hops_; ++k) most = std::max(most, usage_[entry(m, pairs)[k]]);
      sum += 1.0 / most;
    }
    return sum / static_cast<double>(pairs);
  }

  const std::uint16_t* entry(std::size_t m, std::size_t pairs) const {
    const std::uint32_t from = permutation_[m];
    const std::uint32_t to = permutation_[m + pairs];
    return table_.data() + (row_[from] * fabric_.hosts() + to) * hops_;
  }

  double count_walked() {
    const std::size_t pairs = permutation_.size() / 2;
    std::vector<ChannelId> route;
    routes_.clear();
    begin_.assign(1, 0);
    for (std::size_t m = 0; m < pairs; ++m) {
      const std::uint32_t to = permutation_[m + pairs];
      trace(fabric_, tables_, fabric_.host_switch(permutation_[m]), to, lid_[to], route);
      for (const ChannelId channel : route) {
        ++usage_[channel];
        routes_.push_back(channel);
      }
      begin_.push_back(routes_.size());
    }
    double sum = 0;
    for (std::size_t m = 0; m < pairs; ++m) {
      std::uint16_t most = 1;
      for (std::size_t k = begin_[m]; k < begin_[m + 1]; ++k) {
        most = std::max(most, usage_[routes_[k]]);
      }
      sum += 1.0 / most;
    }
    return sum / static_cast<double>(pairs);
  }

  const Fabric& fabric_;
  const TableView& tables_;
  const std::vector<Address>& lid_;
  bool tabled_ = false;
  std::size_t hops_ = 0;
  std::vector<SwitchId> leaves_;
  std::vector<std::uint32_t> row_;
  std::vector<std::uint16_t> table_;
  std::vector<std::uint16_t> usage_;
  std::vector<std::uint32_t> permutation_;
  std::vector<ChannelId> routes_;
  std::vector<std::size_t> begin_;
};

struct PerMessage {
  double drawing = 1e9;
  double counting = 1e9;
  double mean = 0;
  double both() const { return drawing + counting; }
};

/// Every thread does the same work; the slowest counts.
PerMessage measure_bare(const Fabric& fabric, const TableView& tables,
                        const std::vector<Address>& lid, int threads, std::uint32_t samples) {
  PerMessage slowest;
  slowest.drawing = slowest.counting = 0;
#pragma omp parallel num_threads(threads)
  {
    BareLoop loop(fabric, tables, lid);
    double drawing = 0;
    double counting = 0;
    double sum = 0;
    for (std::uint32_t k = 0; k < samples; ++k) {
      const double start = processor_seconds();
      loop.draw(k + 1);
      const double drawn = processor_seconds();
      sum += loop.count();
      counting += processor_seconds() - drawn;
      drawing += drawn - start;
    }
    const double messages = static_cast<double>(fabric.hosts() / 2) * samples;
#pragma omp critical
    {
      slowest.drawing = std::max(slowest.drawing, 1e9 * drawing / messages);
      slowest.counting = std::max(slowest.counting, 1e9 * counting / messages);
      slowest.mean = sum / samples;
    }
  }
  return slowest;
}

PerMessage measure_contend(const Resolver& resolver, const Pattern& pattern, int threads,
                           std::uint32_t samples) {
  Seating seating;
  seating.slots.resize(resolver.places());
  std::iota(seating.slots.begin(), seating.slots.end(), Place{0});
  const BatchResult result =
      simulate(resolver, pattern, seating,
               {1, 0, samples * static_cast<std::uint32_t>(threads), false}, threads);
  const double messages = static_cast<double>(pattern.ranks() / 2) * samples * threads;
  PerMessage found{1e9 * result.drawing_seconds / messages,
                   1e9 * result.counting_seconds / messages, 0};
  found.mean = std::accumulate(result.bandwidth.begin(), result.bandwidth.end(), 0.0) /
               static_cast<double>(result.bandwidth.size());
  return found;
}

void keep_best(PerMessage& best, const PerMessage& found) {
  if (found.both() < best.both()) best = found;
}

void bench(const std::filesystem::path& path) {
  const Loaded loaded = load(path);
  const Fabric fabric(loaded.host_switch, loaded.host_port, loaded.switch_ports, loaded.cables);
  const TableView tables{loaded.ports.data(), fabric.switches(), loaded.addresses};
  Places places;
  places.hosts.resize(fabric.hosts());
  std::iota(places.hosts.begin(), places.hosts.end(), HostId{0});
  const bool tabled = fabric.hosts() < 10'000;
  const AddressView addresses{loaded.lid, loaded.lmc};
  const auto resolver = tabled ? make_tabled_resolver(fabric, tables, addresses, places)
                               : make_walking_resolver(fabric, tables, addresses, places);
  const auto pattern = make_bisect(static_cast<Rank>(fabric.hosts()), false);
  const auto samples =
      static_cast<std::uint32_t>(std::max<std::size_t>(4'000'000 / fabric.hosts(), 20));
  for (const int threads : {1, 2}) {
    PerMessage bare;
    PerMessage ours;
    for (int repeat = 0; repeat < 5; ++repeat) {
      keep_best(bare, measure_bare(fabric, tables, loaded.lid, threads, samples));
      keep_best(ours, measure_contend(*resolver, *pattern, threads, samples));
    }
    std::printf(
        "%-16s %d thread%s  bare %6.2f + %6.2f = %6.2f   contend %6.2f + %6.2f = %6.2f   "
        "ratio %.2f   (mean 1/pi %.4f, %.4f)\n",
        path.stem().c_str(), threads, threads > 1 ? "s" : " ", bare.drawing, bare.counting,
        bare.both(), ours.drawing, ours.counting, ours.both(), ours.both() / bare.both(), bare.mean,
        ours.mean);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* folder = std::getenv("CONTEND_BENCH_FABRICS");
  std::vector<std::filesystem::path> paths(argv + 1, argv + argc);
  if (paths.empty() && folder != nullptr) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".bin") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end(), [](const auto& a, const auto& b) {
      return std::filesystem::file_size(a) < std::filesystem::file_size(b);
    });
  }
  std::printf("ns per message and core, drawing + counting:\n");
  for (const auto& path : paths) bench(path);
}
