#include "command_line.h"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <variant>

#include "command_words.h"
#include "core/engine.h"
#include "core/engine_parts/answer_thread.h"
#include "open/handles/store_state.h"

namespace tarry::contract {
namespace {

// Invariants
//  1. Each request has its own thread, which runs the completion at its end.
//  2. A thread is joined by a later `submit` or by `close`, never by itself.
class CommandLineEngine final : public core::Engine {
 public:
  explicit CommandLineEngine(std::string url) : url_(std::move(url)) {}
  ~CommandLineEngine() override { close(); }

  core::Ticket submit(core::Request request, core::Completion completion) override {
    const std::lock_guard lock(mutex_);
    const core::Ticket ticket = ++last_ticket_;
    if (closed_) {
      answers_.post([completion = std::move(completion)]() mutable {
        completion(Error{ErrorCode::closed, "the store is closed"});
      });
      return ticket;
    }
    join_ended();
    Job& job = jobs_[ticket];
    if (const auto* claim = std::get_if<core::ClaimRequest>(&request)) {
      job.waits = claim->wait.count() > 0;
    }
    job.thread = std::thread([this, ticket, &job, request = std::move(request),
                              completion = std::move(completion)]() mutable {
      const core::EngineThreadScope scope;
      Result<core::Reply> reply = answer(job, request);
      completion(std::move(reply));
      completion = nullptr;
      const std::lock_guard ended(mutex_);
      ended_.push_back(ticket);
    });
    return ticket;
  }

  void withdraw(core::Ticket ticket) override {
    const std::lock_guard lock(mutex_);
    const auto found = jobs_.find(ticket);
    if (found != jobs_.end() && found->second.waits) stop(found->second);
  }

  [[nodiscard]] core::Capabilities capabilities() const override {
    core::Capabilities capabilities;
    capabilities.engine = "remote";
    capabilities.forecast = true;
    return capabilities;
  }

  void close() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      for (auto& [ticket, job] : jobs_) {
        if (job.waits) stop(job);
      }
    }
    // Once closed_ is set, no job is added, and a job stays in jobs_ until its thread was joined.
    for (auto& [ticket, job] : jobs_) {
      if (job.thread.joinable()) job.thread.join();
    }
  }

 private:
  struct Job {
    ProgramRun program;
    std::thread thread;
    bool waits = false;
    std::mutex mutex;
    bool stopped = false;
  };

  static void stop(Job& job) {
    {
      const std::lock_guard lock(job.mutex);
      job.stopped = true;
    }
    job.program.stop();
  }

  Result<core::Reply> answer(Job& job, const core::Request& request) {
    const auto run = [&](const std::vector<std::string>& words, std::string_view input) {
      std::vector<std::string> all{"--store", url_, "-o", "json"};
      all.insert(all.end(), words.begin(), words.end());
      return job.program.run_to_end(all, input);
    };
    Result<core::Reply> reply = say_on_command_line(request, run);
    const std::lock_guard lock(job.mutex);
    // The program was stopped. The server releases any messages that it had handed to the program.
    if (!job.stopped) return reply;
    if (is_closed()) return Error{ErrorCode::closed, "the store was closed"};
    return core::Reply(core::ClaimReply());
  }

  [[nodiscard]] bool is_closed() const noexcept override {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

  void join_ended() {
    for (const core::Ticket ticket : ended_) {
      const auto found = jobs_.find(ticket);
      found->second.thread.join();
      jobs_.erase(found);
    }
    ended_.clear();
  }

  const std::string url_;
  mutable std::mutex mutex_;
  core::Ticket last_ticket_ = 0;
  bool closed_ = false;
  std::map<core::Ticket, Job> jobs_;
  std::vector<core::Ticket> ended_;  // requests whose threads have nothing left to do
  core::AnswerThread answers_;
};

}  // namespace

Store command_line_store(const std::string& url, Executor executor) {
  return Store(std::make_shared<detail::StoreState>(std::make_unique<CommandLineEngine>(url),
                                                    std::move(executor), std::nullopt));
}

}  // namespace tarry::contract
