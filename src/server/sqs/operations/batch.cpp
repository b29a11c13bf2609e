#include "server/sqs/operations/batch.h"

#include <algorithm>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "server/sqs/protocol/reader.h"

namespace tarry::sqs {
namespace {

constexpr std::size_t kMostEntries = 10;
constexpr std::size_t kLongestId = 80;

bool is_entry_id(std::string_view id) noexcept {
  return !id.empty() && id.size() <= kLongestId && std::ranges::all_of(id, [](char c) {
    return base::is_letter(c) || base::is_digit(c) || c == '-' || c == '_';
  });
}

}  // namespace

MaybeFault read_entries(const boost::json::object& params, std::vector<Entry>& entries) {
  Reader reader(params);
  const boost::json::array* given = reader.array("Entries");
  if (reader.fault()) return reader.fault();
  if (given == nullptr || given->empty()) {
    return Fault{Kind::empty_batch, "There should be at least one entry in the request."};
  }
  if (given->size() > kMostEntries) {
    return Fault{Kind::too_many_entries, "Maximum number of entries per request are " +
                                             std::to_string(kMostEntries) + ". You have sent " +
                                             std::to_string(given->size()) + "."};
  }
  for (const boost::json::value& value : *given) {
    const boost::json::object* fields = value.if_object();
    if (fields == nullptr) return Fault{Kind::malformed, "An entry of the batch is not a map."};
    Reader entry(*fields);
    const std::string_view id = entry.required("Id");
    if (entry.fault()) return entry.fault();
    if (!is_entry_id(id)) {
      return Fault{Kind::invalid_batch_id,
                   "The Id " + base::quoted(id) +
                       " is not 1 to 80 letters, digits, hyphens and underscores."};
    }
    if (std::ranges::find(entries, id, &Entry::id) != entries.end()) {
      return Fault{Kind::batch_ids_not_distinct, "Id " + std::string(id) + " repeated."};
    }
    entries.push_back({std::string(id), fields});
  }
  return std::nullopt;
}

void BatchAnswer::succeeded(std::string_view id, Fields fields) {
  fields["Id"] = id;
  successful_.emplace_back(std::move(fields));
}

void BatchAnswer::failed(std::string_view id, const Fault& fault) {
  Fields fields;
  fields["Id"] = id;
  fields["Code"] = fault.query_code();
  fields["Message"] = fault.message;
  fields["SenderFault"] = fault.status() < 500;
  failed_.emplace_back(std::move(fields));
}

Fields BatchAnswer::take() {
  Fields fields;
  fields["Successful"] = std::move(successful_);
  fields["Failed"] = std::move(failed_);
  return fields;
}

}  // namespace tarry::sqs
