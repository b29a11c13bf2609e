// Commands that give the store jobs, and those that name them by keys.
#include <cctype>
#include <utility>
#include <variant>

#include "core/limits.h"
#include "server/beanstalk/commands.h"
#include "server/beanstalk/job_headers.h"

namespace tarry::beanstalk {
namespace {

constexpr std::size_t kMostPuts = 1000;  // of a batch
constexpr std::size_t kMostPutBytes = 4 * 1024 * 1024;

std::string inserted(const core::PushResult& result, std::uint64_t job) {
  if (result.error) return std::string(word_of(*result.error));
  if (result.outcome == Outcome::pushed) return numbered("INSERTED", job);
  // Another protocol has pushed a message under the number.
  return std::string(kInternalError);
}

std::string outcome_word(Outcome outcome) {
  if (outcome == Outcome::unknown) return std::string(kNotFound);
  std::string word(to_string(outcome));
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return word + "\r\n";
}

Next said_of_key(Result<core::Reply>& result) {
  if (!result) return fail(result.error());
  const core::ItemResult& item = std::get<core::ItemsReply>(*result).items.front();
  return item.error ? fail(*item.error) : say(outcome_word(item.outcome));
}

}  // namespace

std::string numbered(std::string_view word, std::uint64_t number) {
  std::string text(word);
  text += ' ';
  text += std::to_string(number);
  text += "\r\n";
  return text;
}

void append_job(std::string& text, std::string_view word, std::uint64_t job,
                std::string_view payload) {
  text += word;
  text += ' ';
  text += std::to_string(job);
  text += ' ';
  text += std::to_string(payload.size());
  text += "\r\n";
  text += payload;
  text += "\r\n";
}

std::string ok(std::string_view yaml) {
  std::string text = "OK " + std::to_string(yaml.size()) + "\r\n";
  text += yaml;
  text += "\r\n";
  return text;
}

void Commands::add_put(core::PushRequest& request, const Command& command) {
  const std::uint32_t ttr = std::max(1u, command.ttr);
  if (headers_.empty() || ttr != headers_ttr_ || command.delay != headers_delay_) {
    headers_ = job_headers(ttr, command.delay);
    headers_ttr_ = ttr;
    headers_delay_ = command.delay;
  }
  shared_.last_ttr_s = ttr;
  core::PushItem& item = request.items.emplace_back();
  item.payload = core::append(request.bytes, command.body);
  item.headers = core::append(request.bytes, headers_);
  item.due = Due::after(delay_of(command.delay));
  item.priority = command.priority;
  item.max_attempts = core::kMaxAttempts;  // beanstalkd never gives up
}

Next Commands::put(const Command& command) {
  client_.count_producer();
  if (host_.is_draining()) return say("DRAINING\r\n", 503);
  if (!may(identity::Scope::push, client_.used())) return forbidden();
  core::PushRequest request;
  request.queue = client_.used();
  add_put(request, command);
  const auto fits = [&](const Command& next) {
    return next.verb == Verb::put && request.items.size() < kMostPuts &&
           request.bytes.size() + next.body.size() < kMostPutBytes;
  };
  while (const auto next = host_.another(fits)) add_put(request, *next);
  for (core::PushItem& item : request.items) item.if_exists = IfExists::reject;
  return push(std::move(request));
}

// A job's number must be known before its push, because it is the key.
Next Commands::push(core::PushRequest request) {
  if (shared_.ids.left() < request.items.size()) {
    return ask(JobIds::more(),
               [this, request = std::move(request)](Result<core::Reply>& result) mutable -> Next {
                 if (!result) return fail(result.error(), request.items.size());
                 const std::size_t before = shared_.ids.left();
                 shared_.ids.add(std::get<core::PushReply>(*result));
                 if (shared_.ids.left() > before) return push(std::move(request));
                 const auto& items = std::get<core::PushReply>(*result).items;
                 const Error unknown{ErrorCode::unavailable, "the store has given no ids for jobs"};
                 const bool told = !items.empty() && items.front().error;
                 return fail(told ? *items.front().error : unknown, request.items.size());
               });
  }
  std::vector<std::uint64_t> jobs;
  jobs.reserve(request.items.size());
  for (core::PushItem& item : request.items) {
    jobs.push_back(shared_.ids.take(request.queue));
    item.key = core::append(request.bytes, std::to_string(jobs.back()));
  }
  shared_.tubes.at(request.queue).seen = true;
  return ask(std::move(request), [jobs = std::move(jobs)](Result<core::Reply>& result) -> Next {
    if (!result) return fail(result.error(), jobs.size());
    const auto& items = std::get<core::PushReply>(*result).items;
    Next next;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      next.reply += inserted(items[i], jobs[i]);
      if (items[i].error) next.error = items[i].error;
    }
    return next;
  });
}

Next Commands::put_key(const Command& command) {
  client_.count_producer();
  if (host_.is_draining()) return say("DRAINING\r\n", 503);
  if (!may(identity::Scope::push, client_.used())) return forbidden();
  core::PushRequest request;
  request.queue = client_.used();
  add_put(request, command);
  request.items.front().key = core::append(request.bytes, command.name);
  shared_.tubes.at(request.queue).seen = true;
  return ask(std::move(request),
             [this, tube = request.queue,
              key = std::string(command.name)](Result<core::Reply>& result) -> Next {
               if (!result) return fail(result.error());
               const auto& item = std::get<core::PushReply>(*result).items.front();
               if (item.error) return fail(*item.error);
               const std::uint64_t job = job_of(tube, key, item.id);
               if (!is_key_of_job(job)) static_cast<void>(shared_.notes.at(job, tube, key));
               const bool is_new =
                   item.outcome == Outcome::pushed || item.outcome == Outcome::replaced;
               return say(is_new ? numbered("INSERTED", job) : outcome_word(item.outcome));
             });
}

Next Commands::cancel_key(const Command& command) {
  if (!may(identity::Scope::push, client_.used())) return forbidden();
  core::CancelRequest request;
  request.queue = client_.used();
  request.keys.push_back(core::append(request.bytes, command.name));
  return ask(std::move(request), said_of_key);
}

Next Commands::reschedule_key(const Command& command) {
  if (!may(identity::Scope::push, client_.used())) return forbidden();
  core::RescheduleRequest request;
  request.queue = client_.used();
  core::RescheduleItem& item = request.items.emplace_back();
  item.key = core::append(request.bytes, command.name);
  item.due = Due::after(delay_of(command.delay));
  return ask(std::move(request), said_of_key);
}

}  // namespace tarry::beanstalk
