#include "hotspot/hotspot.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "common/ranks.hpp"
#include "timing/clock.hpp"
#include "timing/waiting.hpp"

namespace contend::probe {

namespace {

/// Messages under way at a time: while one ends the next has begun.
constexpr std::size_t under_way = 2;
constexpr int load_tag = 11;
constexpr int stop_tag = 12;

}  // namespace

Load::Load(std::int64_t bytes, MPI_Comm comm)
    : bytes_(bytes),
      comm_(comm),
      buffer_(static_cast<std::size_t>(bytes) * under_way, std::byte{0x5A}) {}

void Load::send_to(int receiver, int stopper) {
  std::array<MPI_Request, under_way> sends;
  sends.fill(MPI_REQUEST_NULL);
  MPI_Request stopped = MPI_REQUEST_NULL;
  check("MPI_Irecv", MPI_Irecv(nullptr, 0, MPI_BYTE, stopper, stop_tag, comm_, &stopped));
  int is_stopped = 0;
  for (std::size_t message = 0; is_stopped == 0; ++message) {
    MPI_Request& slot = sends[message % under_way];
    wait(slot);
    check("MPI_Isend", MPI_Isend(buffer_.data(), static_cast<int>(bytes_), MPI_BYTE, receiver,
                                 load_tag, comm_, &slot));
    check("MPI_Test", MPI_Test(&stopped, &is_stopped, MPI_STATUS_IGNORE));
  }
  // Messages between two ranks stay in order: empty ones fill the receives that are still open.
  for (MPI_Request& slot : sends) {
    wait(slot);
    check("MPI_Isend", MPI_Isend(nullptr, 0, MPI_BYTE, receiver, load_tag, comm_, &slot));
  }
  for (MPI_Request& slot : sends) {
    wait(slot);
  }
}

void Load::receive_from(int sender) {
  std::array<MPI_Request, under_way> receives;
  const auto post = [&](std::size_t slot) {
    check("MPI_Irecv",
          MPI_Irecv(buffer_.data() + slot * static_cast<std::size_t>(bytes_),
                    static_cast<int>(bytes_), MPI_BYTE, sender, load_tag, comm_, &receives[slot]));
  };
  for (std::size_t slot = 0; slot < under_way; ++slot) {
    post(slot);
  }
  std::size_t open = under_way;
  for (std::size_t slot = 0; open > 0; slot = (slot + 1) % under_way) {
    MPI_Status status{};
    wait(receives[slot], status);
    int received = 0;
    check("MPI_Get_count", MPI_Get_count(&status, MPI_BYTE, &received));
    if (received == 0) {
      --open;
    } else {
      post(slot);
    }
  }
}

void Load::stop(int sender, MPI_Comm comm) {
  check("MPI_Send", MPI_Send(nullptr, 0, MPI_BYTE, sender, stop_tag, comm));
}

namespace {

constexpr int victim_tag = 13;
constexpr auto wiped = std::byte{0xA5};

std::byte content(int rank, std::size_t place) {
  return static_cast<std::byte>((static_cast<std::size_t>(rank) * 31 + place * 7 + place / 251) &
                                0xFF);
}

}  // namespace

Hotspot::Hotspot(const Settings& settings, Pair victim, std::vector<Pair> rivals, MPI_Comm comm)
    : settings_(settings), victim_(victim), rivals_(std::move(rivals)), comm_(comm) {
  const int rank = rank_in(comm);
  role_ = Role::idle;
  if (rank == victim_.first || rank == victim_.second) {
    role_ = rank == victim_.first ? Role::asks : Role::answers;
    other_ = rank == victim_.first ? victim_.second : victim_.first;
    const auto bytes = static_cast<std::size_t>(settings_.bytes);
    const auto window = static_cast<std::size_t>(settings_.window);
    sent_.resize(bytes);
    for (std::size_t place = 0; place < bytes; ++place) {
      sent_[place] = content(rank, place);
    }
    received_.assign(bytes * window, wiped);
    requests_.assign(window, MPI_REQUEST_NULL);
  }
  for (const Pair& rival : rivals_) {
    if (rank == rival.first || rank == rival.second) {
      role_ = rank == rival.first ? Role::loads : Role::drains;
      other_ = rank == rival.first ? rival.second : rival.first;
      load_.emplace(settings_.load_bytes, comm);
    }
  }
}

std::vector<std::string> Hotspot::columns() const {
  std::vector<std::string> names = {"begin"};
  for (std::int64_t operation = 1; operation <= settings_.operations; ++operation) {
    names.push_back("after_" + std::to_string(operation));
  }
  return names;
}

void Hotspot::reset(bool verified) {
  if (verified) {
    std::fill(received_.begin(), received_.end(), wiped);
  }
}

void Hotspot::run(Stamps& stamps) {
  if (role_ == Role::loads) {
    load_->send_to(other_, victim_.first);
    skip(stamps);
    return;
  }
  if (role_ == Role::drains) {
    load_->receive_from(other_);
    skip(stamps);
    return;
  }
  if (!rivals_.empty()) {
    wait_until(local_now() + static_cast<std::int64_t>(settings_.lead * 1e9));
  }
  stamps.mark();
  for (std::int64_t operation = 0; operation < settings_.operations; ++operation) {
    exchange();
    stamps.mark();
  }
  if (role_ == Role::asks) {
    for (const Pair& rival : rivals_) {
      Load::stop(rival.first, comm_);
    }
  }
}

void Hotspot::exchange() {
  const bool asks = role_ == Role::asks;
  if (asks) {
    send_window();
    receive_window();
  } else {
    receive_window();
    send_window();
  }
}

void Hotspot::send_window() {
  // A round trip is answered in full; a stream with one empty message when all of it is here.
  const bool streams = settings_.measured == Measured::stream;
  const bool answer = streams && role_ == Role::answers;
  const int count = answer ? 0 : static_cast<int>(settings_.bytes);
  const std::size_t messages = streams && !answer ? requests_.size() : 1;
  for (std::size_t message = 0; message < messages; ++message) {
    check("MPI_Isend",
          MPI_Isend(sent_.data(), count, MPI_BYTE, other_, victim_tag, comm_, &requests_[message]));
  }
  wait_all(requests_);
}

void Hotspot::receive_window() {
  const bool streams = settings_.measured == Measured::stream;
  const bool answer = streams && role_ == Role::asks;
  const int count = answer ? 0 : static_cast<int>(settings_.bytes);
  const std::size_t messages = streams && !answer ? requests_.size() : 1;
  const auto bytes = static_cast<std::size_t>(settings_.bytes);
  for (std::size_t message = 0; message < messages; ++message) {
    check("MPI_Irecv", MPI_Irecv(received_.data() + message * bytes, count, MPI_BYTE, other_,
                                 victim_tag, comm_, &requests_[message]));
  }
  wait_all(requests_);
}

std::optional<std::string> Hotspot::verify() {
  const bool streams = settings_.measured == Measured::stream;
  if (load_ || (streams && role_ == Role::asks)) {
    return std::nullopt;
  }
  const auto bytes = static_cast<std::size_t>(settings_.bytes);
  const std::size_t looked_at = streams ? received_.size() : bytes;
  for (std::size_t place = 0; place < looked_at; ++place) {
    if (received_[place] != content(other_, place % bytes)) {
      return "byte " + std::to_string(place % bytes) + " from rank " + std::to_string(other_) +
             " is wrong";
    }
  }
  return std::nullopt;
}

void Hotspot::skip(Stamps& stamps) const {
  for (std::int64_t column = 0; column <= settings_.operations; ++column) {
    stamps.add(std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace contend::probe
