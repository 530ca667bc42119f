//! How much of a patch is sent. Nothing is left out silently: a file that is cut short or only
//! named keeps its header, says so in the text, and says so in the coverage.

use diffwarden_actors::model::{Coverage, FilePatch, Patch, Sent};
use sha2::{Digest, Sha256};

use super::block::{Block, Counts, Extent, Limit, Size};
use super::coverage::cover;
use super::print::{Output, write_file};

/// What may be sent of a patch, whatever the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendLimits {
    /// The most that one file may take, in bytes; more is cut short.
    pub max_file_bytes: usize,
    /// The most that all files may take, in bytes; from the end of the patch, files are only
    /// named until the rest fits. Names and remarks are sent even when they alone are over it.
    pub max_patch_bytes: usize,
}

impl SendLimits {
    /// 256 KiB: some 6,000 lines of code in one file, more than anybody reviews at once, and less
    /// than a fifth of the patch.
    pub const DEFAULT_MAX_FILE_BYTES: usize = 256 << 10;
    /// 1.5 MiB: with the rest of the prompt below 2 MB, the largest that every measured engine
    /// without a lower limit of its own took without trouble.
    pub const DEFAULT_MAX_PATCH_BYTES: usize = 3 << 19;
}

impl Default for SendLimits {
    fn default() -> Self {
        Self {
            max_file_bytes: Self::DEFAULT_MAX_FILE_BYTES,
            max_patch_bytes: Self::DEFAULT_MAX_PATCH_BYTES,
        }
    }
}

/// A patch as it is sent to engines without a lower limit of their own.
#[derive(Debug)]
pub(super) struct SentPatch {
    /// One block for each file, in the order of the patch.
    pub(super) blocks: Vec<Block>,
    /// What is known of each file's whole change, in the same order.
    extents: Vec<Extent>,
    digest: TextDigest,
}

/// The size and hash of the whole canonical text.
#[derive(Debug, Clone)]
struct TextDigest {
    bytes: u64,
    sha256: String,
}

/// Some of the blocks whole, the rest only named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selection {
    /// How many leading blocks of the sent patch are taken as they are.
    pub(super) kept: usize,
    /// What stands in for the others.
    pub(super) named: Vec<Block>,
}

impl SentPatch {
    /// Prints and measures a patch, within the limits.
    ///
    /// `left_out` holds the reason for each file that is not sent, in the order of the patch;
    /// files it does not reach are sent.
    pub(super) fn new(patch: &Patch, limits: SendLimits, left_out: &[Option<String>]) -> Self {
        let (extents, digest) = measure(patch);
        let mut sent = Self {
            blocks: first_blocks(patch, &extents, limits, left_out),
            extents,
            digest,
        };
        let limit = limits.max_patch_bytes;
        let fits = |size: Size| size.bytes <= limit;
        if !fits(sum(&sent.blocks)) {
            let named = sent.named_blocks(patch, Limit::Patch(limit));
            let kept = longest_fit(&sent.blocks, &named, fits).unwrap_or(0);
            sent.blocks.splice(kept.., named.into_iter().skip(kept));
        }
        sent
    }

    /// Tells what was masked in the patch that this was printed from. `original` is the patch before
    /// that; the digest is the original's, because it names the change and not what is sent.
    pub(super) fn masked(mut self, original: &Patch, reasons: &[Option<String>]) -> Self {
        self.digest = measure(original).1;
        for (block, reason) in self.blocks.iter_mut().zip(reasons) {
            if let Some(reason) = reason {
                block.mask(reason);
            }
        }
        self
    }

    /// Measures a patch and prints nothing: what reaches whoever reads the patch itself.
    pub(super) fn unprinted(patch: &Patch) -> Self {
        let (extents, digest) = measure(patch);
        let files = patch.files.iter().zip(&extents);
        Self {
            blocks: files
                .map(|(file, extent)| Block::unprinted(file, extent))
                .collect(),
            extents,
            digest,
        }
    }

    /// Returns the selection that `fits`: all blocks, or as few as possible only named, from the
    /// end of the patch. `None` when nothing fits, or only a selection that shows no change of a
    /// patch that has some.
    pub(super) fn select(
        &self,
        patch: &Patch,
        max_chars: usize,
        fits: impl Fn(Size) -> bool,
    ) -> Option<Selection> {
        if fits(sum(&self.blocks)) {
            return Some(Selection {
                kept: self.blocks.len(),
                named: Vec::new(),
            });
        }
        let mut named = self.named_blocks(patch, Limit::Prompt(max_chars));
        let kept = longest_fit(&self.blocks, &named, fits)?;
        let selection = Selection {
            kept,
            named: named.split_off(kept),
        };
        let shows_changes =
            |mut blocks: std::slice::Iter<'_, Block>| blocks.any(|block| !block.shown.is_empty());
        let is_vacuous = shows_changes(self.blocks.iter())
            && !shows_changes(self.blocks[..kept].iter())
            && !shows_changes(selection.named.iter());
        (!is_vacuous).then_some(selection)
    }

    /// Returns the blocks of a selection, in the order of the patch.
    pub(super) fn selected<'a>(
        &'a self,
        selection: &'a Selection,
    ) -> impl Iterator<Item = &'a Block> + Clone {
        self.blocks[..selection.kept].iter().chain(&selection.named)
    }

    /// Returns what of the patch is in the given blocks.
    pub(super) fn coverage<'a>(
        &self,
        patch: &'a Patch,
        blocks: impl Iterator<Item = &'a Block>,
    ) -> Coverage {
        let paths = patch.files.iter().map(FilePatch::path);
        let counts = self.extents.iter().map(|extent| extent.counts);
        Coverage {
            files: cover(paths.zip(counts).zip(blocks)),
            patch_bytes: self.digest.bytes,
            patch_sha256: self.digest.sha256.clone(),
        }
    }

    /// Names every file that naming makes shorter; the others stay as they are.
    fn named_blocks(&self, patch: &Patch, limit: Limit) -> Vec<Block> {
        let files = patch.files.iter().zip(&self.extents).zip(&self.blocks);
        files
            .map(|((file, extent), block)| {
                if block.sent == Sent::Pruned {
                    return block.clone();
                }
                let named = Block::named(file, extent, limit);
                let is_shorter = match limit {
                    Limit::Prompt(_) => named.size.chars < block.size.chars,
                    Limit::File(_) | Limit::Patch(_) => named.size.bytes < block.size.bytes,
                };
                if is_shorter { named } else { block.clone() }
            })
            .collect()
    }
}

/// Prints the files of a patch, and only names those for which there cannot be room any more, so
/// that no more text than may be sent is ever held.
fn first_blocks(
    patch: &Patch,
    extents: &[Extent],
    limits: SendLimits,
    left_out: &[Option<String>],
) -> Vec<Block> {
    let mut room = Some(limits.max_patch_bytes);
    let mut blocks = Vec::with_capacity(patch.files.len());
    for (index, (file, extent)) in patch.files.iter().zip(extents).enumerate() {
        let reason = left_out.get(index).and_then(Option::as_deref);
        let block = match (reason, room) {
            (Some(reason), _) => Block::left_out(file, extent, reason),
            (None, Some(_)) => Block::new(file, extent, limits.max_file_bytes),
            (None, None) => Block::brief(file, extent, Limit::Patch(limits.max_patch_bytes)),
        };
        room = room.and_then(|room| room.checked_sub(block.size.bytes));
        blocks.push(block);
    }
    blocks
}

/// Adds up blocks.
pub(super) fn sum<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> Size {
    let sizes = blocks.into_iter().map(|block| block.size);
    sizes.fold(Size::default(), Size::plus)
}

/// Returns how many leading blocks can stay whole when all after them are only named.
fn longest_fit(whole: &[Block], named: &[Block], fits: impl Fn(Size) -> bool) -> Option<usize> {
    let mut before = vec![Size::default()];
    for block in whole {
        before.push(before[before.len() - 1].plus(block.size));
    }
    let mut after = Size::default();
    for kept in (0..=whole.len()).rev() {
        if let Some(block) = named.get(kept) {
            after = after.plus(block.size);
        }
        if fits(before[kept].plus(after)) {
            return Some(kept);
        }
    }
    None
}

/// Measures every file of a patch, and the whole.
fn measure(patch: &Patch) -> (Vec<Extent>, TextDigest) {
    let mut measure = Measure::default();
    let extents = patch.files.iter().map(|file| measure.file(file)).collect();
    (extents, measure.finish())
}

/// Measures and hashes the canonical text without keeping it.
#[derive(Default)]
struct Measure {
    bytes: u64,
    hash: Sha256,
}

impl Output for Measure {
    fn put(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        self.hash.update(bytes);
    }
}

impl Measure {
    fn file(&mut self, file: &FilePatch) -> Extent {
        let before = self.bytes;
        write_file(file, self);
        Extent {
            bytes: self.bytes - before,
            counts: Counts::of(file),
        }
    }

    fn finish(self) -> TextDigest {
        TextDigest {
            bytes: self.bytes,
            sha256: format!("{:x}", self.hash.finalize()),
        }
    }
}

#[cfg(test)]
mod tests {
    use diffwarden_actors::model::{Body, RepoPath, Sent};
    use proptest::prelude::*;

    use super::super::print::print_patch;
    use super::super::sample::{added, any_patch, read};
    use super::*;

    fn text<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> String {
        blocks
            .into_iter()
            .map(|block| block.text.as_str())
            .collect()
    }

    fn files(count: usize) -> Patch {
        let name = |index: usize| format!("file-{index}.txt");
        let file = |index| added(&name(index), &["some text of a line"; 40]);
        Patch {
            files: (0..count).map(file).collect(),
        }
    }

    fn limits(max_file_bytes: usize, max_patch_bytes: usize) -> SendLimits {
        SendLimits {
            max_file_bytes,
            max_patch_bytes,
        }
    }

    #[test]
    fn default_limits_leave_room_below_two_megabytes() {
        let limits = SendLimits::default();
        assert_eq!(limits.max_file_bytes, 262_144);
        assert_eq!(limits.max_patch_bytes, 1_572_864);
    }

    #[test]
    fn names_files_from_the_end() {
        let patch = files(5);
        let whole = SentPatch::new(&patch, SendLimits::default(), &[]);
        let size = sum(&whole.blocks).bytes;
        let at_the_limit = SentPatch::new(&patch, limits(size, size), &[]);
        assert_eq!(text(&at_the_limit.blocks), text(&whole.blocks));

        let over = SentPatch::new(&patch, limits(size, size - 1), &[]);
        let sent: Vec<Sent> = over.blocks.iter().map(|block| block.sent).collect();
        let whole = Sent::Whole;
        assert_eq!(sent, [whole, whole, whole, whole, Sent::Clipped]);
        let reason = over.blocks[4].reason.as_deref().unwrap();
        assert!(reason.contains("the whole patch may take"), "{reason}");
    }

    #[test]
    fn holds_no_more_than_may_be_sent() {
        let patch = files(300);
        let extents: Vec<Extent> = {
            let mut measure = Measure::default();
            patch.files.iter().map(|file| measure.file(file)).collect()
        };
        let blocks = first_blocks(&patch, &extents, limits(10_000, 3000), &[]);
        let longest = blocks.iter().filter(|block| block.size.bytes > 300);
        assert_eq!(longest.count(), 4);
    }

    #[test]
    fn a_long_new_file_is_cut_at_the_default_limit() {
        let patch = Patch {
            files: vec![added("big.log", &["some log line that repeats"; 40_000])],
        };
        let sent = SentPatch::new(&patch, SendLimits::default(), &[]);
        let block = &sent.blocks[0];
        assert!(block.size.bytes <= SendLimits::DEFAULT_MAX_FILE_BYTES);
        assert!(block.size.bytes > SendLimits::DEFAULT_MAX_FILE_BYTES - 200);
        assert_eq!(sent.digest.bytes, 40_000 * 28 + 123);
    }

    #[test]
    fn the_digest_is_that_of_the_whole_text() {
        let sent = SentPatch::new(&Patch::default(), SendLimits::default(), &[]);
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let coverage = sent.coverage(&Patch::default(), sent.blocks.iter());
        assert_eq!(coverage.patch_sha256, empty);
        assert_eq!(coverage.patch_bytes, 0);
        assert_eq!(coverage.files, []);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn the_patch_keeps_its_limit(
            patch in any_patch(), max_file in 0_usize..900, max_patch in 0_usize..3000,
        ) {
            let sent = SentPatch::new(&patch, limits(max_file, max_patch), &[]);
            let least: usize = patch.files.iter().zip(&sent.extents).map(|(file, extent)| {
                Block::brief(file, extent, Limit::Patch(max_patch)).size.bytes
            }).sum();
            prop_assert!(sum(&sent.blocks).bytes <= max_patch.max(least));

            let mut canonical = Vec::new();
            print_patch(&patch, &mut canonical);
            prop_assert_eq!(sent.digest.bytes, canonical.len() as u64);
            let sha256 = format!("{:x}", Sha256::digest(&canonical));
            prop_assert_eq!(&sent.digest.sha256, &sha256);
        }

        #[test]
        fn the_coverage_says_what_is_in_the_text(
            patch in any_patch(), max_file in 0_usize..900, max_chars in 0_usize..3000,
        ) {
            let sent = SentPatch::new(&patch, limits(max_file, 2000), &[]);
            let fits = |size: Size| size.chars <= max_chars;
            let Some(selection) = sent.select(&patch, max_chars, fits) else { return Ok(()) };
            let blocks = sent.selected(&selection);
            prop_assert!(fits(sum(blocks.clone())));
            let back = read(text(blocks.clone()).as_bytes());
            prop_assert_eq!(back.len(), patch.files.len());

            let coverage = sent.coverage(&patch, blocks.clone());
            // Paths of other bytes can read the same, so entries are found by their place.
            let mut paths: Vec<&RepoPath> = Vec::new();
            for (index, (file, block)) in patch.files.iter().zip(blocks).enumerate() {
                let place = paths.iter().position(|path| *path == file.path());
                let place = place.unwrap_or_else(|| {
                    paths.push(file.path());
                    paths.len() - 1
                });
                let entry = &coverage.files[place];
                let is_all_there = block.shown == sent.extents[index].counts;
                if !is_all_there {
                    prop_assert_eq!(entry.sent, Sent::Clipped);
                    prop_assert!(entry.reason.is_some() && back[index].remark.is_some());
                }
                if entry.sent == Sent::Whole {
                    let has_note = matches!(file.body, Body::Note(_));
                    prop_assert!(is_all_there && back[index].remark.is_some() == has_note);
                }
            }
            let added: u64 = coverage.files.iter().map(|entry| entry.added).sum();
            let all: u64 = patch.files.iter().map(|file| file.counts().0).sum();
            prop_assert_eq!(added, all);
        }
    }

    #[test]
    fn files_left_out_are_named_with_their_reason_whatever_the_limit() {
        let patch = files(3);
        let reason = "lockfile (by its name)".to_owned();
        let left_out = [None, Some(reason.clone()), None];
        for limit in [100_000, 1] {
            let sent = SentPatch::new(&patch, limits(10_000, limit), &left_out);
            let block = &sent.blocks[1];
            assert_eq!(block.sent, Sent::Pruned);
            assert_eq!(block.reason.as_ref(), Some(&reason));
            assert!(block.text.contains("diff left out, lockfile (by its name)"));
            assert!(!block.text.contains("@@"), "{}", block.text);
            assert!(block.shown.is_empty());
        }
        let coverage = SentPatch::new(&patch, limits(10_000, 100_000), &left_out);
        let coverage = coverage.coverage(&patch, coverage.blocks.iter());
        assert_eq!(coverage.files[1].sent, Sent::Pruned);
        assert_eq!(coverage.files[0].sent, Sent::Whole);
        // The digest is that of the whole change.
        let whole = SentPatch::new(&patch, limits(10_000, 100_000), &[]);
        let whole = whole.coverage(&patch, whole.blocks.iter());
        assert_eq!(coverage.patch_sha256, whole.patch_sha256);
    }
}
