#include "relay/sinks/webhook/webhook_sink.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <new>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "relay/sinks/sink_thread.h"
#include "relay/sinks/webhook/webhook_target.h"
#include "relay/sinks/webhook/webhook_transfer.h"

namespace tarry::relay {
namespace {

constexpr int kPollMs = 60'000;  // libcurl's own time-outs end the wait sooner

void begin_curl() {
  static const CURLcode begun = curl_global_init(CURL_GLOBAL_DEFAULT);
  TARRY_ASSERT(begun == CURLE_OK);
}

}  // namespace

class WebhookSink::Impl final : public SinkThread {
 public:
  Impl(WebhookOptions options, WebhookTarget target)
      : options_(std::move(options)), target_(std::move(target)), multi_(curl_multi_init()) {
    if (!multi_) throw std::bad_alloc();
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(options_.connections));
    curl_multi_setopt(multi_.get(), CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
    begin();
  }
  ~Impl() override { end(); }
  [[nodiscard]] std::string title() const override { return "webhook " + target_.origin; }

 private:
  struct Active {
    std::unique_ptr<WebhookTransfer> transfer;
    std::uint64_t answers_before = 0;
  };

  void wake() override { curl_multi_wakeup(multi_.get()); }

  void wait() override {
    // Starts a waiting message at once; otherwise a free connection would stay unused until the
    // next event.
    if (!waiting_.empty() && active_.size() < options_.connections) return;
    curl_multi_poll(multi_.get(), nullptr, 0, kPollMs, nullptr);
  }
  void work(std::deque<Outgoing> arrived) override {
    std::ranges::move(arrived, std::back_inserter(waiting_));
    begin_some();
    int running = 0;
    curl_multi_perform(multi_.get(), &running);
    finish_some();
  }
  void stop(std::deque<Outgoing> arrived) override {
    std::ranges::move(arrived, std::back_inserter(waiting_));
    break_off();
    turn_away(kStopped);
  }

  void begin_some() {
    while (!waiting_.empty() && active_.size() < options_.connections) {
      Outgoing outgoing = std::move(waiting_.front());
      waiting_.pop_front();
      begin_one(std::move(outgoing));
    }
  }

  void begin_one(Outgoing outgoing) {
    if (outgoing.is_late()) return outgoing.done(too_late());
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(
        std::chrono::system_clock::now().time_since_epoch());
    const auto path = webhook_path(options_, outgoing.delivery);
    if (!path) return outgoing.done(refused(path.error().message));
    const std::string& target = path->empty() ? target_.target : *path;
    const auto lines = webhook_headers(options_, outgoing.delivery, now.count(), target);
    if (!lines) return outgoing.done(refused(lines.error().message));
    const std::string url = target_.origin + target;
    auto transfer =
        std::make_unique<WebhookTransfer>(options_, target_, std::move(outgoing), url, *lines);
    CURL* handle = transfer->handle();
    const CURLMcode added = curl_multi_add_handle(multi_.get(), handle);
    TARRY_ASSERT(added == CURLM_OK);
    active_.emplace(handle, Active{std::move(transfer), answers_});
  }

  void finish_some() {
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* handle = message->easy_handle;
      const CURLcode result = message->data.result;
      const auto found = active_.find(handle);
      TARRY_ASSERT(found != active_.end());
      const auto [transfer, answers_before] = std::move(found->second);
      active_.erase(found);
      Answer answer = transfer->outcome(result);
      curl_multi_remove_handle(multi_.get(), handle);
      const bool timed_out = result == CURLE_OPERATION_TIMEDOUT;
      if (!timed_out && answer.fate != Fate::down) ++answers_;
      // If no answer has come since this request began, each waiting message would run into the
      // same time-out, one after the other.
      const bool away = answer.fate == Fate::down || (timed_out && answers_ == answers_before);
      const std::string reason = answer.reason;
      transfer->answer(std::move(answer));
      if (away) turn_away(reason);
    }
  }

  void break_off() {
    for (auto& [handle, active] : std::exchange(active_, {})) {
      curl_multi_remove_handle(multi_.get(), handle);
      active.transfer->answer(active.transfer->broken_off(kStopped));
    }
  }

  void turn_away(const std::string& reason) {
    for (Outgoing& outgoing : std::exchange(waiting_, {})) outgoing.done(sink_down(reason));
  }

  const WebhookOptions options_;
  const WebhookTarget target_;

  // Used by the thread only, except for waking it.
  std::unique_ptr<CURLM, CurlMultiFree> multi_;
  std::deque<Outgoing> waiting_;
  std::unordered_map<CURL*, Active> active_;
  std::uint64_t answers_ = 0;  // how many answers have come
};

Result<std::unique_ptr<Sink>> WebhookSink::make(WebhookOptions options) {
  begin_curl();
  auto target = check_webhook(options);
  if (!target) return target.error();
  auto impl = std::make_unique<Impl>(std::move(options), *std::move(target));
  return std::unique_ptr<Sink>(new WebhookSink(std::move(impl)));
}

WebhookSink::WebhookSink(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebhookSink::~WebhookSink() = default;
void WebhookSink::send(std::vector<Outgoing> batch) { impl_->send(std::move(batch)); }
void WebhookSink::close() { impl_->close(); }
std::string WebhookSink::title() const { return impl_->title(); }

}  // namespace tarry::relay
