#include "common/record.hpp"

#include <algorithm>
#include <cstdio>

#include "common/json.hpp"

namespace contend::probe {

namespace {

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds * 1e6);
  return text;
}

std::string padded(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

// Sorts; 0 for no values.
double part(std::vector<double>& values, double share) {
  if (values.empty()) {
    return 0.0;
  }
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

void Record::begin(const RunFacts& facts) {
  JsonObject frame;
  frame.text("kind", "probe").text("probe", facts.probe).text("version", facts.version);
  frame.integer("ranks", facts.ranks).text("library", facts.library);
  frame.text("standard", facts.standard).texts("arguments", facts.arguments);
  // An endless budget is null.
  const Settings& settings = facts.settings;
  frame.number("budget_s", settings.budget).number("precision", settings.precision);
  frame.integers("repetitions", {settings.least, settings.most});
  frame.integer("warmups", settings.warm_ups).truth("verify", settings.verify);
  frame.integer("seed", facts.seed);
  frame.number("epoch_unix_s", facts.epoch_unix).number("timer_s", facts.timer);
  frame.integer("cells", static_cast<std::int64_t>(facts.cells));
  file_.write(frame.str());
}

void Record::ranks(const Machines& machines, bool oversubscribed) {
  JsonObject frame;
  frame.text("kind", "ranks").texts("host", machines.host).integers("pid", machines.pid);
  frame.texts("cpus", machines.cpus).integers("host_cpus", machines.host_cpus);
  frame.truth("oversubscribed", oversubscribed);
  file_.write(frame.str());
}

void Record::clock(const Synchronised& found) {
  JsonObject frame;
  frame.text("kind", "clock").number("at_s", found.at);
  frame.numbers("offset_s", found.offset).numbers("drift", found.drift);
  frame.numbers("round_trip_s", found.round_trip).numbers("residual_s", found.residual);
  file_.write(frame.str());
}

void Record::cell(std::size_t number, const Cell& cell, const std::vector<std::string>& columns) {
  JsonObject frame;
  frame.text("kind", "cell").integer("cell", static_cast<std::int64_t>(number));
  frame.texts("columns", columns);
  for (const auto& [name, label] : cell.labels) {
    frame.label(name, label);
  }
  file_.write(frame.str());
}

void Record::end(std::size_t number, const Cell& cell, const Ending& ending,
                 const Results& results) {
  JsonObject frame;
  frame.text("kind", "end").integer("cell", static_cast<std::int64_t>(number));
  frame.text("reason", ending.reason);
  if (ending.verified) {
    frame.truth("verified", *ending.verified);
  } else {
    frame.null("verified");
  }
  frame.text("said", ending.said);
  file_.write(frame.str());
  if (table_) {
    row(cell, ending, results);
  }
}

void Record::done(std::vector<double> overhead) {
  JsonObject frame;
  frame.text("kind", "done").number("overhead_s", part(overhead, 0.5));
  frame.number("overhead_p99_s", part(overhead, 0.99));
  file_.write(frame.str());
  file_.close();
}

void Record::row(const Cell& cell, const Ending& ending, const Results& results) {
  std::string title;
  std::string line;
  for (const auto& [name, label] : cell.labels) {
    const std::size_t width = std::max<std::size_t>(12, name.size());
    title += padded(name, width) + " ";
    line += padded(words_of(label), width) + " ";
  }
  title += "samples  late    median us         95 % interval       max us  ended by\n";
  const std::vector<double>& used = results.used();
  const auto interval = median_interval(used);
  const std::string bounds =
      interval ? microseconds(interval->low) + " - " + microseconds(interval->high) : "-";
  const double middle =
      used.empty() ? 0.0 : 0.5 * (used[(used.size() - 1) / 2] + used[used.size() / 2]);
  line += padded(std::to_string(results.count()), 7) + padded(std::to_string(results.late()), 6);
  line += padded(used.empty() ? "-" : microseconds(middle), 13);
  line += padded(bounds, 22);
  line += padded(used.empty() ? "-" : microseconds(used.back()), 13) + "  " + ending.reason;
  line += ending.said.empty() ? "" : ": " + ending.said;
  line += (remark_ && !used.empty() ? "; " + remark_(cell, middle) : "") + "\n";
  // Not all cells have the same labels.
  if (title != title_) {
    title_ = title;
    line = title + line;
  }
  std::fwrite(line.data(), 1, line.size(), stdout);
  if (std::fflush(stdout) != 0) {
    throw CannotWrite("standard output cannot be written");
  }
}

}  // namespace contend::probe
