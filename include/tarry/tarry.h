// All of tarry's public headers. Programs that link tarry::embedded cannot use
// <tarry/schedule.h> and <tarry/server.h>.
#pragma once

#include <tarry/clock.h>
#include <tarry/history.h>
#include <tarry/log.h>
#include <tarry/message.h>
#include <tarry/metrics.h>
#include <tarry/projection.h>
#include <tarry/queue.h>
#include <tarry/result.h>
#include <tarry/schedule.h>
#include <tarry/server.h>
#include <tarry/settings.h>
#include <tarry/store.h>
#include <tarry/time.h>
#include <tarry/unique_function.h>
#include <tarry/version.h>
#include <tarry/why.h>
#include <tarry/worker.h>
