#include "server/sqs/queues/queue_record.h"

#include <utility>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "core/limits.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

json::object object_of(const Texts& texts) {
  json::object all;
  for (const auto& [name, value] : texts) all[name] = value;
  return all;
}

bool read_texts(const json::object& from, std::string_view name, Texts& into) {
  const json::value* found = from.if_contains(name);
  const json::object* all = found != nullptr ? found->if_object() : nullptr;
  if (all == nullptr) return false;
  for (const auto& [key, value] : *all) {
    const json::string* text = value.if_string();
    if (text == nullptr) return false;
    into.emplace(key, *text);
  }
  return true;
}

std::int64_t seconds_in(const json::object& from, std::string_view name) {
  const json::value* found = from.if_contains(name);
  const std::int64_t* number = found != nullptr ? found->if_int64() : nullptr;
  return number != nullptr ? *number : 0;
}

}  // namespace

std::string encode(const QueueRecord& record) {
  json::object all;
  all["attributes"] = object_of(record.attributes);
  all["tags"] = object_of(record.tags);
  all["created"] = record.created_s;
  all["modified"] = record.modified_s;
  all["sources"] = json::array(record.sources.begin(), record.sources.end());
  return json::serialize(all);
}

Result<QueueRecord> decode_record(std::string_view text) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* all = error ? nullptr : value.if_object();
  QueueRecord record;
  if (all == nullptr || !read_texts(*all, "attributes", record.attributes) ||
      !read_texts(*all, "tags", record.tags)) {
    return Error{ErrorCode::damaged, "a record in the queue " + std::string(kRecordsQueue) +
                                         " is not one that an SQS front has written"};
  }
  record.created_s = seconds_in(*all, "created");
  record.modified_s = seconds_in(*all, "modified");
  const json::value* sources = all->if_contains("sources");
  if (sources == nullptr || !sources->is_array()) return record;
  for (const json::value& source : sources->get_array()) {
    if (const json::string* name = source.if_string()) record.sources.emplace_back(*name);
  }
  return record;
}

core::GetRequest read_record(std::string_view queue) {
  core::GetRequest get;
  get.queue = kRecordsQueue;
  get.keys.push_back(core::append(get.bytes, queue));
  return get;
}

core::PushRequest write_record(std::string_view queue, const QueueRecord& record) {
  core::PushRequest push;
  push.queue = kRecordsQueue;
  core::PushItem item;
  item.key = core::append(push.bytes, queue);
  item.payload = core::append(push.bytes, encode(record));
  item.due = Due::after(Millis(core::kMaxDelayMs));
  item.if_exists = IfExists::replace;
  push.items.push_back(item);
  return push;
}

core::CancelRequest delete_record(std::string_view queue) {
  core::CancelRequest cancel;
  cancel.queue = kRecordsQueue;
  cancel.keys.push_back(core::append(cancel.bytes, queue));
  return cancel;
}

}  // namespace tarry::sqs
