// Commands about jobs that the client has reserved. Many in a row are one request.
#include <algorithm>
#include <utility>
#include <variant>

#include "core/limits.h"
#include "server/beanstalk/commands.h"
#include "server/beanstalk/job_headers.h"
#include "server/beanstalk/job_ids.h"

namespace tarry::beanstalk {
namespace {

constexpr std::size_t kMostSettles = 1000;

bool settles(Verb verb) noexcept {
  return verb == Verb::erase || verb == Verb::release || verb == Verb::bury;
}

std::string_view done_word(Verb verb) noexcept {
  switch (verb) {
    case Verb::erase: return "DELETED\r\n";
    case Verb::release: return "RELEASED\r\n";
    default: return "BURIED\r\n";
  }
}

void add_settle(core::SettleRequest& request, const Command& command,
                const Reservation& reservation) {
  add_release(request, reservation);
  core::SettleItem& item = request.items.back();
  if (command.verb == Verb::erase) {
    item.delay.reset();
    item.action = core::SettleAction::ack;
    return;
  }
  item.priority = command.priority;
  if (command.verb == Verb::bury) {
    item.action = core::SettleAction::bury;
    item.delay.reset();
  } else if (command.delay > 0) {
    item.action = core::SettleAction::retry;
    item.delay = delay_of(command.delay);
  }
}

}  // namespace

struct Commands::Settling {
  struct One {
    Verb verb = Verb::erase;
    std::uint64_t job = 0;
    std::uint32_t delay_s = 0;
    Reservation reservation = {};
    std::string reply = {};  // empty: a delete of a job whose reservation has ended
  };
  std::vector<One> all = {};
  std::optional<Error> error = {};
};

Next Commands::settle(const Command& command) {
  auto settling = std::make_shared<Settling>();
  core::SettleRequest request;
  const auto add = [&](const Command& one) {
    Settling::One& entry = settling->all.emplace_back();
    entry.verb = one.verb;
    entry.job = one.id;
    entry.delay_s = one.delay;
    entry.reservation = *client_.take(one.id);
    add_settle(request, one, entry.reservation);
  };
  const auto fits = [&](const Command& next) {
    return settles(next.verb) && settling->all.size() < kMostSettles &&
           client_.find(next.id) != nullptr;
  };
  const Reservation* reserved = client_.find(command.id);
  if (reserved == nullptr) {
    return command.verb == Verb::erase ? erase(command.id) : not_found();
  }
  add(command);
  while (const auto next = host_.another(fits)) add(*next);
  return ask(std::move(request), [this, settling](Result<core::Reply>& result) -> Next {
    return settled(settling, result);
  });
}

Next Commands::settled(std::shared_ptr<Settling> settling, Result<core::Reply>& result) {
  for (std::size_t i = 0; i < settling->all.size(); ++i) {
    Settling::One& one = settling->all[i];
    const core::ItemResult* item = result ? &std::get<core::ItemsReply>(*result).items[i] : nullptr;
    const Error* error = nullptr;
    if (!result) error = &result.error();
    if (item != nullptr && item->error) error = &*item->error;
    if (error != nullptr) {
      // Nothing was done, or it is not known: the client may say it again.
      one.reply = word_of(*error);
      settling->error = *error;
      client_.keep(one.job, std::move(one.reservation));
    } else if (item->outcome == Outcome::done) {
      one.reply = done_word(one.verb);
      const bool has_note = shared_.notes.find(one.job) != nullptr;
      if (one.verb == Verb::release && (one.delay_s != one.reservation.delay_s || has_note)) {
        shared_.notes.at(one.job, one.reservation.tube, one.reservation.key).delay_s = one.delay_s;
      }
    } else if (one.verb != Verb::erase) {
      one.reply = kNotFound;
    }
  }
  return erase_rest(std::move(settling));
}

// The job of a reservation that has run out is ready again, and any client may delete it.
Next Commands::erase_rest(std::shared_ptr<Settling> settling) {
  const auto open =
      std::ranges::find_if(settling->all, [](const auto& one) { return one.reply.empty(); });
  if (open == settling->all.end()) {
    Next next;
    for (const Settling::One& one : settling->all) next.reply += one.reply;
    next.error = settling->error;
    return next;
  }
  // Continues with the rest once this job's last step is known.
  const auto finish = [this, settling, at = static_cast<std::size_t>(open - settling->all.begin())](
                          Next next, const auto& self) -> Next {
    if (!next.request) {
      settling->all[at].reply = std::move(next.reply);
      return erase_rest(settling);
    }
    return ask(*std::move(next.request),
               [then = std::move(next.then), self](Result<core::Reply>& result) mutable -> Next {
                 return self(then(result), self);
               });
  };
  return finish(erase(open->job), finish);
}

Next Commands::touch(const Command& command) {
  if (client_.find(command.id) == nullptr) return not_found();
  core::ExtendRequest request;
  std::vector<std::uint64_t> jobs;
  const auto add = [&](std::uint64_t job) {
    const Reservation& reservation = *client_.find(job);
    core::ExtendItem& item = request.items.emplace_back();
    item.receipt = core::append(request.bytes, reservation.receipt);
    item.lease = lease_of(reservation.ttr_s);
    jobs.push_back(job);
  };
  const auto fits = [&](const Command& next) {
    return next.verb == Verb::touch && jobs.size() < kMostSettles &&
           client_.find(next.id) != nullptr;
  };
  add(command.id);
  while (const auto next = host_.another(fits)) add(next->id);
  return ask(std::move(request),
             [this, jobs = std::move(jobs)](Result<core::Reply>& result) -> Next {
               if (!result) return fail(result.error(), jobs.size());
               Next next;
               const std::int64_t now = clocks_.elapsed_ms();
               const auto& items = std::get<core::ItemsReply>(*result).items;
               for (std::size_t i = 0; i < jobs.size(); ++i) {
                 Reservation* reservation = client_.find(jobs[i]);
                 if (items[i].error) {
                   next.reply += word_of(*items[i].error);
                   next.error = items[i].error;
                 } else if (items[i].outcome == Outcome::done && reservation != nullptr) {
                   reservation->ends_ms = now + lease_of(reservation->ttr_s).count();
                   next.reply += "TOUCHED\r\n";
                 } else {
                   static_cast<void>(client_.take(jobs[i]));
                   next.reply += kNotFound;
                 }
               }
               return next;
             });
}

}  // namespace tarry::beanstalk
