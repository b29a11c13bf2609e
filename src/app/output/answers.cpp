#include "app/output/answers.h"

#include <utility>

#include <fmt/format.h>

#include "app/output/json.h"
#include "base/assert.h"
#include "base/text/text.h"
#include "wire/parts/batch.h"

namespace tarry::app {
namespace {

std::string details(const Answer& answer) {
  if (answer.settlement) {
    return fmt::format("{} at {}", to_string(answer.settlement->how),
                       time_text(answer.settlement->when));
  }
  return answer.due ? "due " + time_text(*answer.due) : std::string();
}

void write(wire::JsonWriter& json, std::string_view what, const std::vector<std::string>& names,
           const std::vector<Result<Answer>>& answers) {
  json.begin_object().name("results").begin_array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    json.begin_object().bytes_field(what, names[i]);
    if (answers[i]) {
      write_fields(json, *answers[i]);
    } else {
      wire::write_error(json, answers[i].error());
    }
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

ExitCode print_answers(Output& output, std::string_view what, const std::vector<std::string>& names,
                       const std::vector<Result<Answer>>& answers) {
  TARRY_ASSERT(names.size() == answers.size());
  ExitCode code = ExitCode::done;
  Table table({{"OUTCOME"}, {what == "key" ? "KEY" : "RECEIPT", false, true}, {"", false, true}});
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Result<Answer>& answer = answers[i];
    if (answer) {
      code = worst(code, exit_code(answer->outcome));
      table.add({to_string(answer->outcome), names[i], details(*answer)});
    } else {
      code = worst(code, exit_code(answer.error().code));
      output.error(answer.error());
      if (names.size() > 1) table.add({"failed", names[i], ""});
    }
  }
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) { write(json, what, names, answers); });
  } else if (!table.empty()) {
    output.print(table);
  }
  return code;
}

ExitCode tell_unreadable(Output& output, const StoreStats& stats) {
  ExitCode code = ExitCode::done;
  for (const UnreadableQueue& queue : stats.unreadable) {
    code =
        worst(code, output.fail({queue.error.code, "queue " + base::quoted(queue.queue) +
                                                       " cannot be read: " + queue.error.message}));
  }
  return code;
}

}  // namespace tarry::app
