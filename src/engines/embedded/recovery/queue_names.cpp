#include "engines/embedded/recovery/queue_names.h"

namespace tarry::embedded {

void QueueNames::end(std::uint32_t queue, std::vector<Ended>& ended) {
  const auto told = told_.find(queue);
  if (told == told_.end()) return;
  ended.push_back({queue, told->second.gaps});
  numbers_.erase(told->second.name);
  told_.erase(told);
}

std::vector<QueueNames::Ended> QueueNames::tell(const QueueRecord& record, std::uint32_t gaps) {
  std::vector<Ended> ended;
  const std::string name(record.name);
  if (record.frees()) {
    if (this->name(record.queue) == "") return ended;  // each opening repeats the record
    end(record.queue, ended);
    ended.assign(1, {record.queue, gaps});  // a queue without a message
    told_[record.queue] = {name, true, gaps};
    return ended;
  }
  if (const auto other = numbers_.find(name);
      other != numbers_.end() && other->second != record.queue) {
    end(other->second, ended);
  }
  if (const auto told = told_.find(record.queue); told != told_.end()) {
    const bool again = told->second.removed && !record.removed;  // a removal is never taken back
    if (told->second.name != name || again) end(record.queue, ended);
  }
  told_[record.queue] = {name, record.removed, gaps};
  numbers_[name] = record.queue;
  return ended;
}

std::optional<QueueNames::Ended> QueueNames::tell(const PutRecord& record) {
  const auto told = told_.find(record.queue);
  if (told == told_.end() || !told->second.removed) return std::nullopt;
  // While a queue is being removed, cleaning still copies its messages.
  if (record.copy && !told->second.name.empty()) return std::nullopt;
  std::vector<Ended> ended;
  end(record.queue, ended);
  return ended.front();
}

std::optional<std::string> QueueNames::name(std::uint32_t queue) const {
  const auto told = told_.find(queue);
  if (told == told_.end()) return std::nullopt;
  return told->second.name;
}

}  // namespace tarry::embedded
