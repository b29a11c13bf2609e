#include "engines/redis/node/scripts.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text/ascii.h"
#include "engines/redis/scripts/script_texts.h"

namespace tarry::redis {
namespace {

struct Recipe {
  std::string_view name;
  std::array<std::string_view, 11> pieces;
};

// In the order of Script.
constexpr std::array<Recipe, kScripts> kRecipes = {{
    {"open_store", {texts::k_open_store}},
    {"open_queue", {texts::k_open_queue}},
    {"take_ids", {texts::k_take_ids}},
    {"sweep", {texts::k_sweep}},
    {"create", {texts::k_create}},
    {"push",
     {texts::k_prelude, texts::k_push_fast, texts::k_settings, texts::k_bulk, texts::k_place,
      texts::k_onto, texts::k_push}},
    {"pushed", {texts::k_pushed}},
    {"move",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_brings_expiry, texts::k_place,
      texts::k_onto, texts::k_move}},
    {"claim",
     {texts::k_prelude, texts::k_runs, texts::k_bulk, texts::k_claim_fast, texts::k_settings,
      texts::k_place, texts::k_body, texts::k_take, texts::k_claim}},
    {"claim_keys",
     {texts::k_prelude, texts::k_runs, texts::k_settings, texts::k_bulk, texts::k_place,
      texts::k_body, texts::k_take, texts::k_claim_keys}},
    {"claim_limited",
     {texts::k_prelude, texts::k_runs, texts::k_bulk, texts::k_bucket, texts::k_gate,
      texts::k_claim_fast, texts::k_settings, texts::k_place, texts::k_body, texts::k_take,
      texts::k_claim}},
    {"claim_keys_limited",
     {texts::k_prelude, texts::k_runs, texts::k_settings, texts::k_bulk, texts::k_bucket,
      texts::k_gate, texts::k_place, texts::k_body, texts::k_take, texts::k_claim_keys}},
    {"ack",
     {texts::k_prelude, texts::k_bulk, texts::k_ack_fast, texts::k_settings, texts::k_place,
      texts::k_ack}},
    {"settle",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_settle}},
    {"extend",
     {texts::k_prelude, texts::k_runs, texts::k_settings, texts::k_bulk, texts::k_place,
      texts::k_extend}},
    {"cancel",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_cancel_one,
      texts::k_cancel}},
    {"reschedule",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_reschedule_one,
      texts::k_reschedule}},
    {"get",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_body,
      texts::k_describe, texts::k_get}},
    {"list",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_body,
      texts::k_describe, texts::k_list}},
    {"scan",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_body,
      texts::k_describe, texts::k_scan}},
    {"stats", {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_stats}},
    {"forecast",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_forecast}},
    {"configure", {texts::k_prelude, texts::k_settings, texts::k_bucket, texts::k_configure}},
    {"revive",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_revive}},
    {"purge", {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_purge}},
    {"tick", {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_tick}},
    {"inbox_read", {texts::k_inbox_read}},
    {"inbox_take",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_brings_expiry, texts::k_place,
      texts::k_onto, texts::k_cancel_one, texts::k_reschedule_one, texts::k_inbox_take}},
    {"inbox_done", {texts::k_inbox_done}},
    {"push_closed",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_brings_expiry, texts::k_place,
      texts::k_onto, texts::k_push_closed}},
    {"parted",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_left,
      texts::k_parted}},
    {"adopt",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_brings_expiry, texts::k_place,
      texts::k_held, texts::k_adopt}},
    {"reshard_record", {texts::k_reshard_record}},
    {"reshard_room", {texts::k_reshard_room}},
    {"reshard_close", {texts::k_reshard_close}},
    {"reshard_step", {texts::k_prelude, texts::k_free, texts::k_turn, texts::k_reshard_step}},
    {"reshard_look",
     {texts::k_prelude, texts::k_free, texts::k_turn, texts::k_settings, texts::k_bulk,
      texts::k_place, texts::k_left, texts::k_reshard_look}},
    {"reshard_read",
     {texts::k_prelude, texts::k_need, texts::k_turn, texts::k_settings, texts::k_bulk,
      texts::k_place, texts::k_entry, texts::k_reshard_read}},
    {"reshard_put", {texts::k_prelude, texts::k_need, texts::k_turn, texts::k_reshard_put}},
    {"reshard_leave",
     {texts::k_prelude, texts::k_free, texts::k_turn, texts::k_settings, texts::k_bulk,
      texts::k_place, texts::k_entry, texts::k_left, texts::k_reshard_leave}},
    {"reshard_adopt",
     {texts::k_prelude, texts::k_free, texts::k_turn, texts::k_settings, texts::k_bulk,
      texts::k_brings_expiry, texts::k_place, texts::k_held, texts::k_reshard_adopt}},
    {"reshard_clean",
     {texts::k_prelude, texts::k_free, texts::k_turn, texts::k_settings, texts::k_bulk,
      texts::k_place, texts::k_entry, texts::k_left, texts::k_reshard_clean}},
    {"reshard_inbox", {texts::k_reshard_inbox}},
    {"reshard_seen", {texts::k_prelude, texts::k_free, texts::k_turn, texts::k_reshard_seen}},
    {"reshard_count", {texts::k_prelude, texts::k_free, texts::k_turn, texts::k_reshard_count}},
    {"reshard_retire",
     {texts::k_reshard_retired, texts::k_prelude, texts::k_free, texts::k_turn, texts::k_bulk,
      texts::k_reshard_retire}},
    {"remove_hold",
     {texts::k_prelude, texts::k_settings, texts::k_bulk, texts::k_place, texts::k_remove_hold}},
    {"remove_begin", {texts::k_remove_begin}},
    {"remove_go_on", {texts::k_remove_go_on}},
    {"remove_shard", {texts::k_remove_shard}},
    {"remove_end", {texts::k_remove_end}},
    {"layout_push", {texts::k_layout_prelude, texts::k_layout_push}},
    {"layout_claim", {texts::k_layout_prelude, texts::k_layout_take, texts::k_layout_claim}},
    {"layout_claim_keys",
     {texts::k_layout_prelude, texts::k_layout_take, texts::k_layout_claim_keys}},
    {"layout_settle", {texts::k_layout_prelude, texts::k_layout_settle}},
    {"layout_extend", {texts::k_layout_prelude, texts::k_layout_extend}},
    {"layout_cancel", {texts::k_layout_prelude, texts::k_layout_cancel}},
    {"layout_move_away", {texts::k_layout_prelude, texts::k_layout_move_away}},
    {"layout_reschedule", {texts::k_layout_prelude, texts::k_layout_reschedule}},
    {"layout_get", {texts::k_layout_prelude, texts::k_layout_describe, texts::k_layout_get}},
    {"layout_list", {texts::k_layout_prelude, texts::k_layout_describe, texts::k_layout_list}},
    {"layout_seen", {texts::k_layout_prelude, texts::k_layout_seen}},
    {"layout_stats", {texts::k_layout_prelude, texts::k_layout_stats}},
    {"layout_forecast", {texts::k_layout_prelude, texts::k_layout_forecast}},
    {"layout_purge", {texts::k_layout_prelude, texts::k_layout_purge}},
}};
static_assert(kRecipes.back().name == "layout_purge");

const Recipe& recipe_of(Script script) noexcept {
  return kRecipes[static_cast<std::size_t>(script)];
}

// Adds the Redis commands that a script calls, e.g. HSET for call('HSET', ...).
void add_called(std::string_view text, std::set<std::string>& commands) {
  constexpr std::string_view kCall = "call('";  // redis.call, redis.pcall, and the local `call`
  for (std::size_t at = text.find(kCall); at != std::string_view::npos; at = text.find(kCall, at)) {
    at += kCall.size();
    std::string name;
    for (; at < text.size() && text[at] != '\''; ++at) name += base::to_lower(text[at]);
    commands.insert(std::move(name));
  }
}

}  // namespace

std::string_view name_of(Script script) noexcept { return recipe_of(script).name; }

std::string text_of(Script script, net::RedisChannels channels) {
  const bool sharded = channels == net::RedisChannels::sharded;
  std::string text = sharded ? "local PUBLISH = 'SPUBLISH'\n" : "local PUBLISH = 'PUBLISH'\n";
  const Recipe& recipe = recipe_of(script);
  const bool guarded = std::ranges::find(recipe.pieces, texts::k_prelude) != recipe.pieces.end();
  if (guarded) text += "local finish\nlocal function script()\n";
  for (const std::string_view piece : recipe.pieces) {
    if (piece == texts::k_prelude || piece == texts::k_layout_prelude) text += texts::k_begin;
    text += piece;
    if (piece == texts::k_place) text += texts::k_expiry;
  }
  if (guarded) text += "end\n" + std::string(texts::k_guard);
  return text;
}

std::vector<std::string> commands_of_scripts(ScriptSet set) {
  constexpr auto kNative = static_cast<std::size_t>(kFirstLayoutScript);
  const bool layouts = set == ScriptSet::layouts;
  std::set<std::string> commands;
  for (std::size_t i = layouts ? kNative : 0; i < (layouts ? kScripts : kNative); ++i) {
    add_called(text_of(static_cast<Script>(i), net::RedisChannels::plain), commands);
  }
  return {commands.begin(), commands.end()};
}

}  // namespace tarry::redis
