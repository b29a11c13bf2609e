// The commands. Each function adds its part of the command tree; the command's action runs later,
// through Session::action. The function is in a source file of the same name, in one of the folders
// beside this header.
#pragma once

#include <CLI/CLI.hpp>

#include "app/command_line/session.h"

namespace tarry::app {

void add_serve_command(CLI::App& root, Session& session);     // serve_command.cpp
void add_push_command(CLI::App& root, Session& session);      // push_command.cpp
void add_message_commands(CLI::App& root, Session& session);  // cancel, get, reschedule, ls
void add_claim_command(CLI::App& root, Session& session);     // claim_command.cpp
void add_settle_commands(CLI::App& root, Session& session);   // ack, retry, release, bury, extend
void add_work_command(CLI::App& root, Session& session);      // work_command.cpp
void add_relay_command(CLI::App& root, Session& session);     // relay_command.cpp
void add_intake_command(CLI::App& root, Session& session);    // intake_command.cpp
void add_dead_commands(CLI::App& root, Session& session);     // dead ls, revive, rm
void add_queue_commands(CLI::App& root, Session& session);    // queue ls, queue info, stats
void add_pause_commands(CLI::App& queue, Session& session);
void add_queue_verbs(CLI::App& queue, Session& session);        // queue set, pause, resume, purge
void add_reshard_command(CLI::App& queue, Session& session);    // queue reshard
void add_forecast_command(CLI::App& root, Session& session);    // forecast_command.cpp
void add_why_command(CLI::App& root, Session& session);         // why_command.cpp
void add_schedule_commands(CLI::App& root, Session& session);   // schedule add, ls, ...
void add_top_command(CLI::App& root, Session& session);         // top_command.cpp
void add_health_command(CLI::App& root, Session& session);      // health_command.cpp
void add_clock_command(CLI::App& root, Session& session);       // clock advance
void add_store_commands(CLI::App& root, Session& session);      // store info, check, audit, ...
void add_salvage_command(CLI::App& store, Session& session);    // salvage_command.cpp
void add_acl_command(CLI::App& store, Session& session);        // acl_command.cpp
void add_backup_command(CLI::App& store, Session& session);     // backup_command.cpp
void add_transfer_commands(CLI::App& store, Session& session);  // store export, store import
void add_migrate_command(CLI::App& store, Session& session);    // migrate_command.cpp
void add_config_command(CLI::App& root, Session& session);      // config check
void add_token_commands(CLI::App& root, Session& session);      // token new, token ls, token check
void add_audit_log_command(CLI::App& root, Session& session);   // audit_log_command.cpp
void add_bench_command(CLI::App& root, Session& session);       // bench_command.cpp
void add_version_command(CLI::App& root, Session& session);     // version_command.cpp
void add_shell_commands(CLI::App& root, Session& session);      // completion, man

}  // namespace tarry::app
