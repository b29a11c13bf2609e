// Accounts: what each peer, or each token, uses of a server. A peer has an account while it is
// connected, and then until its bucket of requests is full again: so nobody gets a new bucket by
// connecting anew, and a server that millions of addresses have called keeps only the latest.
//
// Invariants
//  1. An account stays where it is while it has a user.
//  2. An account without a user rests: it is forgotten once its bucket is full, or if more than
//     kMostResting rest and it has rested for the longest.
//
// Thread safety: none; the server's thread owns it. The caller passes the time in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "server/limits/rate_bucket.h"

namespace tarry::limits {

struct Account {
  std::string_view name;  // "10.0.0.7", "user 1000"; of a token: "shop"
  RateBucket requests;
  std::size_t connections = 0;
  std::size_t waiting_claims = 0;
  // Memory for arriving requests and for answers.
  std::uint64_t held_requests = 0;
  std::uint64_t held_answers = 0;
};

class Accounts {
 private:
  struct Entry {
    Account account;
    std::size_t users = 0;
    const std::string* key = nullptr;
    // One node: here while it has users, otherwise in `resting_`. So leaving allocates nothing.
    std::list<Entry*> node;
    std::list<Entry*>::iterator at;  // of that node
  };

 public:
  using Clock = RateBucket::Clock;

  static constexpr std::size_t kMostResting = 65'536;

  Accounts() = default;
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;

  /// Uses an account, which it keeps alive. The table must outlive it.
  class User {
   public:
    User() = default;
    User(User&& other) noexcept
        : table_(std::exchange(other.table_, nullptr)),
          entry_(std::exchange(other.entry_, nullptr)) {}
    User& operator=(User&& other) noexcept {
      std::swap(table_, other.table_);
      std::swap(entry_, other.entry_);
      return *this;
    }
    User(const User&) = delete;
    User& operator=(const User&) = delete;
    ~User() {
      if (entry_ != nullptr) table_->leave(*entry_);
    }

    [[nodiscard]] explicit operator bool() const noexcept { return entry_ != nullptr; }
    [[nodiscard]] Account& operator*() const noexcept { return entry_->account; }
    [[nodiscard]] Account* operator->() const noexcept { return &entry_->account; }
    [[nodiscard]] Account* get() const noexcept {
      return entry_ == nullptr ? nullptr : &entry_->account;
    }

   private:
    friend class Accounts;
    User(Accounts& table, Entry& entry) noexcept : table_(&table), entry_(&entry) {}

    Accounts* table_ = nullptr;
    Entry* entry_ = nullptr;
  };

  /// A user of the account of that name, which is made if there is none. It also forgets accounts
  /// that have rested long enough.
  [[nodiscard]] User use(const std::string& name, Clock::time_point now);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  void leave(Entry& entry) noexcept;
  void forget(Entry& entry) noexcept;
  void forget_full(Clock::time_point now) noexcept;

  std::unordered_map<std::string, Entry> entries_;
  std::list<Entry*> resting_;  // the one that has rested for the longest comes first
};

/// Counts one connection in an account, which must outlive it.
class CountedConnection {
 public:
  CountedConnection() = default;
  CountedConnection(const CountedConnection&) = delete;
  CountedConnection& operator=(const CountedConnection&) = delete;
  ~CountedConnection() { leave(); }

  void enter(Account& account) noexcept {
    leave();
    account_ = &account;
    ++account.connections;
  }
  void leave() noexcept {
    if (account_ != nullptr) --std::exchange(account_, nullptr)->connections;
  }

 private:
  Account* account_ = nullptr;
};

}  // namespace tarry::limits
