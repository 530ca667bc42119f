//! The builder of prompts: the frame, the patch within the limits, and one copy for equal requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use diffwarden_actors::model::{
    Coverage, ErrorCode, Failure, LaneId, Patch, ReviewLane, ReviewTarget,
};
use diffwarden_actors::prompt::{Prompt, PromptBuilder, PromptShape};

use super::block::Size;
use super::clip::{SendLimits, SentPatch, sum};
use super::engagement::{Frame, GAP};
use super::fence::fence_length;
use super::repair::repair_prompt;
use crate::intake::mask::MaskedPatch;

/// Names the patch's language after the opening fence.
const INFO: &str = "diff";

/// What prompts are made of.
#[derive(Debug, Clone)]
pub struct BuilderInput {
    /// What is reviewed.
    pub target: Arc<ReviewTarget>,
    /// The change.
    pub patch: Arc<Patch>,
    /// The same change as it may be sent, where it holds secrets.
    pub masked: Option<MaskedPatch>,
    /// For each file of the patch, in its order, why its diff is not sent, as a fragment such as
    /// "lockfile (by its name)". Empty when every file is sent.
    pub left_out: Vec<Option<String>>,
    /// How much of it is sent.
    pub limits: SendLimits,
}

/// Builds the prompts of a run.
///
/// The patch is printed once, at the first request, and shared; each prompt is one more copy of
/// what is sent, and is shared by all reviewers of a lane that take the same shape.
#[derive(Debug)]
pub struct Builder {
    input: BuilderInput,
    sent: OnceLock<SentPatch>,
    read: OnceLock<Coverage>,
    prompts: Mutex<HashMap<(LaneId, PromptShape), Arc<Prompt>>>,
}

impl Builder {
    /// Creates a builder; nothing is printed yet.
    pub fn new(input: BuilderInput) -> Self {
        Self {
            input,
            sent: OnceLock::new(),
            read: OnceLock::new(),
            prompts: Mutex::default(),
        }
    }

    /// Returns what reaches a reviewer whose engine has no lower limit of its own.
    pub fn best_coverage(&self) -> Coverage {
        let sent = self.sent();
        sent.coverage(self.patch(), sent.blocks.iter())
    }

    /// Returns what reaches a reviewer that reads the patch itself: all that was kept of it.
    pub fn read_coverage(&self) -> Coverage {
        let patch = &self.input.patch;
        let measure = || {
            let read = SentPatch::unprinted(patch);
            read.coverage(patch, read.blocks.iter())
        };
        self.read.get_or_init(measure).clone()
    }

    /// Returns the change as it may be sent.
    fn patch(&self) -> &Patch {
        let masked = self.input.masked.as_ref();
        masked.map_or(&self.input.patch, |masked| &masked.patch)
    }

    fn sent(&self) -> &SentPatch {
        self.sent.get_or_init(|| {
            let BuilderInput {
                patch,
                limits,
                left_out,
                masked,
                ..
            } = &self.input;
            let sent = SentPatch::new(self.patch(), *limits, left_out);
            match masked {
                Some(masked) => sent.masked(patch, &masked.reasons),
                None => sent,
            }
        })
    }

    fn compose(&self, lane: &ReviewLane, shape: &PromptShape) -> Result<Prompt, Failure> {
        if shape.reads_patch {
            return Ok(Prompt {
                system: None,
                user: String::new(),
                coverage: self.read_coverage(),
            });
        }
        let frame = Frame::new(&self.input.target, lane, shape);
        if self.input.target.is_diff_backed() {
            self.with_patch(frame, shape.max_chars)
        } else {
            self.without_patch(frame, shape.max_chars)
        }
    }

    fn without_patch(&self, frame: Frame, max_chars: Option<usize>) -> Result<Prompt, Failure> {
        let chars = frame.chars();
        if let Some(limit) = max_chars.filter(|&limit| chars > limit) {
            return Err(too_long(chars, limit, "").hint("shorten the instructions"));
        }
        Ok(Prompt {
            system: frame.system,
            user: frame.user,
            coverage: self.best_coverage(),
        })
    }

    fn with_patch(&self, frame: Frame, max_chars: Option<usize>) -> Result<Prompt, Failure> {
        let sent = self.sent();
        let patch = self.patch();
        let limit = max_chars.unwrap_or(usize::MAX);
        let chars = frame.chars();
        let total = |size: Size| chars + around(size.run) + size.chars;
        let Some(selection) = sent.select(patch, limit, |size| total(size) <= limit) else {
            let why = ", and not one change fits beside the names of the other files";
            return Err(too_long(total(sum(&sent.blocks)), limit, why)
                .hint("narrow the target, or choose an engine that takes a longer prompt"));
        };
        let blocks = sent.selected(&selection);
        let size = sum(blocks.clone());
        let mut user = frame.user;
        user.reserve_exact(size.bytes + around(size.run));
        let fence = "`".repeat(fence_length(size.run));
        user.extend([GAP, &fence, INFO, "\n"]);
        user.extend(blocks.clone().map(|block| block.text.as_str()));
        user.extend([&fence, "\n"]);
        Ok(Prompt {
            system: frame.system,
            user,
            coverage: sent.coverage(patch, blocks),
        })
    }
}

impl PromptBuilder for Builder {
    fn build(&self, lane: &ReviewLane, shape: &PromptShape) -> Result<Arc<Prompt>, Failure> {
        let mut shape = *shape;
        if !shape.system {
            // Only the contract names tools; without one, every engine gets the same prompt.
            shape.tools = &[];
        }
        // Held while composing, so that equal requests at the same time make one prompt.
        let mut prompts = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (lane.id.clone(), shape);
        if let Some(prompt) = prompts.get(&key) {
            return Ok(Arc::clone(prompt));
        }
        let prompt = Arc::new(self.compose(lane, &shape)?);
        prompts.insert(key, Arc::clone(&prompt));
        Ok(prompt)
    }

    fn repair(&self, answer: &str, problem: &str, max_chars: Option<usize>) -> Option<String> {
        repair_prompt(answer, problem, max_chars)
    }
}

/// Returns how many characters stand around a patch whose longest run of backticks is `run`.
fn around(run: usize) -> usize {
    GAP.len() + INFO.len() + 2 * (fence_length(run) + 1)
}

fn too_long(chars: usize, limit: usize, why: &str) -> Failure {
    let message =
        format!("the prompt has {chars} characters, over the {limit} that this engine takes{why}");
    Failure::new(ErrorCode::ReviewerFailed, message)
}

#[cfg(test)]
mod tests {
    use diffwarden_actors::model::{LaneKind, Sent, TargetKind};
    use proptest::prelude::*;

    use super::super::fence::closing_line;
    use super::super::sample::{added, any_patch, division, target};
    use super::*;

    fn builder(kind: TargetKind, patch: Patch) -> Builder {
        Builder::new(BuilderInput {
            target: Arc::new(target(kind)),
            patch: Arc::new(patch),
            masked: None,
            left_out: Vec::new(),
            limits: SendLimits::default(),
        })
    }

    fn two_files() -> Patch {
        Patch {
            files: vec![division(), added("notes.md", &["```js"; 20])],
        }
    }

    fn focus(text: &str) -> ReviewLane {
        ReviewLane {
            id: LaneId("focus-1".to_owned()),
            kind: LaneKind::Focus,
            focus: Some(text.to_owned()),
        }
    }

    fn at_most(max_chars: usize) -> PromptShape {
        PromptShape {
            max_chars: Some(max_chars),
            ..PromptShape::default()
        }
    }

    const SPLIT: PromptShape = PromptShape {
        system: true,
        tools: &["Read"],
        max_chars: None,
        reads_patch: false,
    };

    fn chars(prompt: &Prompt) -> usize {
        let system = prompt.system.as_deref().unwrap_or_default();
        system.chars().count() + prompt.user.chars().count()
    }

    #[test]
    fn the_single_prompt_reads_well() {
        let builder = builder(TargetKind::Base, two_files());
        let prompt = builder.build(&ReviewLane::overview(), &PromptShape::default());
        insta::assert_snapshot!("single", prompt.unwrap().user);
    }

    #[test]
    fn the_user_part_with_a_focus_reads_well() {
        let builder = builder(TargetKind::Uncommitted, two_files());
        let prompt = builder.build(&focus("division by zero"), &SPLIT).unwrap();
        insta::assert_snapshot!("split_focus", prompt.user);
    }

    #[test]
    fn custom_prompts_read_well() {
        let builder = builder(TargetKind::Custom, Patch::default());
        let split = builder.build(&ReviewLane::overview(), &SPLIT).unwrap();
        insta::assert_snapshot!("split_custom", split.user);
        assert!(split.system.as_ref().unwrap().contains("# How to answer"));

        let single = builder.build(&ReviewLane::overview(), &PromptShape::default());
        let single = single.unwrap();
        assert_eq!(single.system, None);
        assert!(single.user.starts_with("# Your task\n"));
        assert!(single.user.contains(&split.user));
        assert_eq!(single.coverage.files, []);
    }

    #[test]
    fn equal_requests_share_one_prompt() {
        let builder = builder(TargetKind::Base, two_files());
        let overview = ReviewLane::overview();
        let one = builder.build(&overview, &PromptShape::default()).unwrap();
        let tools = PromptShape {
            tools: &["Read"],
            ..PromptShape::default()
        };
        assert!(Arc::ptr_eq(
            &one,
            &builder.build(&overview, &tools).unwrap()
        ));
        let split = builder.build(&overview, &SPLIT).unwrap();
        assert!(!Arc::ptr_eq(&one, &split));
        assert!(!Arc::ptr_eq(
            &one,
            &builder.build(&focus("x"), &tools).unwrap()
        ));
        assert_eq!(one.coverage, builder.best_coverage());
        assert_eq!(one.coverage, split.coverage);
    }

    #[test]
    fn limits_on_what_is_sent_do_not_bind_who_reads_the_patch() {
        let long = added("long.rs", &["let a = 1;"; 60_000]);
        let mut large = added("large.bin", &["x"]);
        large.body = diffwarden_actors::model::Body::Omitted {
            size: 9 << 20,
            added: 0,
            removed: 0,
            reason: "its change is larger than 8 MiB".to_owned(),
        };
        let builder = builder(
            TargetKind::Base,
            Patch {
                files: vec![long, large],
            },
        );
        let reads = PromptShape {
            reads_patch: true,
            ..PromptShape::default()
        };
        let prompt = builder.build(&ReviewLane::overview(), &reads).unwrap();
        assert_eq!((prompt.system.as_ref(), prompt.user.as_str()), (None, ""));
        let sent = |coverage: &Coverage| -> Vec<Sent> {
            coverage.files.iter().map(|file| file.sent).collect()
        };
        assert_eq!(sent(&prompt.coverage), [Sent::Whole, Sent::Clipped]);
        let best = builder.best_coverage();
        assert_eq!(sent(&best), [Sent::Clipped, Sent::Clipped]);
        assert_eq!(prompt.coverage.patch_sha256, best.patch_sha256);
        assert_eq!(prompt.coverage.files[0].added, 60_000);
    }

    #[test]
    fn the_best_coverage_lists_every_file() {
        let coverage = builder(TargetKind::Base, two_files()).best_coverage();
        let files: Vec<_> = coverage
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.sent, file.added, file.removed))
            .collect();
        assert_eq!(
            files,
            [
                ("src/math.js", Sent::Whole, 1, 2),
                ("notes.md", Sent::Whole, 20, 0)
            ]
        );
        assert_eq!(coverage.patch_sha256.len(), 64);
    }

    #[test]
    fn a_prompt_at_the_limit_is_whole_and_one_above_is_clipped() {
        let builder = builder(TargetKind::Base, two_files());
        let overview = ReviewLane::overview();
        let whole = builder.build(&overview, &PromptShape::default()).unwrap();
        let size = chars(&whole);
        let same = builder.build(&overview, &at_most(size)).unwrap();
        assert_eq!(same, whole);

        let clipped = builder.build(&overview, &at_most(size - 1)).unwrap();
        assert!(chars(&clipped) < size);
        assert_eq!(clipped.coverage.files[0].sent, Sent::Whole);
        assert_eq!(clipped.coverage.files[1].sent, Sent::Clipped);
        assert_eq!(
            clipped.coverage.files[1].reason.as_deref().unwrap(),
            format!(
                "only named: its diff has 263 bytes and the whole prompt may take {} characters",
                size - 1
            )
        );
        assert_eq!(clipped.coverage.patch_sha256, whole.coverage.patch_sha256);
        assert!(clipped.user.contains("diff --git a/notes.md b/notes.md\n"));
        assert!(
            clipped
                .user
                .contains("(diffwarden: diff not shown for its size: 263 bytes, +20 -0 lines)")
        );

        let exact = chars(&clipped);
        let fits = builder.build(&overview, &at_most(exact)).unwrap();
        assert_eq!(chars(&fits), exact);
        let failure = builder.build(&overview, &at_most(exact - 1)).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerFailed);
        let limit = exact - 1;
        assert!(
            failure.message.starts_with(&format!(
                "the prompt has {size} characters, over the {limit} that this engine takes, and"
            )),
            "{}",
            failure.message
        );
        assert!(failure.hint.unwrap().contains("narrow the target"));
    }

    #[test]
    fn the_contract_counts_for_the_limit() {
        let builder = builder(TargetKind::Base, two_files());
        let overview = ReviewLane::overview();
        let size = chars(&builder.build(&overview, &SPLIT).unwrap());
        let with_limit = |max_chars| PromptShape {
            max_chars: Some(max_chars),
            ..SPLIT
        };
        let whole = builder.build(&overview, &with_limit(size)).unwrap();
        assert_eq!(whole.coverage, builder.best_coverage());
        let clipped = builder.build(&overview, &with_limit(size - 1)).unwrap();
        assert_ne!(clipped.coverage, builder.best_coverage());
    }

    #[test]
    fn long_instructions_fail_with_size_and_limit() {
        let builder = builder(TargetKind::Custom, Patch::default());
        let overview = ReviewLane::overview();
        let size = chars(&builder.build(&overview, &PromptShape::default()).unwrap());
        assert!(builder.build(&overview, &at_most(size)).is_ok());
        let failure = builder.build(&overview, &at_most(size - 1)).unwrap_err();
        let limit = size - 1;
        assert_eq!(
            failure.message,
            format!("the prompt has {size} characters, over the {limit} that this engine takes")
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn the_fence_holds_and_the_limit_too(patch in any_patch(), spare in 0_usize..4000) {
            let builder = builder(TargetKind::Commit, patch);
            let max_chars = 8000 + spare;
            let Ok(prompt) = builder.build(&focus("`````\n~~~"), &at_most(max_chars)) else {
                return Ok(());
            };
            prop_assert!(chars(&prompt) <= max_chars);
            let (_, patch) = prompt.user.split_once("\n# The patch\n").unwrap();
            let lines: Vec<&str> = patch.split(['\n', '\r']).collect();
            let opening = lines.iter().position(|line| line.ends_with("`diff")).unwrap();
            let fence = lines[opening].strip_suffix("diff").unwrap();
            let inside = &lines[opening + 1..];
            // The closing fence is the last line but the empty one after its line feed.
            prop_assert_eq!(closing_line(fence, inside), Some(inside.len() - 2));
            prop_assert!(inside[0].starts_with("diff --git ") || inside.len() == 2);
        }
    }
}
