#include "engines/embedded/tools/backup.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engines/embedded/journal/begun_mark.h"
#include "engines/embedded/journal/journal_format.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/journal/segment_scanner.h"
#include "engines/embedded/recovery/recovery.h"
#include "engines/embedded/store/store_files.h"
#include "engines/embedded/tools/inspect.h"

namespace tarry::embedded {
namespace {

// A round fails only if cleaning removes one of its segments meanwhile. Far fewer rounds suffice,
// unless cleaning is faster than the backup.
constexpr int kMostRounds = 100;

constexpr std::size_t kChunk = std::size_t{1} << 20;

using Told = std::function<void(std::uint64_t)>;

// One shard's journal, as far as the backup has taken it.
class ShardBackup {
 public:
  ShardBackup(storage::Directory& source, storage::Directory& target, SegmentPlace place,
              std::uint64_t hash_seed, BackupReport& report, const Told& told)
      : source_(&source),
        target_(&target),
        place_(place),
        hash_seed_(hash_seed),
        report_(&report),
        told_(&told) {}

  Result<void> run() {
    for (int round = 0; round < kMostRounds; ++round) {
      auto whole = take_round();
      if (!whole) return std::move(whole).error();
      if (*whole) return end();
    }
    return Unexpected(ErrorCode::unavailable,
                      source_->path() +
                          ": segments are cleaned away faster than they are copied; "
                          "try when there is less to do, or onto the same disk");
  }

 private:
  struct Segment {
    std::uint64_t number = 0;
    HeaderState state = HeaderState::blank;
    SegmentHeader header;
    std::shared_ptr<storage::File> file;
  };

  struct Segments {
    std::uint64_t mark = 0;  // the begun mark
    std::vector<Segment> begun;
    std::vector<Segment> behind;  // without a header
  };
  using Found = std::optional<Segments>;

  Result<void> end() {
    if (auto marked = raise_begun(*target_, 0, mark_); !marked) return std::move(marked).error();
    return target_->sync();
  }

  // True: everything that the round found is taken.
  Result<bool> take_round() {
    auto found = find();
    if (!found) return std::move(found).error();
    if (!*found) return false;
    const std::vector<Segment>& segments = (*found)->begun;
    mark_ = (*found)->mark;
    if (mark_ > (segments.empty() ? 0 : segments.back().number)) {
      // A mark above the last segment is damage (S4, S5 of recovery's table) only if a second round
      // finds the same: the first listing may have missed a name that was just made.
      if (mark_ != doubted_mark_) {
        doubted_mark_ = mark_;
        return false;
      }
      return Unexpected(ErrorCode::damaged, source_->path() + "/" + segment_name(mark_) +
                                                " is missing, or its header does not check");
    }
    if (segments.empty()) return check_unwritten((*found)->behind, 0, 1);
    std::set<std::uint64_t> wanted;
    for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
      wanted.insert(segments[i].number);
      if (taken_.contains(segments[i].number)) continue;
      auto took = take_closed(segments[i], segments[i + 1].header.seal);
      if (!took || !*took) return took;
      taken_.insert(segments[i].number);
    }
    // An earlier round may have taken files that are not part of this one.
    for (auto old = taken_.begin(); old != taken_.end();) {
      if (wanted.contains(*old)) {
        ++old;
        continue;
      }
      if (auto gone = target_->remove(segment_name(*old)); !gone) return gone.error();
      old = taken_.erase(old);
    }
    return take_head(segments.back(), (*found)->behind);
  }

  // Lists the segments in the order of their numbers. Returns nothing if one was removed meanwhile.
  Result<Found> find() {
    Segments found;
    auto names = source_->list();
    if (!names) return std::move(names).error();
    found.mark = begun_in(*names);
    for (const std::string& name : *names) {
      Segment segment;
      segment.number = segment_number(name);
      if (segment.number == 0) continue;
      auto file = open_segment(*source_, name, storage::OpenMode::read_only);
      if (!file && file.error().code == ErrorCode::not_found) return Found();
      if (!file) return std::move(file).error();
      segment.file = std::move(*file);
      if (auto read = read_header(segment); !read) return std::move(read).error();
      const bool has_none =
          segment.state == HeaderState::blank || segment.state == HeaderState::broken;
      (has_none ? found.behind : found.begun).push_back(std::move(segment));
    }
    std::ranges::sort(found.begun, {}, &Segment::number);
    std::ranges::sort(found.behind, {}, &Segment::number);
    if (found.begun.empty()) return Found(std::move(found));
    const auto begun_later = [&](const Segment& segment) {
      return segment.number < found.begun.back().number;
    };
    for (const std::vector<Segment>* some : {&found.begun, &found.behind}) {
      for (const Segment& segment : *some) {
        const bool broken = segment.state == HeaderState::broken && begun_later(segment);
        if (!broken && segment.state != HeaderState::newer) continue;
        auto gone = damaged_or_gone(segment, 0, "the segment's header does not check");
        if (!gone) return std::move(gone).error();
        return Found();
      }
    }
    std::erase_if(found.behind, begun_later);
    return Found(std::move(found));
  }

  Result<void> read_header(Segment& segment) const {
    std::string head(kSegmentHeaderBytes, '\0');
    auto got = segment.file->read_at(0, head);
    if (!got) return std::move(got).error();
    SegmentPlace place = place_;
    place.segment = segment.number;
    const auto decoded = decode_segment_header(std::string_view(head).substr(0, *got), place);
    segment.state = decoded.state;
    segment.header = decoded.header;
    return {};
  }

  // True if each file was never begun, or was torn when it was begun (S2, S3 of recovery's table),
  // and so has no header. A file was begun if a batch in it has an expected number, or states that
  // such a batch was durable (S4). False if one has been begun meanwhile.
  Result<bool> check_unwritten(const std::vector<Segment>& segments, std::uint64_t first_batch,
                               std::uint64_t next_batch) const {
    for (const Segment& segment : segments) {
      auto size = segment.file->size();
      if (!size) return std::move(size).error();
      SegmentPlace place = place_;
      place.segment = segment.number;
      SegmentScanner scanner(*segment.file, salt_of(place, hash_seed_), 0, *size);
      auto first = first_batch_in(*segment.file);
      if (!first) return std::move(first).error();
      auto beyond = scanner.beyond(next_batch);
      if (!beyond) return std::move(beyond).error();
      const bool is_due = *first && (*first)->number >= first_batch;
      if (!is_due && beyond->durable < next_batch) continue;
      Segment now = segment;
      if (auto read = read_header(now); !read) return std::move(read).error();
      if (now.state == HeaderState::valid) return false;
      return damaged_or_gone(segment, 0,
                             "the segment's header does not check, though batches in it were "
                             "durable");
    }
    if (first_batch == 0 && !segments.empty() && segments.front().number > 1) {
      return Unexpected(
          ErrorCode::damaged,
          source_->path() + "/" + segment_name(segments.front().number - 1) + " is missing");
    }
    return true;
  }

  // `seal`: the next segment's statement about this one. False: the segment has been removed.
  Result<bool> take_closed(const Segment& segment, const Seal& seal) {
    const std::string name = segment_name(segment.number);
    auto linked = source_->link(name, *target_);
    if (linked) {
      // Another file may have got the name since the segment was opened.
      auto same = target_->is_named(name, *segment.file);
      if (!same) return std::move(same).error();
      if (!*same) {
        if (auto gone = target_->remove(name); !gone) return gone.error();
        return false;
      }
      // With sync=os no process has synced the file. A power failure must not cut a file that two
      // stores share.
      auto file = target_->open(name, storage::OpenMode::read_write);
      if (!file) return std::move(file).error();
      if (auto synced = (*file)->sync_data(); !synced) return synced.error();
      ++report_->linked;
      auto size = segment.file->size();
      if (size) (*told_)(*size);
      return true;
    }
    if (linked.error().code == ErrorCode::not_found) return false;
    if (linked.error().code != ErrorCode::unsupported) return std::move(linked).error();
    auto size = segment.file->size();
    if (!size) return std::move(size).error();
    // After the segment's end its file has room that was never used.
    const std::uint64_t end = seal.segment == segment.number ? seal.length : *size;
    auto copied = copy(segment, std::min(*size, end));
    if (!copied || !*copied) return copied;
    ++report_->copied;
    return true;
  }

  // Copies up to the last intact batch. Those bytes are not written again. The server may be
  // writing after them, and a half-written batch must not be copied before a later one.
  Result<bool> take_head(const Segment& segment, const std::vector<Segment>& behind) {
    auto end = end_of_head(segment);
    if (!end) return std::move(end).error();
    if (end->next_batch == 0) return false;
    auto unwritten = check_unwritten(behind, segment.header.first_batch, end->next_batch);
    if (!unwritten || !*unwritten) return unwritten;
    auto copied = copy(segment, end->offset);
    if (!copied || !*copied) return copied;
    ++report_->copied;
    return true;
  }

  struct End {
    std::uint64_t offset = 0;
    std::uint64_t next_batch = 0;  // 0: the head was removed meanwhile
  };

  // A batch with a wrong checksum is damage (B5 of recovery's table) if a later batch states that
  // it was durable, and if it is still wrong when it is read once more. At the first read it may
  // have been half written, and the later batch was added since.
  Result<End> end_of_head(const Segment& segment) const {
    std::uint64_t doubted = 0;
    while (true) {
      auto size = segment.file->size();
      if (!size) return std::move(size).error();
      SegmentScanner scanner(*segment.file, segment.header.salt, segment.header.first_batch, *size);
      while (true) {
        auto step = scanner.next();
        if (!step) return std::move(step).error();
        if (*step != SegmentScanner::Step::batch) break;
      }
      const std::uint64_t next = scanner.next_number();
      auto beyond = scanner.beyond(next);
      if (!beyond) return std::move(beyond).error();
      if (beyond->durable < next && beyond->batches == 0) return End{scanner.good_end(), next};
      if (next != doubted) {
        doubted = next;
        continue;
      }
      auto gone =
          damaged_or_gone(segment, scanner.good_end(),
                          "batch " + std::to_string(next) + " does not check, though " +
                              (beyond->durable < next ? "later ones do" : "it was durable"));
      if (!gone) return std::move(gone).error();
      return End{};
    }
  }

  // False: the segment was removed, or its file now belongs to another one, so the bytes prove
  // nothing.
  Result<bool> damaged_or_gone(const Segment& segment, std::uint64_t offset,
                               const std::string& what) const {
    const std::string name = segment_name(segment.number);
    auto still = source_->is_named(name, *segment.file);
    if (!still) return std::move(still).error();
    if (!*still) return false;
    return Unexpected(ErrorCode::damaged, source_->path() + "/" + name + " offset " +
                                              std::to_string(offset) + ": " + what);
  }

  // False: the segment was removed, or its file got another segment's name, during the copy.
  Result<bool> copy(const Segment& segment, std::uint64_t size) {
    const std::string name = segment_name(segment.number);
    auto file = target_->open(name, storage::OpenMode::create_new);
    if (!file) return std::move(file).error();
    std::string chunk;
    for (std::uint64_t at = 0; at < size;) {
      chunk.resize(std::min<std::uint64_t>(kChunk, size - at));
      auto got = segment.file->read_at(at, chunk);
      if (!got) return std::move(got).error();
      if (*got == 0) break;
      const std::string_view bytes = std::string_view(chunk).substr(0, *got);
      if (auto done = (*file)->write_at(at, bytes); !done) return done.error();
      at += *got;
      report_->bytes += *got;
      (*told_)(*got);
    }
    auto still = source_->is_named(name, *segment.file);
    if (!still) return std::move(still).error();
    if (!*still) {
      if (auto gone = target_->remove(name); !gone) return gone.error();
      return false;
    }
    if (auto synced = (*file)->sync_data(); !synced) return synced.error();
    return true;
  }

  storage::Directory* source_;
  storage::Directory* target_;
  SegmentPlace place_;
  std::uint64_t hash_seed_;
  BackupReport* report_;
  const Told* told_;
  std::set<std::uint64_t> taken_;  // closed segments
  std::uint64_t mark_ = 0;         // the begun mark
  std::uint64_t doubted_mark_ = 0;
};

Result<void> check_empty(storage::Directory& target) {
  auto names = target.list();
  if (!names) return std::move(names).error();
  std::erase(*names, "lost+found");
  if (names->empty()) return {};
  return Unexpected(ErrorCode::invalid_argument,
                    target.path() + " is not empty; a backup needs a new directory");
}

}  // namespace

Result<BackupReport> backup(
    storage::Directory& source, storage::Directory& target,
    const std::function<void(std::uint64_t done, std::uint64_t total)>& progress) {
  auto identity = read_identity(source);
  if (!identity) return std::move(identity).error();
  if (!*identity) {
    return Unexpected(ErrorCode::invalid_argument, source.path() + " is not a tarry store");
  }
  if (auto empty = check_empty(target); !empty) return std::move(empty).error();
  if (auto mark = target.open(kBackupName, storage::OpenMode::create_new); !mark) {
    return std::move(mark).error();
  }
  if (auto synced = target.sync(); !synced) return std::move(synced).error();
  BackupReport report;
  report.store_id = (*identity)->store_id;
  report.shards = (*identity)->shards;

  std::vector<std::unique_ptr<storage::Directory>> shards;
  std::uint64_t total = 0;
  for (std::uint32_t shard = 0; shard < report.shards; ++shard) {
    auto opened = source.subdirectory(shard_directory_name(shard), false);
    if (!opened) return shard_directory_error(std::move(opened).error());
    if (auto bytes = journal_bytes(**opened)) total += *bytes;
    shards.push_back(std::move(*opened));
  }
  std::uint64_t done = 0;
  const Told told = [&](std::uint64_t bytes) {
    done += bytes;
    if (progress) progress(std::min(done, total), total);
  };
  for (std::uint32_t shard = 0; shard < report.shards; ++shard) {
    auto into = target.subdirectory(shard_directory_name(shard), true);
    if (!into) return std::move(into).error();
    const SegmentPlace place{report.store_id, shard, 0};
    ShardBackup taker(*shards[shard], **into, place, (*identity)->hash_seed, report, told);
    if (auto taken = taker.run(); !taken) return std::move(taken).error();
    const auto looked = inspect_shard(**into, **identity, shard, false, {});
    if (!looked) return looked.error();
    if (!looked->problems.empty()) {
      return Unexpected(ErrorCode::damaged,
                        "the backup does not check, and is no store: " + looked->problems.front());
    }
    report.messages += looked->messages;
  }
  if (auto written = write_identity(target, **identity); !written) {
    return std::move(written).error();
  }
  if (auto removed = target.remove(kBackupName); !removed) return std::move(removed).error();
  if (auto synced = target.sync(); !synced) return std::move(synced).error();
  return report;
}

}  // namespace tarry::embedded
