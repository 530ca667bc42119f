//! What tests of the run share: a plan to fill in and engines that do what they are told.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Map;

use crate::engine::{
    Answer, CancelToken, CaptureMode, Engine, Payload, Place, Preflight, PreflightPass,
    RepairRequest, ReviewRequest, Start,
};
use crate::model::{
    CodeLocation, Coverage, EngineName, Failure, Finding, Frame, LineRange, Patch, RepoPath,
    ReviewLane, ReviewResult, ReviewTarget, ReviewerId, Score, TargetKind, Verdict,
};
use crate::plan::{LanePlan, Policy, ReviewerPlan, RunPlan, Scope};
use crate::prompt::{Prompt, PromptBuilder, PromptShape};
use crate::sink::{RunOutcome, Sink};
use crate::source::SourceReader;

type Check = dyn Fn(&Place) -> Result<Preflight, Failure> + Send + Sync;
type Watch = dyn FnMut(&Frame) -> io::Result<()> + Send;
type Ask = dyn Fn(&ReviewRequest) -> Result<Start, Failure> + Send + Sync;
type Mend = dyn Fn(&RepairRequest) -> Result<Start, Failure> + Send + Sync;

/// An engine made of two functions.
pub(crate) struct TestEngine {
    check: Box<Check>,
    ask: Box<Ask>,
    mend: Option<Box<Mend>>,
}

impl TestEngine {
    /// Passes preflight and reviews by `ask`.
    pub(crate) fn asking(
        ask: impl Fn(&ReviewRequest) -> Result<Start, Failure> + Send + Sync + 'static,
    ) -> Self {
        Self {
            check: Box::new(|_| Ok(Preflight::Known(PreflightPass::default()))),
            ask: Box::new(ask),
            mend: None,
        }
    }

    /// Passes preflight and runs `work` inside diffwarden.
    pub(crate) fn working(
        work: impl Fn(&CancelToken) -> Result<Answer, Failure> + Send + Sync + 'static,
    ) -> Self {
        let work = Arc::new(work);
        Self::asking(move |_| {
            let work = Arc::clone(&work);
            Ok(Start::InProcess(Box::new(move |token| work(token))))
        })
    }

    /// Answers without findings.
    pub(crate) fn content() -> Self {
        Self::working(|_| Ok(answer(&[])))
    }

    /// Works until it is told to stop.
    pub(crate) fn endless() -> Self {
        Self::working(|token| {
            until_cancelled(token);
            Ok(answer(&[]))
        })
    }

    /// Has its preflight done by `check`.
    pub(crate) fn checking(
        mut self,
        check: impl Fn(&Place) -> Result<Preflight, Failure> + Send + Sync + 'static,
    ) -> Self {
        self.check = Box::new(check);
        self
    }
}

impl TestEngine {
    /// Can repair, by `mend`.
    pub(crate) fn mending(
        mut self,
        mend: impl Fn(&RepairRequest) -> Result<Start, Failure> + Send + Sync + 'static,
    ) -> Self {
        self.mend = Some(Box::new(mend));
        self
    }
}

impl Engine for TestEngine {
    fn preflight(&self, place: &Place) -> Result<Preflight, Failure> {
        (self.check)(place)
    }

    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure> {
        (self.ask)(request)
    }

    fn repair(&self, request: &RepairRequest) -> Option<Result<Start, Failure>> {
        self.mend.as_ref().map(|mend| mend(request))
    }
}

pub(crate) fn until_cancelled(token: &CancelToken) {
    while !token.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns an answer with the given findings.
pub(crate) fn answer(titles: &[&str]) -> Answer {
    let verdict = if titles.is_empty() {
        Verdict::Correct
    } else {
        Verdict::Incorrect
    };
    let result = ReviewResult {
        findings: titles.iter().map(|title| finding(title)).collect(),
        overall_correctness: verdict.as_str().to_owned(),
        overall_explanation: "looked".to_owned(),
        overall_confidence_score: Score(0.5),
    };
    Answer {
        payload: Payload::Review(result),
        capture_mode: CaptureMode::NativeStructured,
        metadata: Map::new(),
        usage: None,
    }
}

pub(crate) fn finding(title: &str) -> Finding {
    Finding {
        title: title.to_owned(),
        body: "because".to_owned(),
        confidence_score: Score(0.9),
        priority: None,
        code_location: CodeLocation {
            absolute_file_path: "/repo/a.rs".to_owned(),
            line_range: LineRange { start: 1, end: 1 },
        },
        anchor: None,
    }
}

pub(crate) fn reviewer(id: &str, engine: TestEngine) -> ReviewerPlan {
    ReviewerPlan {
        id: ReviewerId(id.to_owned()),
        engine_name: EngineName::Fake,
        transport: None,
        profile: None,
        provider: None,
        model: None,
        effort: None,
        timeout: None,
        prompt: PromptShape::default(),
        engine: Arc::new(engine),
    }
}

struct Prompts;

impl PromptBuilder for Prompts {
    fn build(&self, _: &ReviewLane, _: &PromptShape) -> Result<Arc<Prompt>, Failure> {
        Ok(Arc::new(Prompt {
            system: None,
            user: "review".to_owned(),
            coverage: Coverage::default(),
        }))
    }

    fn repair(&self, answer: &str, problem: &str, _: Option<usize>) -> Option<String> {
        Some(format!("transcribe, because {problem}: {answer}"))
    }
}

struct Sources;

impl SourceReader for Sources {
    fn line(&self, _: &RepoPath, _: u32) -> Option<Vec<u8>> {
        None
    }
}

/// Returns a plan for one changed file.
pub(crate) fn plan(reviewers: Vec<ReviewerPlan>) -> RunPlan {
    let root = "/nowhere/repo";
    let changed = RepoPath::from("a.rs");
    let lines = LineRange { start: 1, end: 9 };
    RunPlan {
        cwd: root.to_owned(),
        target: Arc::new(ReviewTarget {
            kind: TargetKind::Uncommitted,
            repo_root: root.to_owned(),
            base_ref: None,
            base_sha: None,
            head_sha: None,
            commit_sha: None,
            instructions: None,
            diff_command: "git diff".to_owned(),
            changed_files: vec!["a.rs".to_owned()],
        }),
        patch: Arc::new(Patch::default()),
        scope: Arc::new(Scope {
            repo_root: PathBuf::from(root),
            real_root: PathBuf::from(root),
            changed: Some(vec![changed.clone()]),
            added: [(changed, vec![lines])].into(),
        }),
        coverage: Coverage::default(),
        lanes: vec![LanePlan {
            lane: ReviewLane::overview(),
        }],
        batch: None,
        reviewers,
        integrity: Vec::new(),
        doubts: Vec::new(),
        degraded: Vec::new(),
        prompts: Arc::new(Prompts),
        source: Arc::new(Sources),
        tree: None,
        snapshot: None,
        policy: Policy {
            grace: Duration::from_millis(100),
            ..Policy::default()
        },
    }
}

/// Keeps every frame; calls `watch` on each as it comes.
pub(crate) struct Recorder {
    pub(crate) frames: Arc<Mutex<Vec<Frame>>>,
    pub(crate) watch: Box<Watch>,
}

impl Sink for Recorder {
    fn event(&mut self, frame: &Frame) -> io::Result<()> {
        self.frames.lock().unwrap().push(frame.clone());
        (self.watch)(frame)
    }

    fn finish(self: Box<Self>, _: &RunOutcome) -> io::Result<()> {
        Ok(())
    }
}
