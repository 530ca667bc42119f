//! Failures in the same words, whichever engine they come from.

use std::borrow::Cow;
use std::time::Duration;

use diffwarden_actors::model::{ErrorCode, Failure, Reason};

use super::{Program, one_line};

/// An executable or a configuration that cannot be worked with.
pub(in crate::engines) fn unfit(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::ReviewerEnvironmentFailed, message)
        .reason(Reason::Environment)
        .hint(hint)
}

/// What the message of an engine means.
#[derive(Debug)]
pub(in crate::engines) struct Kind {
    code: ErrorCode,
    reason: Option<Reason>,
    /// What stands before the engine's own words.
    lead: Cow<'static, str>,
    hint: Cow<'static, str>,
}

impl Kind {
    /// A failed review.
    pub(in crate::engines) fn failed(
        reason: Option<Reason>,
        lead: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            code: ErrorCode::ReviewerFailed,
            reason,
            lead: lead.into(),
            hint: hint.into(),
        }
    }

    /// Missing or refused credentials.
    pub(in crate::engines) fn auth(
        lead: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            code: ErrorCode::MissingAuth,
            ..Self::failed(Some(Reason::Auth), lead, hint)
        }
    }

    /// An executable or a configuration that cannot be worked with.
    pub(in crate::engines) fn environment(
        lead: impl Into<Cow<'static, str>>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            code: ErrorCode::ReviewerEnvironmentFailed,
            ..Self::failed(Some(Reason::Environment), lead, hint)
        }
    }

    /// The account has nothing left.
    pub(in crate::engines) fn quota(program: &Program) -> Self {
        Self::failed(
            Some(Reason::Quota),
            format!("{}'s quota is used up", program.title),
            "wait until it is renewed, or use another account or engine",
        )
    }

    /// The model service does not know the key or the login.
    pub(in crate::engines) fn refused(program: &Program) -> Self {
        let lead = format!("the model service refused {}'s credentials", program.title);
        Self::auth(lead, program.login)
    }

    /// A limit that passes within minutes.
    pub(in crate::engines) fn rate_limit() -> Self {
        Self::failed(
            Some(Reason::RateLimit),
            "the model service asks to slow down",
            "try again later, or run fewer reviewers at a time",
        )
    }

    /// A model that is not there, or not for this account.
    pub(in crate::engines) fn model() -> Self {
        Self::failed(
            Some(Reason::Model),
            "the model cannot be used",
            "choose another one with --model or in the reviewer's entry",
        )
    }

    /// A fault of the model service's own.
    pub(in crate::engines) fn fault() -> Self {
        Self::failed(None, "the model service has a fault", "try again later")
    }

    /// No connection to the model service; `address` says where its address is configured.
    pub(in crate::engines) fn unreachable(program: &Program, address: &str) -> Self {
        Self::failed(
            Some(Reason::Environment),
            format!("{} could not reach its model service", program.title),
            format!("check the network, the proxy and {address}"),
        )
    }

    /// An answer that ended at a limit.
    pub(in crate::engines) fn cut_off() -> Self {
        Self::failed(
            None,
            "the model's answer was cut off",
            "review a smaller change, or choose another model",
        )
    }

    /// A prompt that is over the model's limit.
    pub(in crate::engines) fn too_long() -> Self {
        Self::failed(
            None,
            "the change is too long for the model",
            "review a smaller change, or choose a model with more room",
        )
    }

    /// An answer that the model or its service withheld.
    pub(in crate::engines) fn declined() -> Self {
        Self::failed(
            Some(Reason::Refused),
            "the model service declined to review",
            "choose another model",
        )
    }

    /// A run that ended before it began.
    pub(in crate::engines) fn no_prompt(program: &Program) -> Self {
        Self::failed(
            Some(Reason::Protocol),
            format!("{} did not get its prompt", program.title),
            "try again",
        )
    }

    /// An executable that does not know the command line of a review.
    pub(in crate::engines) fn misfit(program: &Program) -> Self {
        Self::environment(
            format!(
                "this {} does not take the options of a review; it is too old or too new",
                program.title
            ),
            format!("update it with `{}`, and diffwarden", program.install),
        )
    }

    /// Returns the failure, with the engine's own words after it.
    pub(in crate::engines) fn into_failure(self, said: &str) -> Failure {
        let said = one_line(said);
        let message = if said.is_empty() {
            self.lead.into_owned()
        } else {
            format!("{}: {said}", self.lead)
        };
        let failure = Failure::new(self.code, message).hint(self.hint);
        match self.reason {
            Some(reason) => failure.reason(reason),
            None => failure,
        }
    }
}

/// A refusal of a model service, as an engine passes it on.
#[derive(Debug, Default)]
pub(in crate::engines) struct Refusal {
    /// The HTTP status.
    pub(in crate::engines) status: Option<i64>,
    /// The service's sentence.
    pub(in crate::engines) said: String,
    /// Whether the service names a bad key as the reason.
    pub(in crate::engines) has_bad_key: bool,
    /// Whether the limit that was met is not one that passes within minutes.
    pub(in crate::engines) is_spent: bool,
    /// How long the service asks to wait.
    pub(in crate::engines) wait: Option<Duration>,
}

impl Refusal {
    /// Returns the failure it means.
    pub(in crate::engines) fn into_failure(self, program: &Program) -> Failure {
        let kind = match self.status {
            _ if self.has_bad_key => Kind::refused(program),
            Some(401 | 403) => Kind::refused(program),
            Some(402) => Kind::quota(program),
            Some(404) => Kind::model(),
            Some(429) if self.is_spent => Kind::quota(program),
            Some(429) => Kind::rate_limit(),
            Some(500..=599) => Kind::fault(),
            Some(400..=499) => Kind::failed(
                None,
                "the model service refused the request",
                "check the model and the size of the change",
            ),
            _ => Kind::failed(None, format!("{} failed", program.title), "try again"),
        };
        let failure = kind.into_failure(&self.said);
        match self.wait {
            Some(wait) if failure.reason == Some(Reason::RateLimit) => failure.retry_after(wait),
            _ => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::shared::testing::PROGRAM;

    #[test]
    fn statuses_tell_refusals_apart() {
        for (status, is_spent, code, reason) in [
            (401, false, ErrorCode::MissingAuth, Some(Reason::Auth)),
            (402, false, ErrorCode::ReviewerFailed, Some(Reason::Quota)),
            (404, false, ErrorCode::ReviewerFailed, Some(Reason::Model)),
            (418, false, ErrorCode::ReviewerFailed, None),
            (429, true, ErrorCode::ReviewerFailed, Some(Reason::Quota)),
            (
                429,
                false,
                ErrorCode::ReviewerFailed,
                Some(Reason::RateLimit),
            ),
            (503, true, ErrorCode::ReviewerFailed, None),
            (7, false, ErrorCode::ReviewerFailed, None),
        ] {
            let refusal = Refusal {
                status: Some(status),
                is_spent,
                wait: Some(Duration::from_secs(3)),
                ..Refusal::default()
            };
            let failure = refusal.into_failure(&PROGRAM);
            assert_eq!((failure.code, failure.reason), (code, reason), "{status}");
            let is_limited = reason == Some(Reason::RateLimit);
            assert_eq!(failure.retry_after.is_some(), is_limited, "{status}");
        }
    }

    #[test]
    fn the_engine_s_words_follow_as_one_line_without_keys() {
        let failure = Kind::fault().into_failure(" key\nsk-abc ");
        assert_eq!(
            failure.message,
            "the model service has a fault: key [redacted]"
        );
        assert_eq!(
            Kind::fault().into_failure("\n").message,
            "the model service has a fault"
        );
    }
}
