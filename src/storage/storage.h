// The file seam: the only way in which the embedded engine uses a disk. Its implementations are
// POSIX files, files in RAM, the fault-injecting decorator and the simulator's virtual disk.
//
// What every implementation guarantees; storage_test.cpp tests each of them:
//  1. After a write has returned success, every later read through any File of that name sees it.
//  2. Bytes are durable after sync_data(). Names that were made, replaced or removed are durable
//     after the sync() of their directory. Neither implies the other.
//  3. A failed operation returns one error, a line with operation, path and reason. Nothing is
//     retried here, except after EINTR and after a short write.
//  4. A File, a Lock and a subdirectory outlive the Directory that made them.
//  5. A name is one path component: not empty, not "." or "..", at most 255 bytes, without '/' and
//     NUL. Any other name is an invalid_argument.
//
//  6. Links below a Directory are never followed, so the target of a link is neither read nor
//     written.
//  7. A write beyond the process's limit of a file's size fails, and the process gets no SIGXFSZ.
//
// Error codes: no_space (disk or quota full, or the process's limit of file size reached),
// permission_denied (rights, read-only file system), not_found, conflict (exists, or locked by
// another), too_large (an offset that no file can have), invalid_argument (a bad name; a directory,
// a link or a device where a file should be, and the like), misuse (a write through a read-only
// File), unavailable (too many open files: try later), io_error (everything else: the storage
// failed).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

namespace tarry::storage {

enum class OpenMode : std::uint8_t {
  read_only,   ///< must exist
  read_write,  ///< must exist
  create_new,  ///< must not exist (conflict); read and write, empty
};

/// One open file. Several threads may read at once, even while one thread writes a range that no
/// other thread reads. Only one thread at a time may write, sync, allocate or truncate. Offsets and
/// sizes are bytes. The destructor closes the file, and syncs nothing.
class File {
 public:
  virtual ~File() = default;

  /// Writes all of `bytes`, and grows the file if needed; a gap reads as zeros. After an error any
  /// part of the range may have been written.
  virtual Result<void> write_at(std::uint64_t offset, std::string_view bytes) = 0;

  /// The same for several pieces, one after the other, with as few system calls as possible.
  virtual Result<void> write_at(std::uint64_t offset, std::span<const std::string_view> pieces) = 0;

  /// Returns the number of bytes read. It is less than asked for only at the end of the file, and 0
  /// beyond it.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) const = 0;

  /// Makes everything written before, and the file's size, durable (fdatasync). A failure is final,
  /// and always an io_error, even if the disk was full. The caller must never retry: the system may
  /// have dropped the data and marked it clean, so a second success would prove nothing.
  virtual Result<void> sync_data() = 0;

  /// Reserves space. After success, writes within [0, size) do not fail for lack of space, if the
  /// file system keeps that promise (a copy-on-write one may not). The file is then at least `size`
  /// long, and bytes that were never written read as zeros. Never shrinks the file. After an error
  /// (no_space) the file has its former length.
  virtual Result<void> allocate(std::uint64_t size) = 0;

  /// Cuts the file, or grows it by a gap, which reads as zeros and may have no space reserved.
  virtual Result<void> truncate(std::uint64_t size) = 0;

  virtual Result<std::uint64_t> size() const = 0;

  /// Whether the file has a second name (Directory::link), for example in a backup. It must then
  /// not be overwritten.
  virtual Result<bool> is_shared() const { return false; }

  /// Whether the file still has a name. False: it was removed, and its bytes are lost when it is
  /// closed. True also if the system cannot say.
  [[nodiscard]] virtual bool has_name() const { return true; }

  /// A hint that this range will be read soon. Never fails, never waits for the disk.
  virtual void will_need(std::uint64_t offset, std::uint64_t length) const = 0;
};

/// One of several reads that are made together, and its result.
struct Read {
  const File* file = nullptr;
  std::uint64_t offset = 0;
  std::span<char> into;
  Result<std::size_t> got = std::size_t{0};  ///< as File::read_at returns it
};

/// Makes many reads at once, so that they share system calls, and so that a disk can work on all of
/// them in parallel. One thread at a time.
class Reader {
 public:
  virtual ~Reader() = default;

  /// Sets `got` of each read. The memory ranges to read into must not overlap.
  virtual void read(std::span<Read> reads) = 0;

  /// The same, but only for ranges that are in memory, or lack a few pages at most. For any other
  /// range `got` is less than the file has, and the disk is asked to fetch it, so that a later read
  /// finds it.
  virtual void read_cached(std::span<Read> reads) = 0;

  /// True if reads had to wait for a disk lately, so that calling File::will_need in advance is
  /// useful.
  [[nodiscard]] virtual bool has_waited() const = 0;
};

/// A held lock; released on destruction, and by the system when the process dies. Any thread may
/// destroy it.
class Lock {
 public:
  virtual ~Lock() = default;
};

enum class Sharing : std::uint8_t {
  none,          ///< keeps all other lockers out
  with_sharers,  ///< keeps out lockers that do not share
};

/// Space of a file system. Both figures are UINT64_MAX if it has no limit.
struct Space {
  std::uint64_t free_bytes;   ///< bytes that this process may still use
  std::uint64_t total_bytes;  ///< of the whole file system
};

/// One directory of a store. Methods may be called from any thread.
class Directory {
 public:
  virtual ~Directory() = default;

  /// Opens a regular file. Errors: not_found; conflict (create_new, and it exists);
  /// invalid_argument (it is a directory, a link or another kind of file).
  virtual Result<std::unique_ptr<File>> open(std::string_view name, OpenMode mode) = 0;

  /// All names in the directory, of files of any kind, sorted bytewise.
  virtual Result<std::vector<std::string>> list() const = 0;

  /// Removes a regular file. A process that has it open may still read it; its space is freed once
  /// nobody has it open.
  virtual Result<void> remove(std::string_view name) = 0;

  /// Renames a regular file; if `to` exists, it is replaced atomically. For small files that are
  /// published as a whole (write under another name, sync_data, rename, sync the directory), and
  /// for the file of a cleaned segment, which gets its next number. May also fail with no_space,
  /// because a name may take space.
  virtual Result<void> rename(std::string_view from, std::string_view to) = 0;

  /// Gives a regular file the same name in `other` too, so that one file has two names. Errors:
  /// not_found; conflict (the name exists there); unsupported if the system refuses (another file
  /// system, another owner's file, too many names, a directory in RAM).
  virtual Result<void> link(std::string_view name, Directory& other);

  /// Whether `name` leads to this open file. False if there is no such name.
  virtual Result<bool> is_named(std::string_view name, const File& file) const;

  /// Syncs the directory itself (fsync): names that were made, replaced or removed before are then
  /// durable. A failure is final, and always an io_error, as with File::sync_data.
  virtual Result<void> sync() = 0;

  /// Whether the path at which the directory was opened still leads to it. False: it was removed,
  /// moved or replaced. True also if the system cannot say.
  [[nodiscard]] virtual bool is_in_place() const { return true; }

  /// Opens a subdirectory. `create`: makes it if it is missing; it is durable after the sync() of
  /// *this* directory. Error: invalid_argument if it is not a directory, or a link to one.
  virtual Result<std::unique_ptr<Directory>> subdirectory(std::string_view name, bool create) = 0;

  /// Locks the directory by the file `name`, against every other lock() by that name in any
  /// process. The file is made if missing, and never removed; `holder`, for example "pid 1234
  /// (tarry serve)", is written into it. Does not wait. Errors: conflict if the lock is held, with
  /// the path and the holder's text in the message; invalid_argument if lock() has not written the
  /// file, which then stays as it is. A file that a killed process has left holds no lock. On a
  /// full disk the lock works, and only the text is missing. Use one name per directory: whether
  /// two names can be locked at once is undefined.
  virtual Result<std::unique_ptr<Lock>> lock(std::string_view name, std::string_view holder) = 0;

  /// Keeps out every lock() of the file `name`, but not other lock_shared() calls. For readers that
  /// must change nothing, so it neither makes the file nor writes into it. Does not wait. Errors:
  /// not_found if there is no such file, which means that nobody holds it; conflict, as above, if a
  /// lock() holds it.
  virtual Result<std::unique_ptr<Lock>> lock_shared(std::string_view name) = 0;

  /// Locks the directory itself, whatever happens to the files in it. It is independent of lock().
  /// Does not wait. Error: conflict if it is locked. If the system cannot lock directories, or no
  /// other process can access this one (in RAM), the lock keeps nobody out.
  virtual Result<std::unique_ptr<Lock>> lock_itself(Sharing sharing);

  /// A Reader for files of this directory, and of other directories of the same implementation. The
  /// default reads one after the other.
  virtual std::unique_ptr<Reader> make_reader() const;

  virtual Result<Space> space() const = 0;

  /// The largest size that a file may have, by this process's limit (`ulimit -f`).
  [[nodiscard]] virtual std::uint64_t largest_file() const { return UINT64_MAX; }

  /// For messages only.
  virtual std::string path() const = 0;
};

}  // namespace tarry::storage
