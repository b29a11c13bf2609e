// Commands about any job, by its number.
#include <algorithm>
#include <utility>
#include <variant>

#include "server/beanstalk/commands.h"
#include "server/beanstalk/job_headers.h"
#include "server/beanstalk/job_ids.h"
#include "server/beanstalk/stats_text.h"

namespace tarry::beanstalk {

/// Looks for a job in the tubes where it may be.
struct Commands::Search {
  std::uint64_t job = 0;
  bool with_payload = false;
  identity::Scope scope = identity::Scope::read;
  Found found = {};
  std::vector<std::pair<std::string, std::string>> places = {};  // tube and key
  std::size_t at = 0;
  bool asked_names = false;

  void add(const std::string& tube, std::string key) {
    const auto is_same = [&](const auto& place) { return place.first == tube; };
    if (std::ranges::none_of(places, is_same)) places.emplace_back(tube, std::move(key));
  }
};

Next Commands::locate(std::uint64_t job, bool with_payload, identity::Scope scope, Found found) {
  auto search = std::make_shared<Search>();
  search->job = job;
  search->with_payload = with_payload;
  search->scope = scope;
  search->found = std::move(found);
  if (const Reservation* reserved = client_.find(job)) {
    search->add(reserved->tube, reserved->key);
  } else if (const JobNote* note = shared_.notes.find(job)) {
    search->add(note->tube, note->key);
  }
  add_candidates(*search);
  return look(std::move(search));
}

void Commands::add_candidates(Search& search) const {
  if (!is_key_of_job(search.job)) return;
  for (const auto& [name, tube] : shared_.tubes.all()) {
    if (may_be_in(search.job, name)) search.add(name, std::to_string(search.job));
  }
}

Next Commands::look(std::shared_ptr<Search> search) {
  while (search->at < search->places.size() &&
         !may(search->scope, search->places[search->at].first)) {
    ++search->at;
  }
  if (search->at < search->places.size()) {
    const auto& [tube, key] = search->places[search->at++];
    core::GetRequest request;
    request.queue = tube;
    request.keys.push_back(core::append(request.bytes, key));
    request.with_payload = search->with_payload;
    return ask(std::move(request), [this, search, tube, key](Result<core::Reply>& result) -> Next {
      if (!result) {
        if (result.error().code == ErrorCode::not_found) return look(search);
        return fail(result.error());
      }
      Result<MessageInfo>& item = std::get<core::GetReply>(*result).items.front();
      if (!item || item->state == State::remembered || job_of(tube, key, item->id) != search->job) {
        return look(search);
      }
      return search->found(Place{tube, key, std::move(*item)});
    });
  }
  if (search->asked_names || !is_key_of_job(search->job)) return search->found(std::nullopt);
  search->asked_names = true;
  core::StatsRequest names;
  names.names_only = true;
  return ask(std::move(names), [this, search](Result<core::Reply>& result) -> Next {
    if (!result) return fail(result.error());
    for (const QueueStats& queue : std::get<StoreStats>(*result).queues) {
      if (is_tube_name(queue.queue)) shared_.tubes.at(queue.queue).seen = true;
    }
    add_candidates(*search);
    return look(search);
  });
}

Next Commands::peek(const Command& command) {
  return locate(command.id, true, identity::Scope::read,
                [job = command.id](std::optional<Place> place) -> Next {
                  if (!place) return not_found();
                  Next next;
                  append_job(next.reply, "FOUND", job, place->info.payload);
                  return next;
                });
}

Next Commands::erase(std::uint64_t job) {
  return locate(job, false, identity::Scope::push, [this](std::optional<Place> place) -> Next {
    return place ? erase(*place) : not_found();
  });
}

Next Commands::erase(const Place& place) {
  if (place.info.state == State::leased) return not_found();
  core::CancelRequest request;
  request.queue = place.tube;
  request.keys.push_back(core::append(request.bytes, place.key));
  return ask(std::move(request), [](Result<core::Reply>& result) -> Next {
    if (!result) return fail(result.error());
    const core::ItemResult& item = std::get<core::ItemsReply>(*result).items.front();
    if (item.error) return fail(*item.error);
    // `stopping`: somebody has reserved it since it was found; no one gets it after that.
    const bool gone = item.outcome == Outcome::cancelled || item.outcome == Outcome::stopping;
    return gone ? say("DELETED\r\n") : not_found();
  });
}

Next Commands::kick_job(const Command& command) {
  return locate(command.id, false, identity::Scope::push,
                [this](std::optional<Place> place) -> Next {
                  if (!place) return not_found();
                  if (place->info.state != State::dead && place->info.state != State::scheduled) {
                    return not_found();
                  }
                  // A reschedule revives a dead message, too.
                  core::RescheduleRequest request;
                  request.queue = place->tube;
                  core::RescheduleItem& item = request.items.emplace_back();
                  item.key = core::append(request.bytes, place->key);
                  return ask(std::move(request),
                             [this, tube = place->tube,
                              info = std::move(place->info)](Result<core::Reply>& result) -> Next {
                               if (!result) return fail(result.error());
                               const core::ItemResult& answer =
                                   std::get<core::ItemsReply>(*result).items.front();
                               if (answer.error) return fail(*answer.error);
                               if (answer.outcome == Outcome::rescheduled) note_kick(tube, info);
                               const bool kicked = answer.outcome == Outcome::rescheduled ||
                                                   answer.outcome == Outcome::revived;
                               return kicked ? say("KICKED\r\n") : not_found();
                             });
                });
}

Next Commands::stats_job(const Command& command) {
  return locate(command.id, false, identity::Scope::read,
                [this, job = command.id](std::optional<Place> place) -> Next {
                  if (!place) return not_found();
                  JobFigures figures{job, place->tube, place->info, clocks_.wall_ms()};
                  if (const JobNote* note = shared_.notes.find(job)) figures.note = *note;
                  return say(ok(yaml_of(figures)));
                });
}

}  // namespace tarry::beanstalk
