#include "app/commands/messages/key_pages.h"

namespace tarry::app {
namespace {

constexpr std::uint32_t kPage = 1'000;

}  // namespace

std::optional<Error> each_page(const Queue& queue, const std::vector<State>& states,
                               std::string_view prefix, const EachPage& use) {
  for (const State state : states) {
    ListOptions options;
    options.state = state;
    options.prefix = prefix;
    options.limit = kPage;
    do {
      const auto page = queue.list(options);
      if (!page) return page.error();
      if (!page->messages.empty()) {
        if (auto error = use(page->messages)) return error;
      }
      options.after = page->next;
    } while (!options.after.empty());
  }
  return std::nullopt;
}

std::vector<std::string_view> keys_of(const std::vector<MessageInfo>& page) {
  std::vector<std::string_view> keys;
  keys.reserve(page.size());
  for (const MessageInfo& info : page) keys.emplace_back(info.key);
  return keys;
}

void OutcomeTally::add(const std::vector<Result<Answer>>& answers) {
  for (const Result<Answer>& answer : answers) {
    if (answer) {
      ++counts_[static_cast<std::size_t>(answer->outcome)];
      code_ = worst(code_, exit_code(answer->outcome));
    } else {
      ++failed_;
      if (!error_) error_ = answer.error();
      code_ = worst(code_, exit_code(answer.error().code));
    }
  }
}

void OutcomeTally::add(Outcome outcome, std::uint64_t count) {
  if (count == 0) return;
  counts_[static_cast<std::size_t>(outcome)] += count;
  code_ = worst(code_, exit_code(outcome));
}

std::uint64_t OutcomeTally::count(Outcome outcome) const noexcept {
  return counts_[static_cast<std::size_t>(outcome)];
}

}  // namespace tarry::app
