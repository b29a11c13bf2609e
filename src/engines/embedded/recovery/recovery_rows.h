// The decision table of recovery: what a crash or damage may leave of a journal, and what recovery
// does then. Every branch that decides names its row: `mark(Row::b6)`. docs/formats/journal.md has
// the same table, word for word.
//
// S: which files are segments of the journal. B: where its batches end. R: records. T: the tail.
// When recovery cuts or removes something as torn (S3, S3 later, B4, B4 later, B6), intact batches
// may be lost with it; the report counts them. Recovery never repairs damage: the error names file
// and offset, and the files stay as they are.
//
// Plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tarry::embedded {

enum class Row : std::uint8_t {
  s1,
  s1_after_s2,
  s2,
  s2_older,
  s3,
  s3_later,
  s4,
  s4_begun,
  s4_by_proof,
  s4_older,
  s5,
  s5_begun,
  s5_before,
  s6,
  s6_by_replay,
  s7,
  s7_newer,
  b1,
  b2,
  b3,
  b4,
  b4_later,
  b4_proven,
  b5,
  b6,
  r1,
  r1_contradicts,
  r1_above,
  r1_left_below,
  t1,
  t1_header,
  t2,
};

struct RowText {
  Row row;
  std::string_view name;
  std::string_view found;
  std::string_view done;
};

/// In the order of Row.
inline constexpr std::array kRows{
    RowText{Row::s1, "S1", "no segment at all", "a new journal"},
    RowText{Row::s1_after_s2, "S1 after S2", "no segment but those of S2 and S3",
            "they are removed; a new journal"},
    RowText{Row::s2, "S2", "the newest files hold zeros: prepared, never written", "removed"},
    RowText{Row::s2_older, "S2 older",
            "the newest files have an older segment's header: each was made of its file, and never "
            "written",
            "removed"},
    RowText{Row::s3, "S3",
            "the header of the newest file does not check: torn while it was written", "removed"},
    RowText{Row::s3_later, "S3 later",
            "a file with a good header, newer than one of S2 or S3, and no seal from there on is "
            "proven (`sync=os`)",
            "removed with it"},
    RowText{Row::s4, "S4", "as S2 or S3, but the first batch in the file checks", "damage"},
    RowText{Row::s4_begun, "S4 begun",
            "as S2 or S3, but the begun mark names this segment or a later one", "damage"},
    RowText{Row::s4_by_proof, "S4 by proof",
            "as S2 or S3, but a batch in the file or in a newer one states that a batch of it was "
            "durable",
            "damage"},
    RowText{Row::s4_older, "S4 older", "the header of any other file does not check", "damage"},
    RowText{Row::s5, "S5", "a segment at or above the low-water mark is missing", "damage"},
    RowText{Row::s5_begun, "S5 begun",
            "the segment that the begun mark names is missing, and so is every later one",
            "damage"},
    RowText{Row::s5_before, "S5 before",
            "no segment but those of S2 and S3, and segment 1 is not among them", "damage"},
    RowText{Row::s6, "S6", "a segment below the low-water mark", "ignored, removed"},
    RowText{Row::s6_by_replay, "S6 by replay",
            "the same, if no seal proves the mark, and only replay shows that it is right",
            "removed after the replay"},
    RowText{Row::s7, "S7", "the header of another store, shard or segment", "refused as damage"},
    RowText{Row::s7_newer, "S7 newer", "the header of a newer format version",
            "refused as unsupported"},
    RowText{Row::b1, "B1", "a batch that checks and has the next number", "replayed"},
    RowText{Row::b2, "B2", "the good batches end at the sealed length, with the sealed number",
            "the end of the segment"},
    RowText{Row::b3, "B3", "the good batches end before that, and the seal is proven", "damage"},
    RowText{Row::b4, "B4",
            "the good batches end before that, the seal is not proven (`sync=os`), and nothing "
            "proves the next batch durable",
            "a torn tail: cut"},
    RowText{Row::b4_later, "B4 later", "the segments behind that cut", "removed with it"},
    RowText{Row::b4_proven, "B4 proven",
            "as B4, but a batch in this segment or a later one states that the next batch was "
            "durable",
            "damage"},
    RowText{Row::b5, "B5",
            "the good batches of the newest segment end, but a later batch states that the next "
            "one was durable; or the next one is the segment's first, and the begun mark names the "
            "segment",
            "damage"},
    RowText{Row::b6, "B6",
            "the good batches of the newest segment end, and nothing proves the next one durable",
            "what is behind them is a torn tail: cut"},
    RowText{Row::r1, "R1", "a record does not decode, in a batch that checks", "damage"},
    RowText{Row::r1_contradicts, "R1 contradicts", "a record contradicts the state before it",
            "damage"},
    RowText{Row::r1_above, "R1 above", "a low-water mark above the newest segment", "damage"},
    RowText{Row::r1_left_below, "R1 left below",
            "messages whose full records lie below the low-water mark", "damage"},
    RowText{Row::t1, "T1", "good batches that nothing proves durable",
            "written again and synced before anything is served"},
    RowText{Row::t1_header, "T1 header",
            "a segment with a header and no batch yet, and nothing proves the header durable",
            "written again and synced before anything is served"},
    RowText{Row::t2, "T2",
            "nothing torn and hardly any garbage in the newest segment, the store's own version, "
            "and no other store (a backup) has its file",
            "it is written on; else the next segment is begun"},
};

static_assert([] {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].row != static_cast<Row>(i)) return false;
  }
  return kRows.back().row == Row::t2;
}());

[[nodiscard]] constexpr std::string_view name_of(Row row) noexcept {
  return kRows[static_cast<std::size_t>(row)].name;
}

}  // namespace tarry::embedded
