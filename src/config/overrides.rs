//! What flags and environment variables say about the reviewers of a run, before any config is
//! read.

use std::time::Duration;

use diffwarden_actors::model::{ErrorCode, Failure};

use super::spec::ReviewerSpec;
use super::validate::timeout_of_seconds;
use crate::engines::settings::{Chosen, Effort, Origin};
use crate::env::Environment;

/// The flags that choose reviewers, as they were typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectionFlags {
    /// `--reviewer`, in order.
    pub reviewers: Vec<String>,
    /// `--reviewer-set`.
    pub reviewer_set: Option<String>,
    /// `--model`.
    pub model: Option<String>,
    /// `--effort`.
    pub effort: Option<String>,
    /// `--fallback-model`.
    pub fallback_model: Option<String>,
    /// `--timeout`.
    pub timeout: Option<String>,
}

/// Flags and variables, checked as far as they can be without a config. A flag beats its variable,
/// which is then not even looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Who was asked for by flags.
    pub requested: Requested,
    /// Who was asked for by variables. It counts only when flags ask for nobody and there is a
    /// config.
    pub environment: Requested,
    /// The model.
    pub model: Option<Chosen<String>>,
    /// The effort.
    pub effort: Option<Chosen<Effort>>,
    /// The model to fall back to.
    pub fallback_model: Option<Chosen<String>>,
    /// The budget of each reviewer.
    pub timeout: Option<Duration>,
}

/// Who was asked for by one source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requested {
    /// Reviewer specs, in order.
    pub reviewers: Vec<String>,
    /// The name of a set.
    pub set: Option<String>,
}

impl Requested {
    /// Whether nobody was asked for.
    pub fn is_empty(&self) -> bool {
        self.reviewers.is_empty() && self.set.is_none()
    }

    /// Checks that reviewers and a set were not both asked for, and that every spec is one.
    ///
    /// # Errors
    ///
    /// Fails with `invalid_cli`.
    pub fn check(&self) -> Result<(), Failure> {
        if !self.reviewers.is_empty() && self.set.is_some() {
            return Err(invalid(
                "use either --reviewer (DIFFWARDEN_REVIEWERS) or --reviewer-set \
                 (DIFFWARDEN_REVIEWER_SET), not both",
            ));
        }
        for spec in &self.reviewers {
            ReviewerSpec::parse(spec)?;
        }
        Ok(())
    }
}

impl Overrides {
    /// Reads flags and variables.
    ///
    /// # Errors
    ///
    /// Fails with `invalid_cli` or `invalid_effort`, naming the flag or variable and its value.
    pub fn parse(flags: &SelectionFlags, environment: &Environment) -> Result<Self, Failure> {
        let requested = Requested {
            reviewers: flags
                .reviewers
                .iter()
                .map(|spec| spec.trim().to_owned())
                .collect(),
            set: not_blank("--reviewer-set", flags.reviewer_set.as_deref())?,
        };
        requested.check()?;
        Ok(Self {
            requested,
            effort: chosen(
                ("--effort", flags.effort.as_deref()),
                ("DIFFWARDEN_EFFORT", environment),
                parse_effort,
            )?,
            timeout: chosen(
                ("--timeout", flags.timeout.as_deref()),
                ("DIFFWARDEN_TIMEOUT_SECONDS", environment),
                parse_timeout,
            )?
            .map(|timeout| timeout.value),
            model: chosen(
                ("--model", flags.model.as_deref()),
                ("DIFFWARDEN_MODEL", environment),
                parse_model,
            )?,
            fallback_model: chosen(
                ("--fallback-model", flags.fallback_model.as_deref()),
                ("DIFFWARDEN_FALLBACK_MODEL", environment),
                parse_model,
            )?,
            environment: Requested {
                reviewers: reviewers_of_environment(environment)?,
                set: variable("DIFFWARDEN_REVIEWER_SET", environment)?.map(str::to_owned),
            },
        })
    }
}

/// Reads a flag, else its variable.
fn chosen<T>(
    (flag, typed): (&str, Option<&str>),
    (name, environment): (&str, &Environment),
    parse: fn(&str, &str) -> Result<T, Failure>,
) -> Result<Option<Chosen<T>>, Failure> {
    let (source, text, origin) = match not_blank(flag, typed)? {
        Some(text) => (flag, text, Origin::Flag),
        None => match variable(name, environment)? {
            Some(text) => (name, text.to_owned(), Origin::Environment),
            None => return Ok(None),
        },
    };
    parse(source, &text).map(|value| Some(Chosen { value, origin }))
}

fn not_blank(flag: &str, typed: Option<&str>) -> Result<Option<String>, Failure> {
    match typed.map(str::trim) {
        Some("") => Err(invalid(format!("the value of {flag} must not be blank"))),
        Some(text) => Ok(Some(text.to_owned())),
        None => Ok(None),
    }
}

/// Reads a variable; unset and blank are the same.
fn variable<'a>(name: &str, environment: &'a Environment) -> Result<Option<&'a str>, Failure> {
    let readable = environment
        .raw(name)
        .is_none_or(|raw| raw.to_str().is_some());
    if !readable {
        return Err(invalid(format!("the value of {name} is not UTF-8")));
    }
    Ok(environment.text(name))
}

fn reviewers_of_environment(environment: &Environment) -> Result<Vec<String>, Failure> {
    let Some(list) = variable("DIFFWARDEN_REVIEWERS", environment)? else {
        return Ok(Vec::new());
    };
    let reviewers: Vec<String> = list.split(',').map(|item| item.trim().to_owned()).collect();
    if reviewers.iter().any(String::is_empty) {
        return Err(invalid(
            "DIFFWARDEN_REVIEWERS has a blank item; it is a list of reviewers with commas between",
        ));
    }
    Ok(reviewers)
}

fn parse_model(_source: &str, text: &str) -> Result<String, Failure> {
    Ok(text.to_owned())
}

/// Reads an effort that `source` holds.
///
/// # Errors
///
/// [`ErrorCode::InvalidEffort`] for any other word than those of [`Effort::ALL`].
pub fn parse_effort(source: &str, text: &str) -> Result<Effort, Failure> {
    Effort::parse(text).ok_or_else(|| {
        let levels: Vec<&str> = Effort::ALL.iter().map(|effort| effort.as_str()).collect();
        Failure::new(
            ErrorCode::InvalidEffort,
            format!(
                "invalid {source} value `{text}`: an effort is one of {}",
                levels.join(", ")
            ),
        )
    })
}

/// Reads a number of seconds that `source` holds. Huge budgets are cut to what clocks can hold.
///
/// # Errors
///
/// [`ErrorCode::InvalidCli`] unless the number is finite and above zero.
pub fn parse_timeout(source: &str, text: &str) -> Result<Duration, Failure> {
    text.parse()
        .ok()
        .and_then(timeout_of_seconds)
        .ok_or_else(|| {
            invalid(format!(
                "invalid {source} value `{text}`: a timeout is a number of seconds above 0"
            ))
        })
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::InvalidCli, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(flags: &SelectionFlags, variables: &[(&str, &str)]) -> Result<Overrides, Failure> {
        Overrides::parse(flags, &variables.iter().copied().collect())
    }

    fn timeout(text: &str) -> Result<Option<Duration>, Failure> {
        let flags = SelectionFlags {
            timeout: Some(text.to_owned()),
            ..SelectionFlags::default()
        };
        parse(&flags, &[]).map(|overrides| overrides.timeout)
    }

    #[test]
    fn timeouts_are_numbers_above_zero() {
        for (text, milliseconds) in [
            ("300", 300_000),
            ("0.5", 500),
            (" 2 ", 2_000),
            ("1e3", 1_000_000),
            ("1e-300", 1),
            ("3000000", 3_000_000_000),
        ] {
            let expected = Duration::from_millis(milliseconds);
            assert_eq!(timeout(text), Ok(Some(expected)), "{text}");
        }
        for text in ["1e30", "1e300", "4294967296", "18446744073709551616"] {
            let longest = Duration::from_secs(u64::from(u32::MAX));
            assert_eq!(timeout(text), Ok(Some(longest)), "{text}");
        }
        for text in [
            "0", "-0", "0.0", "-1", "nan", "NaN", "inf", "-inf", "infinity", "1e999", "soon", "",
            " ", "5s", "1,5", "1_000",
        ] {
            let failure = timeout(text).unwrap_err();
            assert_eq!(failure.code, ErrorCode::InvalidCli, "{text}");
            assert!(failure.message.contains("--timeout"), "{failure}");
        }
    }

    #[test]
    fn flags_beat_variables_and_say_so() {
        let flags = SelectionFlags {
            model: Some("typed".to_owned()),
            effort: Some("low".to_owned()),
            ..SelectionFlags::default()
        };
        let variables = [
            ("DIFFWARDEN_MODEL", "exported"),
            ("DIFFWARDEN_EFFORT", "nonsense"),
            ("DIFFWARDEN_FALLBACK_MODEL", " opus "),
        ];
        let overrides = parse(&flags, &variables).unwrap();
        let chosen = |value: &str, origin| {
            Some(Chosen {
                value: value.to_owned(),
                origin,
            })
        };
        assert_eq!(overrides.model, chosen("typed", Origin::Flag));
        assert_eq!(overrides.effort.unwrap().value, Effort::Low);
        assert_eq!(
            overrides.fallback_model,
            chosen("opus", Origin::Environment)
        );
    }

    #[test]
    fn wrong_values_are_named_with_their_source() {
        let flag = |effort: &str| SelectionFlags {
            effort: Some(effort.to_owned()),
            ..SelectionFlags::default()
        };
        let failure = parse(&flag("huge"), &[]).unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidEffort);
        assert!(failure.message.contains("--effort") && failure.message.contains("huge"));

        for (name, value, code) in [
            ("DIFFWARDEN_EFFORT", "High", ErrorCode::InvalidEffort),
            ("DIFFWARDEN_TIMEOUT_SECONDS", "soon", ErrorCode::InvalidCli),
            ("DIFFWARDEN_REVIEWERS", "a,,b", ErrorCode::InvalidCli),
            ("DIFFWARDEN_REVIEWERS", ",", ErrorCode::InvalidCli),
        ] {
            let failure = parse(&SelectionFlags::default(), &[(name, value)]).unwrap_err();
            assert_eq!(failure.code, code, "{name}");
            assert!(failure.message.contains(name), "{failure}");
        }
    }

    #[test]
    fn blank_variables_are_unset() {
        let variables = [
            ("DIFFWARDEN_REVIEWERS", " "),
            ("DIFFWARDEN_REVIEWER_SET", ""),
            ("DIFFWARDEN_MODEL", "\t"),
            ("DIFFWARDEN_TIMEOUT_SECONDS", ""),
        ];
        assert_eq!(
            parse(&SelectionFlags::default(), &variables),
            Ok(Overrides::default())
        );
    }

    #[test]
    fn reviewers_and_a_set_exclude_each_other() {
        let flags = SelectionFlags {
            reviewers: vec!["fake".to_owned()],
            reviewer_set: Some("1".to_owned()),
            ..SelectionFlags::default()
        };
        let failure = parse(&flags, &[]).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains("--reviewer-set"));
    }

    #[cfg(unix)]
    #[test]
    fn a_variable_that_is_not_text_is_refused() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        let pair = (OsStr::new("DIFFWARDEN_MODEL"), OsStr::from_bytes(b"m\xff"));
        let environment: Environment = [pair].into_iter().collect();
        let failure = Overrides::parse(&SelectionFlags::default(), &environment).unwrap_err();
        assert!(failure.message.contains("DIFFWARDEN_MODEL"));
    }
}
