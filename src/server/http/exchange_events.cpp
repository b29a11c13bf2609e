// An exchange that sends the console's events: server-sent events with the store's figures, each
// second while they change.
#include <string>
#include <utility>

#include "server/console/cookie.h"
#include "server/http/exchange.h"
#include "server/http/handlers/rights.h"
#include "wire/json/json_writer.h"
#include "wire/parts/problem.h"
#include "wire/stats.h"

namespace tarry::http {

// Runs when the head, or an event, has been sent.
void Exchange::go_on() {
  wait_to_send();
  if (!is_streaming()) return;
  if (!looking_) {
    looking_.emplace();
    const auto cookie = console::session_in(message());
    if (cookie) looking_->session = *cookie;
    looking_->has_news = front_.feed().store() != nullptr;
    looking_->seat = front_.feed().take_seat(executor(), [this] {
      looking_->has_news = true;
      guard([this] { send_figures(); });
    });
  }
  send_figures();
}

void Exchange::send_figures() {
  if (!is_streaming() || !looking_->has_news) return;
  // Its session may have ended, by a logout or with its token.
  const session::Options& options = context().options;
  const Time now = options.token_clock();
  const bool ended = session().identity()->has_ended(now) ||
                     (!looking_->session.empty() && options.tokens.required() &&
                      front_.sessions().find(looking_->session, options.tokens, now) == nullptr);
  if (ended) {
    looking_->seat.reset();
    close();
    return;
  }
  looking_->has_news = false;
  send_more(event());
}

std::string Exchange::event() {
  const console::StatsFeed& feed = front_.feed();
  std::string text = "data: {";
  if (const Error* trouble = feed.trouble()) {
    const Response response = problem(*trouble);
    text += R"("trouble":)" + response.body + "}\n\n";
    return text;
  }
  const Service& service = front_.service();
  const Time now =
      service.now ? service.now() : std::chrono::floor<Millis>(std::chrono::system_clock::now());
  text += R"("now_ms":)" + std::to_string(now.time_since_epoch().count()) + ",";
  text += feed.changes(*session().identity(), looking_->seen);
  if (const StoreStats* store = feed.store()) {
    StoreStats shown = *store;
    leave_out_unseen(shown, *session().identity());
    text += R"(,"store":)" + wire::encode_store_stats(shown);
  }
  text += "}\n\n";
  return text;
}

}  // namespace tarry::http
