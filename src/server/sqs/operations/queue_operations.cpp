// CreateQueue, GetQueueUrl, ListQueues, DeleteQueue, PurgeQueue.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text/base64.h"
#include "base/text/text.h"
#include "server/sqs/operations/operations.h"
#include "server/sqs/protocol/reader.h"
#include "server/sqs/queues/fifo.h"
#include "server/sqs/queues/queue_attributes.h"
#include "server/sqs/queues/queue_info.h"
#include "server/sqs/queues/redrive.h"
#include "server/sqs/queues/tags.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMostListed = 1'000;

Fields url_fields(const Call& call, std::string_view queue) {
  Fields fields;
  fields["QueueUrl"] = url_of(call, queue);
  return fields;
}

std::int64_t seconds_now(const Call& call) {
  return std::chrono::floor<std::chrono::seconds>(call.service.now().time_since_epoch()).count();
}

/// An attribute that differs from what the queue has; empty if none does.
std::string differing(const QueueInfo& queue, const GivenAttributes& given) {
  for (const auto& [name, value] : given.texts) {
    // `false` and no value are the same.
    if (value_of(queue, name).value_or(value == "false" ? value : "") != value) return name;
  }
  return {};
}

Step make_queue(const CallPtr& call, const QueueInfo& known, const GivenAttributes& given,
                Texts tags) {
  const std::string name = known.name;
  QueueRecord record;
  record.sources = known.record.sources;
  record.tags = std::move(tags);
  record.created_s = record.modified_s = seconds_now(*call);
  put(given, record);
  core::ConfigureRequest configure{name, patch_of(given, is_fifo(record), true)};
  const std::string target = given.dead_letter_queue.value_or("");
  // The record comes first: a queue that exists without it would have SQS's defaults.
  return ask_for<core::PushReply>(
      write_record(name, record),
      [call, name, target,
       configure = std::move(configure)](core::PushReply& pushed) mutable -> Step {
        if (pushed.items.size() == 1 && pushed.items.front().error) {
          return fault_of(*pushed.items.front().error);
        }
        return ask_for<core::ConfigureReply>(
            std::move(configure), [call, name, target](const core::ConfigureReply&) -> Step {
              call->service.queues->forget(name);
              return note_source(call, target, name,
                                 [call, name]() -> Step { return url_fields(*call, name); });
            });
      });
}

Step give_order(const CallPtr& call, const std::string& name) {
  SettingsPatch patch;
  set_order(patch);
  return ask_for<core::ConfigureReply>(core::ConfigureRequest{name, patch},
                                       [call, name](const core::ConfigureReply&) -> Step {
                                         call->service.queues->forget(name);
                                         return url_fields(*call, name);
                                       });
}

}  // namespace

Step create_queue(const CallPtr& call) {
  Reader params(call->params);
  const std::string name(params.required("QueueName"));
  GivenAttributes given;
  Texts tags;
  if (const json::object* attributes = params.object("Attributes")) {
    if (auto fault = read_attributes(*attributes, !call->service.strict, given)) {
      return *std::move(fault);
    }
  }
  for (const std::string_view field : {"tags", "Tags"}) {
    if (const json::object* from = params.object(field)) {
      if (auto fault = read_tags(*from, tags)) return *std::move(fault);
    }
  }
  if (params.fault()) return *params.fault();
  if (!is_queue_name(name)) {
    return invalid_value(
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to "
        "80 in length; the name is " +
        base::quoted(name) + ".");
  }
  if (auto refused = check_scope(*call, identity::Scope::admin, name)) return *std::move(refused);
  const auto fifo = asks_for_fifo(*call, name, given);
  if (const auto* fault = std::get_if<Fault>(&fifo)) return *fault;
  const bool in_order = std::get<bool>(fifo);
  if (auto fault = check_type(given, in_order, true, !call->service.strict)) {
    return *std::move(fault);
  }
  const std::string target = given.dead_letter_queue.value_or("");
  return check_target(
      call, target, in_order,
      [call, name, given = std::move(given), tags = std::move(tags)]() mutable -> Step {
        return with_info(
            call, name,
            [call, given = std::move(given),
             tags = std::move(tags)](const QueueInfoPtr& queue) mutable -> Step {
              if (!queue->exists) return make_queue(call, *queue, given, std::move(tags));
              const std::string other = differing(*queue, given);
              const bool has_order = queue->stats.settings.group_order == GroupOrder::push;
              if (other.empty() && is_fifo(queue->record) && !has_order) {
                return give_order(call, queue->name);  // an earlier call was cut short
              }
              if (other.empty()) return url_fields(*call, queue->name);
              return Fault{Kind::already_exists,
                           "A queue already exists with the same name and a different value for "
                           "attribute " +
                               other + "."};
            },
            Fresh::yes);
      });
}

Step get_queue_url(const CallPtr& call) {
  Reader params(call->params);
  const std::string name(params.required("QueueName"));
  if (params.fault()) return *params.fault();
  if (!is_queue_name(name)) return no_such_queue();
  const bool may_know = std::ranges::any_of(
      identity::kScopes, [&](identity::Scope scope) { return call->identity->may(scope, name); });
  if (!may_know) {
    if (auto refused = check_scope(*call, identity::Scope::read, name)) return *std::move(refused);
  }
  return with_queue(call, name, [call](const QueueInfoPtr& queue) -> Step {
    return url_fields(*call, queue->name);
  });
}

Step list_queues(const CallPtr& call) {
  Reader params(call->params);
  const std::string prefix(params.text("QueueNamePrefix").value_or(""));
  const auto most = params.number("MaxResults", 1, kMostListed);
  const auto token = params.text("NextToken");
  std::string after;
  if (token && !token->empty()) {
    if (auto decoded = base::base64url_decode(*token)) {
      after = *std::move(decoded);
    } else {
      params.fail(invalid_value("The NextToken is not one that ListQueues gave."));
    }
  }
  if (params.fault()) return *params.fault();
  return ask_for<StoreStats>(
      core::StatsRequest{{}, true}, [call, prefix, after, most](const StoreStats& stats) -> Step {
        std::vector<std::string> names;
        for (const QueueStats& one : stats.queues) {
          const bool listed = is_queue_name(one.queue) && one.queue.starts_with(prefix) &&
                              one.queue > after &&
                              call->identity->may(identity::Scope::read, one.queue);
          if (listed) names.push_back(one.queue);
        }
        std::ranges::sort(names);
        Fields fields;
        const auto page = static_cast<std::size_t>(most.value_or(kMostListed));
        if (names.size() > page) {
          names.resize(page);
          if (most) fields["NextToken"] = base::base64url_encode(names.back());
        }
        if (names.empty()) return fields;
        json::array urls;
        for (const std::string& name : names) urls.emplace_back(url_of(*call, name));
        fields["QueueUrls"] = std::move(urls);
        return fields;
      });
}

Step delete_queue(const CallPtr& call) {
  return on_queue(
      call, identity::Scope::admin,
      [call](const QueueInfoPtr& queue) -> Step {
        return ask_for<core::CountReply>(
            core::RemoveRequest{queue->name, true},
            [call, name = queue->name](const core::CountReply&) -> Step {
              call->service.queues->forget(name);
              return ask_for<core::ItemsReply>(
                  delete_record(name), [](const core::ItemsReply&) -> Step { return Fields(); });
            });
      },
      Fresh::yes);
}

Step purge_queue(const CallPtr& call) {
  return on_queue(call, identity::Scope::admin, [](const QueueInfoPtr& queue) -> Step {
    return ask_for<core::CountReply>(core::PurgeRequest{queue->name},
                                     [](const core::CountReply&) -> Step { return Fields(); });
  });
}

}  // namespace tarry::sqs
