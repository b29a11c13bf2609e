// Engine and model side by side: random sequences of commands. Each answer is compared, and at the
// end all messages. A failing sequence is shrunk and printed, together with the parameters that
// repeat it.
//
// RC_PARAMS="max_success=5000 max_size=200" runs more and longer sequences; "seed=…" repeats one.
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/detail/TestListenerAdapter.h>
#include <rapidcheck/gtest.h>

#include "model_commands.h"

namespace tarry::contract {
namespace {

rc::detail::Configuration configuration(int sequences, int commands) {
  rc::detail::Configuration config = rc::detail::configuration();
  config.testParams.maxSuccess = sequences;
  config.testParams.maxSize = commands;
  const char* wanted = std::getenv("RC_PARAMS");
  return wanted == nullptr ? config : rc::detail::configFromString(wanted, config);
}

// Settings with which something happens within a few commands.
SettingsPatch any_settings() {
  SettingsPatch patch;
  patch.lease = *rc::gen::element<Millis>(1s, 10s);
  patch.max_attempts = *rc::gen::element<std::uint32_t>(1, 2, 10);
  patch.backoff_min = patch.backoff_max = 0ms;  // the model cannot know the jitter of a retry
  patch.remember = *rc::gen::element<Millis>(0s, 1ms, 10s);
  patch.dead_keep = *rc::gen::element<Millis>(1s, 30s, 30 * 24h);
  patch.if_exists = *rc::gen::element(IfExists::reject, IfExists::replace);
  return patch;
}

enum class Groups : std::uint8_t { none, some };

void play(const EngineSpec& spec, Groups groups) {
  ModelBench bench(spec);
  SettingsPatch settings = any_settings();
  if (groups == Groups::some) {
    settings.group = Grouping{Grouping::By::header, "h"};
    settings.group_order =
        spec.shards > 1 ? GroupOrder::push : *rc::gen::element(GroupOrder::due, GroupOrder::push);
  }
  const Model initial = bench.initial_model(settings);
  const bool reopens = bench.can_reopen();
  const auto acts = *rc::state::gen::commands(
      initial, [reopens](const Model& model) { return any_act(model, reopens); });
  rc::state::runAll(acts, initial, bench);

  Model model = initial;
  for (const auto& act : acts) act->apply(model);
  bench.check_all(model, 3);
  if (!reopens) return;
  bench.reopen();
  bench.check_all(model, 1000);
}

void check(const EngineSpec& spec, int sequences, Groups groups = Groups::none) {
  const rc::detail::Configuration config = configuration(sequences, 100);
  rc::detail::TestMetadata metadata;
  metadata.id = std::string("Model/") + spec.name;
  metadata.description = metadata.id;
  rc::detail::TestListenerAdapter listener;
  const rc::detail::TestResult result =
      rc::detail::checkTestable([&spec, groups] { play(spec, groups); }, metadata,
                                config.testParams, listener, config.reproduce);
  if (result.template is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  text << "\nPlay it again with RC_PARAMS=\"seed=" << config.testParams.seed
       << " max_success=" << config.testParams.maxSuccess
       << " max_size=" << config.testParams.maxSize << '"';
  FAIL() << text.str();
}

TEST(Model, MemoryAnswersAsTheModelDoes) { check({"memory", Kind::memory, 1}, 500); }
TEST(Model, FileAnswersAsTheModelDoesAlsoWhenReopened) { check({"file", Kind::file, 1}, 200); }
TEST(Model, FourShardsAnswerAsTheModelDoes) { check({"file4", Kind::file, 4}, 100); }
TEST(Model, MemoryWithGroupsAnswersAsTheModelDoes) {
  check({"memory", Kind::memory, 1}, 200, Groups::some);
}
TEST(Model, FileWithGroupsAnswersAsTheModelDoesAlsoWhenReopened) {
  check({"file", Kind::file, 1}, 100, Groups::some);
}
TEST(Model, FourShardsWithGroupsAnswerAsTheModelDoes) {
  check({"file4", Kind::file, 4}, 60, Groups::some);
}
TEST(Model, HttpAnswersAsTheModelDoes) {
  check({"http", Kind::memory, 1, RedisServers::one, By::http}, 100);
}

TEST(Model, HttpBeforeRedisAnswersAsTheModelDoes) {
  check({"http_redis", Kind::redis, 1, RedisServers::one, By::http}, 40);
}

TEST(Model, RedisAnswersAsTheModelDoesAlsoWhenReopened) { check({"redis", Kind::redis, 1}, 150); }
TEST(Model, FourShardsInRedisAnswerAsTheModelDoes) { check({"redis4", Kind::redis, 4}, 80); }
TEST(Model, RedisClusterAnswersAsTheModelDoesAlsoWhenReopened) {
  check({"cluster", Kind::redis, 1, RedisServers::cluster}, 50);
}

TEST(Model, SentinelAnswersAsTheModelDoesAlsoWhenReopened) {
  check({"sentinel", Kind::redis, 1, RedisServers::sentinel}, 40);
}

class ModelByCommandLine : public testing::TestWithParam<EngineSpec> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ModelByCommandLine);
INSTANTIATE_TEST_SUITE_P(On, ModelByCommandLine, testing::ValuesIn(command_line_engines()),
                         EngineName());

TEST_P(ModelByCommandLine, AnswersAsTheModelDoes) { check(GetParam(), 20); }

}  // namespace
}  // namespace tarry::contract
