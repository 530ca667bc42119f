//! What happens in one run, and what has to come of it.

use serde_json::{Value, json};

use super::random::Random;
use crate::support::{edit_finding, rate_limited, reply};

/// What one reviewer does in one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// Answers with so many findings.
    Success(u8),
    /// Answers, and leaves a child behind that holds the pipes.
    Grandchild,
    /// Closes standard output and answers through the file of the last message.
    ClosedStdout,
    /// Prints megabytes of lines that mean nothing, and then answers.
    Flood,
    /// Prints more than is taken of anybody.
    Deluge,
    /// Is told once to come back later, and answers then.
    RateLimited,
    Prose,
    HalfJson,
    /// Answers with one finding that fits and one that does not.
    InvalidSchema,
    Empty,
    Crash,
    ExitCode,
    FailedTurn,
    /// Hangs until its time is over.
    Hang,
    /// The same, and takes no notice of polite signals.
    Stubborn,
}

/// What a reviewer does when it is asked to transcribe an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mending {
    Accepted,
    Low,
    Unfixable,
    Babble,
    Crash,
}

/// How (reviewer, lane) has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// With an answer of so many findings.
    Answer(usize),
    Failure,
    /// It depends on who is faster.
    Either,
}

/// When the run is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interruption {
    /// After so many frames.
    pub(super) after: usize,
    /// Whether a second signal follows.
    pub(super) twice: bool,
}

#[derive(Debug)]
pub(super) struct Reviewer {
    /// One per lane.
    pub(super) deeds: Vec<Deed>,
    pub(super) mending: Mending,
    /// How long it takes before it does anything, in milliseconds.
    pub(super) delay: usize,
}

#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) reviewers: Vec<Reviewer>,
    /// How many `--focus` there are.
    pub(super) focus: usize,
    pub(super) overview: bool,
    pub(super) jobs: usize,
    pub(super) strict: bool,
    pub(super) interruption: Option<Interruption>,
}

/// How often a deed is drawn.
const DEEDS: [(Deed, usize); 18] = [
    (Deed::Success(0), 10),
    (Deed::Success(1), 22),
    (Deed::Success(3), 8),
    (Deed::Grandchild, 7),
    (Deed::ClosedStdout, 6),
    (Deed::Flood, 5),
    (Deed::RateLimited, 5),
    (Deed::Prose, 6),
    (Deed::HalfJson, 6),
    (Deed::InvalidSchema, 6),
    (Deed::Empty, 4),
    (Deed::Crash, 5),
    (Deed::ExitCode, 4),
    (Deed::FailedTurn, 4),
    (Deed::Hang, 2),
    (Deed::Stubborn, 1),
    (Deed::Success(2), 8),
    (Deed::Success(1), 1),
];

impl Scenario {
    /// Draws what happens under this seed. Every 32nd run has somebody print more than is taken.
    pub(super) fn draw(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let focus = random.pick(&[0, 0, 1, 1, 2, 3]);
        let overview = focus == 0 || random.percent(75);
        let most = random.pick(&[1, 3, 3, 5, 5, 12]);
        let reviewers = 1 + random.below(most);
        let calm = random.percent(40);
        let mut reviewers: Vec<_> = (0..reviewers)
            .map(|_| Reviewer::draw(random, focus + usize::from(overview), calm))
            .collect();
        if seed % 32 == 31 {
            reviewers[0].deeds[0] = Deed::Deluge;
        }
        let mut scenario = Self {
            reviewers,
            focus,
            overview,
            jobs: random.pick(&[1, 3, 8, 8, 64]),
            strict: random.percent(12),
            interruption: (!calm && random.percent(40)).then(|| Interruption {
                after: 1 + random.below(14),
                twice: random.percent(30),
            }),
        };
        if scenario.reviewers.iter().any(Reviewer::is_timed) {
            // Nobody waits for one after the other.
            scenario.jobs = 64;
        }
        scenario
    }

    pub(super) fn lanes(&self) -> usize {
        self.focus + usize::from(self.overview)
    }

    /// Returns the names of the lanes, in order; a run without `--focus` has one without a name.
    pub(super) fn lane_names(&self) -> Vec<Option<String>> {
        if self.focus == 0 {
            return vec![None];
        }
        let overview = self.overview.then(|| Some("overview".to_owned()));
        let focus = (1..=self.focus).map(|number| Some(format!("focus-{number}")));
        overview.into_iter().chain(focus).collect()
    }

    /// Whether nothing of the outcome depends on who is faster.
    pub(super) fn is_determined(&self) -> bool {
        let is_timed = self.reviewers.iter().any(Reviewer::is_timed);
        self.interruption.is_none() && !is_timed && !self.strict
    }

    /// Returns the arguments of `diffwarden review`, but for those about outputs.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--jobs".to_owned(), self.jobs.to_string()];
        for number in 1..=self.focus {
            arguments.extend(["--focus".to_owned(), focus_text(number)]);
        }
        if !self.overview {
            arguments.push("--no-overview".to_owned());
        }
        if self.strict {
            arguments.push("--strict".to_owned());
        }
        arguments
    }

    pub(super) fn config(&self) -> Value {
        let positions = 0..self.reviewers.len();
        let ids: Vec<_> = positions.map(id).collect();
        let reviewers = ids.iter().zip(&self.reviewers).map(|(id, reviewer)| {
            let mut entry = json!({
                "id": id, "engine": "codex", "transport": "cli", "model": model(id),
            });
            if reviewer.is_timed() {
                entry["timeoutSeconds"] = json!(0.4);
            }
            entry
        });
        json!({
            "reviewers": reviewers.collect::<Vec<_>>(),
            "reviewerSets": {"1": ids},
        })
    }

    /// Returns what the scripted reviewer does. Each run of it begins with `first`.
    pub(super) fn script(&self, first: &Value, grandchild: &Value) -> Value {
        let mut runs = Vec::new();
        for (position, reviewer) in self.reviewers.iter().enumerate() {
            let model = model(&id(position));
            // No review has this word in its prompt.
            let mending = [&model, "transcriber"];
            let steps = [vec![first.clone()], reviewer.mending.steps()].concat();
            runs.push(json!({"contains": mending, "steps": steps}));
            let first_focus = usize::from(self.overview);
            let focus = (1..=self.focus).map(|number| {
                let deed = reviewer.deeds[first_focus + number - 1];
                (vec![model.clone(), focus_text(number)], deed)
            });
            let overview = self
                .overview
                .then(|| (vec![model.clone()], reviewer.deeds[0]));
            for (contains, deed) in focus.chain(overview) {
                let before = [first.clone(), json!({"sleep_ms": reviewer.delay})];
                if deed == Deed::RateLimited {
                    let steps = [&before[..], &rate_limited("30ms")].concat();
                    runs.push(json!({"contains": contains, "times": 1, "steps": steps}));
                }
                let steps = [&before[..], &deed.steps(grandchild)].concat();
                runs.push(json!({"contains": contains, "steps": steps}));
            }
        }
        json!({ "runs": runs })
    }

    /// Returns how a reviewer has to end in a lane.
    pub(super) fn ending(&self, reviewer: usize, lane: usize) -> Ending {
        let reviewer = &self.reviewers[reviewer];
        if self.interruption.is_some() || self.strict {
            return Ending::Either;
        }
        let ending = reviewer.ending(lane, false);
        if reviewer.is_timed() && ending != Ending::Failure {
            // On a busy machine its time may not suffice.
            return Ending::Either;
        }
        ending
    }

    /// Whether the run has to have a result; nothing when that depends on who is faster.
    pub(super) fn has_result(&self) -> Option<bool> {
        if self.interruption.is_some() {
            return None;
        }
        let endings = self.reviewers.iter().flat_map(|reviewer| {
            (0..self.lanes()).map(|lane| match reviewer.ending(lane, self.strict) {
                Ending::Answer(_) if reviewer.is_timed() => Ending::Either,
                ending => ending,
            })
        });
        let endings: Vec<_> = endings.collect();
        let any = |wanted: Ending| endings.contains(&wanted);
        let is_answer = |ending: &Ending| matches!(ending, Ending::Answer(_));
        if self.strict {
            match (any(Ending::Failure), any(Ending::Either)) {
                (true, _) => Some(false),
                (false, true) => None,
                (false, false) => Some(true),
            }
        } else if endings.iter().any(is_answer) {
            Some(true)
        } else if any(Ending::Either) {
            None
        } else {
            Some(false)
        }
    }
}

impl Reviewer {
    fn draw(random: &mut Random, lanes: usize, calm: bool) -> Self {
        let deeds = (0..lanes).map(|_| match Deed::draw(random) {
            Deed::Hang | Deed::Stubborn if calm => Deed::Success(1),
            deed => deed,
        });
        Self {
            deeds: deeds.collect(),
            mending: random.pick(&[
                Mending::Accepted,
                Mending::Accepted,
                Mending::Low,
                Mending::Unfixable,
                Mending::Babble,
                Mending::Crash,
            ]),
            delay: random.pick(&[0, 0, 5, 30]),
        }
    }

    fn is_timed(&self) -> bool {
        let is_timed = |deed: &Deed| matches!(deed, Deed::Hang | Deed::Stubborn);
        self.deeds.iter().any(is_timed)
    }

    fn ending(&self, lane: usize, strict: bool) -> Ending {
        let is_mended = self.mending == Mending::Accepted;
        match self.deeds[lane] {
            Deed::Success(findings) => Ending::Answer(findings.into()),
            Deed::Grandchild | Deed::ClosedStdout | Deed::Flood | Deed::RateLimited => {
                Ending::Answer(1)
            }
            Deed::Prose | Deed::HalfJson | Deed::InvalidSchema if is_mended => Ending::Answer(1),
            Deed::Prose | Deed::HalfJson | Deed::InvalidSchema if strict => Ending::Failure,
            Deed::Prose | Deed::HalfJson => Ending::Answer(0),
            Deed::InvalidSchema => Ending::Answer(1),
            Deed::Deluge
            | Deed::Empty
            | Deed::Crash
            | Deed::ExitCode
            | Deed::FailedTurn
            | Deed::Hang
            | Deed::Stubborn => Ending::Failure,
        }
    }
}

impl Deed {
    fn draw(random: &mut Random) -> Self {
        let total = DEEDS.iter().map(|(_, weight)| weight).sum();
        let mut left = random.below(total);
        for (deed, weight) in DEEDS {
            if left < weight {
                return deed;
            }
            left -= weight;
        }
        unreachable!("the number is below the sum of the weights")
    }

    fn steps(self, grandchild: &Value) -> Vec<Value> {
        let one = || reply(&[edit_finding("[P1] Two is not one")]);
        match self {
            Self::Success(findings) => {
                let titles = (0..findings).map(|number| format!("[P1] Problem {number}"));
                let findings: Vec<_> = titles.map(|title| edit_finding(&title)).collect();
                vec![reply(&findings)]
            }
            Self::Grandchild => vec![grandchild.clone(), one()],
            Self::ClosedStdout => {
                let text = one()["reply"].to_string();
                vec![json!("close_stdout"), json!({ "last_message": text })]
            }
            Self::Flood => vec![
                json!({"flood_stdout": 300_000}),
                json!({"flood_line": 300_000}),
                json!({"flood_stderr": 300_000}),
                one(),
            ],
            Self::Deluge => vec![json!({"flood_stderr": 66 << 20}), one()],
            // What comes after the refusal.
            Self::RateLimited => vec![one()],
            Self::Prose => vec![json!({"text": "It returns two, which is wrong."})],
            Self::HalfJson => vec![json!({"text": "{\"findings\": [{\"title\": \"[P1] Two"})],
            Self::InvalidSchema => {
                let mut answer = one();
                let mut bad = edit_finding("[P1] Too urgent");
                bad["priority"] = json!(9);
                let findings = answer["reply"]["findings"].as_array_mut();
                findings.expect("findings").push(bad);
                vec![answer]
            }
            Self::Empty => vec![json!({"text": ""})],
            Self::Crash => vec![json!({"event": {"type": "turn.started"}}), json!("abort")],
            Self::ExitCode => vec![json!({"stderr": "disk on fire\n"}), json!({"exit": 7})],
            Self::FailedTurn => vec![json!({"fail_turn": "it fell over"}), json!({"exit": 1})],
            Self::Hang => vec![grandchild.clone(), json!("hang")],
            Self::Stubborn => vec![json!("ignore_signals"), grandchild.clone(), json!("hang")],
        }
    }
}

impl Mending {
    fn steps(self) -> Vec<Value> {
        let mut review = reply(&[edit_finding("[P1] Two is not one")])["reply"].take();
        let mut transcribed = |fixable: bool, confidence: &str| {
            let review = if fixable { review.take() } else { Value::Null };
            let answer = json!({"fixable": fixable, "confidence": confidence, "review": review});
            vec![json!({ "reply": answer })]
        };
        match self {
            Self::Accepted => transcribed(true, "high"),
            Self::Low => transcribed(true, "low"),
            Self::Unfixable => transcribed(false, "high"),
            Self::Babble => vec![json!({"text": "I would rather not."})],
            Self::Crash => vec![json!("abort")],
        }
    }
}

/// Returns the id of the reviewer at this position; none is the beginning of another.
pub(super) fn id(position: usize) -> String {
    format!("r{position:03}")
}

fn model(id: &str) -> String {
    format!("model-{id}")
}

fn focus_text(number: usize) -> String {
    format!("subject-{number}")
}
