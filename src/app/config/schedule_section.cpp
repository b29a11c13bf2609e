#include "app/config/schedule_section.h"

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"
#include "schedule/declared.h"

namespace tarry::app::config {
namespace {

std::optional<Time> moment(Section& section, std::string_view key) {
  const auto text = section.text(key);
  if (!text) return std::nullopt;
  const auto ms = base::parse_time_ms(*text);
  if (ms) return Time(Millis(*ms));
  section.fail(key, ms.error().message);
  return std::nullopt;
}

schedule::Missed missed_of(Section& section) {
  using schedule::Missed;
  const auto word = section.choice("missed", {"skip", "one", "all"});
  for (const Missed policy : {Missed::skip, Missed::all}) {
    if (word == to_string(policy)) return policy;
  }
  return Missed::one;
}

schedule::Definition read_definition(Section& section) {
  schedule::Definition definition;
  definition.name = section.text("name").value_or("");
  schedule::RecurrenceSpec& spec = definition.recurrence;
  spec.when = section.text("when").value_or("");
  spec.zone = section.text("zone").value_or("");
  spec.start = moment(section, "start");
  spec.end = moment(section, "end");
  spec.jitter =
      section.duration("jitter", Millis(0), Millis(schedule::kMaxIntervalMs)).value_or(Millis(0));
  definition.queue = section.text("queue").value_or("");
  definition.payload = section.text("payload").value_or("");
  for (auto& [name, value] : section.named_texts("headers")) {
    definition.headers.push_back({name, std::move(value)});
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  const auto priority = section.count("priority", 0, kMost).value_or(kDefaultPriority);
  definition.priority = static_cast<std::uint32_t>(priority);
  definition.missed = missed_of(section);
  section.finish();
  return definition;
}

}  // namespace

std::vector<schedule::Definition> read_schedules(Section& whole) {
  std::vector<schedule::Definition> found;
  std::map<std::string, std::uint64_t> lines;  // of the names
  std::size_t number = 0;
  for (Section& section : whole.sections("schedule")) {
    if (++number > schedule::kMaxDeclared) {
      section.fail("", fmt::format("is too much: at most {} schedules", schedule::kMaxDeclared));
      break;
    }
    const std::size_t before = section.problem_count();
    schedule::Definition definition = read_definition(section);
    const std::string who =
        definition.name.empty() ? fmt::format("number {}", number) : base::quoted(definition.name);
    for (const auto& [key, value] :
         {std::pair("name", &definition.name), std::pair("when", &definition.recurrence.when),
          std::pair("queue", &definition.queue)}) {
      if (value->empty() && section.line_of(key) == section.line()) {
        section.fail(key, fmt::format("is missing in schedule {}", who));
      }
    }
    if (section.problem_count() > before) continue;
    const auto [same, is_new] = lines.emplace(definition.name, section.line());
    if (!is_new) {
      section.fail("name", fmt::format("{} is the name of the schedule in line {} already; "
                                       "choose another",
                                       who, same->second));
    } else if (const auto good = schedule::check(definition); !good) {
      section.fail("", fmt::format("{}: {}", who, good.error().message));
    } else {
      found.push_back(std::move(definition));
    }
  }
  return found;
}

}  // namespace tarry::app::config
