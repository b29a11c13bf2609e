// The commands. Each function adds its part of the command tree; the command's action runs later,
// through Invocation::action. The function is in a source file of the same name, in one of the
// folders beside this header.
#pragma once

#include <CLI/CLI.hpp>

#include "app/command_line/invocation.h"

namespace tarry::app {

void add_serve_command(CLI::App& root, Invocation& invocation);     // serve_command.cpp
void add_push_command(CLI::App& root, Invocation& invocation);      // push_command.cpp
void add_message_commands(CLI::App& root, Invocation& invocation);  // cancel, get, reschedule, ls
void add_claim_command(CLI::App& root, Invocation& invocation);     // claim_command.cpp
void add_settle_commands(CLI::App& root,
                         Invocation& invocation);               // ack, retry, release, bury, extend
void add_work_command(CLI::App& root, Invocation& invocation);  // work_command.cpp
void add_relay_command(CLI::App& root, Invocation& invocation);   // relay_command.cpp
void add_intake_command(CLI::App& root, Invocation& invocation);  // intake_command.cpp
void add_dead_commands(CLI::App& root, Invocation& invocation);   // dead ls, revive, rm
void add_queue_commands(CLI::App& root, Invocation& invocation);  // queue ls, queue info, stats
void add_pause_commands(CLI::App& queue, Invocation& invocation);
void add_queue_verbs(CLI::App& queue, Invocation& invocation);  // queue set, pause, resume, purge
void add_reshard_command(CLI::App& queue, Invocation& invocation);   // queue reshard
void add_forecast_command(CLI::App& root, Invocation& invocation);   // forecast_command.cpp
void add_why_command(CLI::App& root, Invocation& invocation);        // why_command.cpp
void add_history_command(CLI::App& root, Invocation& invocation);    // history_command.cpp
void add_schedule_commands(CLI::App& root, Invocation& invocation);  // schedule add, ls, ...
void add_top_command(CLI::App& root, Invocation& invocation);        // top_command.cpp
void add_health_command(CLI::App& root, Invocation& invocation);     // health_command.cpp
void add_clock_command(CLI::App& root, Invocation& invocation);      // clock advance
void add_store_commands(CLI::App& root, Invocation& invocation);    // store info, check, audit, ...
void add_salvage_command(CLI::App& store, Invocation& invocation);  // salvage_command.cpp
void add_acl_command(CLI::App& store, Invocation& invocation);      // acl_command.cpp
void add_backup_command(CLI::App& store, Invocation& invocation);   // backup_command.cpp
void add_transfer_commands(CLI::App& store, Invocation& invocation);  // store export, store import
void add_migrate_command(CLI::App& store, Invocation& invocation);    // migrate_command.cpp
void add_config_command(CLI::App& root, Invocation& invocation);      // config check
void add_token_commands(CLI::App& root,
                        Invocation& invocation);  // token new, token ls, token check
void add_audit_log_command(CLI::App& root, Invocation& invocation);  // audit_log_command.cpp
void add_bench_command(CLI::App& root, Invocation& invocation);      // bench_command.cpp
void add_version_command(CLI::App& root, Invocation& invocation);    // version_command.cpp
void add_shell_commands(CLI::App& root, Invocation& invocation);     // completion, man

}  // namespace tarry::app
