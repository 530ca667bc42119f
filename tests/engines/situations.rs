//! The situations, alike for every path.

use std::time::Duration;

use crate::provider::{Form, Reply, Script, Wish};
use crate::scenario::{Credentials, Executable, Repository, Situation};

/// A model that answers with a review.
pub(crate) const SUCCESS: Situation = Situation {
    name: "success",
    script: Script {
        review: &[Reply::Review],
        repair: &[Reply::NotFixable],
    },
    is_refused: false,
    credentials: Credentials::Some,
    executable: Executable::Installed,
    repository: Repository::Edit,
    args: &[],
    reviewer: "{}",
    reviewers: 1,
    is_interrupted: false,
};

const fn answers(
    name: &'static str,
    review: &'static [Reply],
    repair: &'static [Reply],
) -> Situation {
    Situation {
        name,
        script: Script { review, repair },
        ..SUCCESS
    }
}

const fn asks(name: &'static str, review: &'static [Reply]) -> Situation {
    answers(name, review, &[Reply::NotFixable])
}

/// An answer that takes its time.
pub(crate) const SLOW: Situation = asks("slow", &[Reply::Slow(Duration::from_secs(3))]);

/// Prose, for as long as it is asked.
pub(crate) const PROSE: Situation = asks("prose", &[Reply::Text(Form::Prose)]);

/// Prose that cannot be transcribed, and a review the next time.
pub(crate) const PROSE_THEN_REVIEW: Situation = asks(
    "prose-then-review",
    &[Reply::Text(Form::Prose), Reply::Review],
);

/// The same for an engine that itself asks for structure once more.
pub(crate) const PROSE_TWICE_THEN_REVIEW: Situation = asks(
    "prose-then-review",
    &[
        Reply::Text(Form::Prose),
        Reply::Text(Form::Prose),
        Reply::Review,
    ],
);

/// Half of the JSON, which is transcribed.
pub(crate) const HALF: Situation = answers(
    "half-json",
    &[Reply::Text(Form::Half)],
    &[Reply::Transcription],
);

/// JSON in a code fence.
pub(crate) const FENCED: Situation = asks("fenced", &[Reply::Text(Form::Fenced)]);

/// JSON in a JSON string.
pub(crate) const DOUBLE: Situation = asks("double-encoded", &[Reply::Text(Form::DoubleEncoded)]);

/// An object that is no review, which is transcribed.
pub(crate) const WRONG_SCHEMA: Situation = answers(
    "wrong-schema",
    &[Reply::WrongSchema],
    &[Reply::Transcription],
);

/// An engine that nobody has logged in to.
pub(crate) const NO_CREDENTIALS: Situation = Situation {
    credentials: Credentials::None,
    ..asks("no-credentials", &[Reply::Status(401)])
};

/// A request that the service finds fault with.
pub(crate) const HTTP_400: Situation = asks("http-400", &[Reply::Status(400)]);
/// Refused credentials.
pub(crate) const HTTP_401: Situation = asks("http-401", &[Reply::Status(401)]);
/// Credentials that do not suffice.
pub(crate) const HTTP_403: Situation = asks("http-403", &[Reply::Status(403)]);
/// A model that does not exist.
pub(crate) const UNKNOWN_MODEL: Situation = Situation {
    reviewer: r#"{"model": "no-such-model"}"#,
    ..asks("unknown-model", &[Reply::Status(404)])
};
/// Too many requests.
pub(crate) const HTTP_429: Situation = asks("http-429", &[Reply::Status(429)]);
/// A fault of the service.
pub(crate) const HTTP_500: Situation = asks("http-500", &[Reply::Status(500)]);
/// A service that is overloaded.
pub(crate) const HTTP_529: Situation = asks("http-529", &[Reply::Status(529)]);

/// A fault that is over at the second request.
pub(crate) const RECOVERS: Situation = asks("recovers", &[Reply::Status(500), Reply::Review]);

/// Nobody listens.
pub(crate) const REFUSED: Situation = Situation {
    is_refused: true,
    ..asks("refused-connection", &[])
};

/// A stream that ends in the middle, every time.
pub(crate) const CUT: Situation = asks("cut-stream", &[Reply::Cut]);

/// A model that never answers.
pub(crate) const HANG: Situation = Situation {
    args: &["--timeout", "6"],
    ..asks("hang", &[Reply::Hang])
};

/// An interrupt from the keyboard while the model is silent.
pub(crate) const INTERRUPT: Situation = Situation {
    is_interrupted: true,
    ..asks("interrupt", &[Reply::Hang])
};

/// A model that reads a file first.
pub(crate) const READ: Situation = asks("asks-to-read", &[Reply::Tools(Wish::Read)]);
/// A model that wants to read files outside of the repository.
pub(crate) const OUTSIDE: Situation = asks("asks-to-read-outside", &[Reply::Tools(Wish::Outside)]);
/// A model that wants to write a file.
pub(crate) const WRITE: Situation = asks("asks-to-write", &[Reply::Tools(Wish::Write)]);
/// A model that wants to run commands that write.
pub(crate) const SHELL: Situation = asks("asks-for-a-shell", &[Reply::Tools(Wish::Shell)]);

/// A repository that wants to instruct the engine, and a patch that mentions a file outside of it.
pub(crate) const HOSTILE: Situation = Situation {
    repository: Repository::Planted,
    ..asks("hostile-repository", &[Reply::Review])
};

/// A change with a secret, which no service may be sent.
pub(crate) const LEAK: Situation = Situation {
    repository: Repository::Secret,
    ..asks("secret", &[Reply::Review])
};

/// A bug that a model has to find by itself.
pub(crate) const BUG: Situation = Situation {
    repository: Repository::Bug,
    ..asks("planted-bug", &[Reply::Review])
};

/// A commit that is long past, read by the model in a copy of its tree.
pub(crate) const PAST: Situation = Situation {
    repository: Repository::Past,
    args: &["--target", "commit:HEAD~3"],
    ..asks("past-commit", &[Reply::Tools(Wish::Read)])
};

/// A change that is longer than any prompt may be.
pub(crate) const HUGE: Situation = Situation {
    repository: Repository::Huge,
    ..asks("huge-change", &[Reply::Review])
};

/// No executable.
pub(crate) const MISSING: Situation = Situation {
    executable: Executable::Missing,
    ..asks("missing", &[Reply::Review])
};

/// A review that is measured.
pub(crate) const TAPPED: Situation = Situation {
    executable: Executable::Tapped,
    ..SUCCESS
};

/// An executable that lacks options.
pub(crate) const OLD: Situation = Situation {
    executable: Executable::Old,
    ..asks("too-old", &[Reply::Review])
};

/// A reviewer that chooses its effort.
pub(crate) const EFFORT: Situation = Situation {
    reviewer: r#"{"effort": "low"}"#,
    ..asks("effort", &[Reply::Review])
};

/// An effort that diffwarden translates.
pub(crate) const EFFORT_OFF: Situation = Situation {
    reviewer: r#"{"effort": "off"}"#,
    ..asks("effort-off", &[Reply::Review])
};

/// Two reviewers, each of which looks at everything and for one thing.
pub(crate) const LANES: Situation = Situation {
    reviewers: 2,
    args: &["--focus", "security"],
    ..asks("two-reviewers-two-lanes", &[Reply::Review])
};

/// Prose, where nothing but a review will do.
pub(crate) const STRICT_PROSE: Situation = Situation {
    args: &["--strict"],
    ..asks("strict-prose", &[Reply::Text(Form::Prose)])
};
