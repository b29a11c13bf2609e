#include "server/sqs/queues/queue_info.h"

#include <algorithm>
#include <utility>

#include "base/text/ascii.h"
#include "server/sqs/protocol/reader.h"

namespace tarry::sqs {
namespace {

constexpr std::chrono::seconds kKnownFor{5};
constexpr std::size_t kMostKept = 10'000;
constexpr std::string_view kAccount = "000000000000";
constexpr std::string_view kArn = "arn:aws:sqs:";

Step take_stats(const CallPtr& call, const std::string& queue, QueueRecord record, WithInfo next) {
  return ask(
      core::StatsRequest{queue},
      [call, queue, record = std::move(record),
       next = std::move(next)](Result<core::Reply>& result) mutable -> Step {
        auto info = std::make_shared<QueueInfo>();
        info->name = queue;
        info->record = std::move(record);
        if (!result && result.error().code != ErrorCode::not_found) {
          return fault_of(result.error());
        }
        auto* stats = result ? std::get_if<StoreStats>(&*result) : nullptr;
        for (QueueStats& one : stats != nullptr ? stats->queues : std::vector<QueueStats>()) {
          if (one.queue != queue) continue;
          info->exists = true;
          info->stats = std::move(one);
        }
        if (info->exists) call->service.queues->keep(info);
        return next(info);
      });
}

}  // namespace

QueueInfoPtr QueueCache::find(std::string_view queue) {
  const auto found = kept_.find(queue);
  if (found == kept_.end()) return nullptr;
  if (found->second.until > Clock::now()) return found->second.info;
  kept_.erase(found);
  return nullptr;
}

void QueueCache::keep(QueueInfoPtr info) {
  const auto now = Clock::now();
  if (kept_.size() >= kMostKept) {
    std::erase_if(kept_, [&](const auto& one) { return one.second.until <= now; });
    if (kept_.size() >= kMostKept) kept_.clear();
  }
  std::string name = info->name;
  kept_.insert_or_assign(std::move(name), Kept{std::move(info), now + kKnownFor});
}

void QueueCache::forget(std::string_view queue) {
  if (const auto found = kept_.find(queue); found != kept_.end()) kept_.erase(found);
}

Step with_info(const CallPtr& call, std::string queue, WithInfo next, Fresh fresh) {
  if (fresh == Fresh::no) {
    if (const auto known = call->service.queues->find(queue)) return next(known);
  }
  auto get = read_record(queue);
  return ask_for<core::GetReply>(std::move(get),
                                 [call, queue = std::move(queue),
                                  next = std::move(next)](core::GetReply& reply) mutable -> Step {
                                   if (reply.items.size() != 1)
                                     return Fault{Kind::internal, "the engine lost an item"};
                                   QueueRecord record;
                                   if (auto& item = reply.items.front(); item) {
                                     // What is only remembered was deleted with its queue.
                                     if (item->state != State::remembered) {
                                       auto decoded = decode_record(item->payload);
                                       if (!decoded) return fault_of(decoded.error());
                                       record = *std::move(decoded);
                                     }
                                   } else if (item.error().code != ErrorCode::not_found) {
                                     return fault_of(item.error());
                                   }
                                   return take_stats(call, queue, std::move(record),
                                                     std::move(next));
                                 });
}

Step with_queue(const CallPtr& call, std::string queue, WithInfo next, Fresh fresh) {
  return with_info(
      call, std::move(queue),
      [next = std::move(next)](const QueueInfoPtr& info) mutable -> Step {
        if (!info->exists) return no_such_queue();
        return next(info);
      },
      fresh);
}

bool is_queue_name(std::string_view name) noexcept {
  constexpr std::size_t kLongest = 80;
  constexpr std::string_view kFifo = ".fifo";
  if (name.size() > kLongest) return false;
  if (name.ends_with(kFifo)) name.remove_suffix(kFifo.size());
  return !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](char c) {
    return base::is_letter(c) || base::is_digit(c) || c == '-' || c == '_';
  });
}

std::string_view name_in_url(std::string_view url) noexcept {
  while (url.ends_with('/')) url.remove_suffix(1);
  const std::size_t slash = url.rfind('/');
  return slash == std::string_view::npos ? url : url.substr(slash + 1);
}

std::string url_of(const Call& call, std::string_view queue) {
  std::string url = call.base_url;
  url += '/';
  url += kAccount;
  url += '/';
  url += queue;
  return url;
}

std::string arn_of(const Call& call, std::string_view queue) {
  std::string arn(kArn);
  arn += call.region;
  arn += ':';
  arn += kAccount;
  arn += ':';
  arn += queue;
  return arn;
}

std::string_view name_in_arn(std::string_view arn) noexcept {
  if (!arn.starts_with(kArn) || std::ranges::count(arn, ':') != 5) return {};
  return arn.substr(arn.rfind(':') + 1);
}

Step on_queue(const CallPtr& call, identity::Scope scope, WithInfo next, Fresh fresh) {
  Reader params(call->params);
  const std::string name(name_in_url(params.required("QueueUrl")));
  if (params.fault()) return *params.fault();
  if (!is_queue_name(name)) return no_such_queue();
  if (auto refused = check_scope(*call, scope, name)) return *std::move(refused);
  return with_queue(call, name, std::move(next), fresh);
}

}  // namespace tarry::sqs
