#include "server/session/admission.h"

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "server/limits/limit.h"

namespace tarry::session {

Admission::Admission(ServerContext& context, std::function<void()> emptied)
    : context_(context), emptied_(std::move(emptied)) {
  context_.closed = [this](Connection* connection) { on_closed(connection); };
  context_.clients = [this] { return clients(); };
}

std::vector<Client> Admission::clients() const {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Client> known;
  for (const auto& [key, open] : open_) {
    const Connection& connection = *open;
    const Session& session = connection.session();
    const std::string_view front = connection.answering().name();
    Client& client = known[{session.peer(), session.counted_token(), front}];
    if (client.connections == 0) {
      client.peer = session.peer();
      client.identity = session.counted_token();
      client.front = front;
    }
    ++client.connections;
    client.waiting_claims += session.counts_as_waiting() ? 1 : 0;
    client.held_bytes += session.held().sum();
  }
  std::vector<Client> clients;
  clients.reserve(known.size());
  for (auto& [key, client] : known) clients.push_back(std::move(client));
  return clients;
}

void Admission::admit(Front& front, listening::Stream stream) {
  const std::size_t most = context_.options.max_connections;
  if (open_.size() >= most) close_an_idle_one();
  const std::size_t before = open_.size();
  if (before >= most + limits::reserve_beside(most)) {
    context_.count_refusal(limits::Limit::connections, limits::Scope::total, {});
    return;  // closes the stream
  }
  const auto connection = front.connect(std::move(stream));
  if (!connection->enter()) return;
  open_.emplace(connection.get(), connection);
  front.meter().connected();
  connection->start(before < most ? Connection::Place::regular : Connection::Place::reserve);
}

void Admission::close_an_idle_one() {
  constexpr int kMostTries = 8;  // a connection may have bytes that are not read yet
  auto& idle = context_.idle;
  for (int tries = 0; tries < kMostTries && !idle.empty(); ++tries) {
    const auto longest = open_.at(idle.front());
    if (longest->give_way()) {
      const std::string text = "there are " + std::to_string(context_.options.max_connections) +
                               " connections, which is the limit; the one that was idle for the "
                               "longest was closed";
      if (const auto line = refusals_.line(text, LogThrottle::Clock::now())) {
        context_.warn("connection_limit", *line);
      }
      return;
    }
    idle.splice(idle.end(), idle, idle.begin());
  }
}

void Admission::on_closed(Connection* connection) {
  connection->front().meter().disconnected();
  open_.erase(connection);
  if (open_.empty()) emptied_();
}

}  // namespace tarry::session
