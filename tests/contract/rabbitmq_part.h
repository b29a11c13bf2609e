// The part of the contract that a store in RabbitMQ keeps.
//
// A test that asks for what RabbitMQ cannot do, or for a clock that can be moved, is skipped there:
// `must` and the fixture see to that. CMake holds the number of tests that pass.
#pragma once

#include <string>

#include <tarry/result.h>
#include <tarry/store.h>

namespace tarry::contract {

/// Whether this run of the suite is on RabbitMQ alone: by TARRY_TEST_RABBITMQ in the environment.
[[nodiscard]] bool is_on_rabbitmq();

/// A store in the broker. Claims for kLongLease, which no test outlasts, become claims without a
/// lease of their own, which RabbitMQ does not know.
[[nodiscard]] Store rabbitmq_store(Executor executor);

/// Ends the test here, as skipped. Not within a thread of the test's own.
[[noreturn]] void skip_test(const std::string& why);

/// Why the test of that name says nothing of RabbitMQ; empty: it does.
[[nodiscard]] std::string not_for_rabbitmq(const std::string& suite, const std::string& test);

}  // namespace tarry::contract
