//! What is known of a change before anybody reviews it: its integrity findings and its secrets.

use std::path::Path;
use std::sync::Arc;

use diffwarden_actors::engine::CancelToken;
use diffwarden_actors::model::{Degraded, DegradedTopic, EngineName, ErrorCode, Failure, Finding};

use crate::config::LoadedConfig;
use crate::engines::settings::ReviewerSettings;
use crate::env::Environment;
use crate::git::{Repository, Resolved};
use crate::intake::mask::{self, MaskInput, Masking};
use crate::intake::scan::{self, Allowlist, ScanInput};

/// What the scans of a change came to.
pub(super) struct Scanned {
    /// What no model may talk away; empty when `surface` is there to report it.
    pub(super) integrity: Vec<Finding>,
    /// The secrets of the change.
    pub(super) masking: Masking,
    /// Which credentials the repository allowed before the change.
    pub(super) allow: Arc<Allowlist>,
    /// What people should know of that list.
    pub(super) degraded: Option<Degraded>,
}

impl Scanned {
    /// Scans a change.
    pub(super) fn of(
        repository: &Repository,
        resolved: &Resolved,
        selected: &[ReviewerSettings],
        own: Allowlist,
    ) -> Self {
        let (mut allow, degraded) = read_allowlist(repository, resolved);
        allow.extend(own);
        Self {
            integrity: scan_unless_surface_does(selected, resolved, &allow),
            masking: mask::mask(&MaskInput {
                patch: &resolved.patch,
                commit_messages: &resolved.commit_messages,
                branch: resolved.branch.as_deref(),
                allow: &allow,
            }),
            allow: Arc::new(allow),
            degraded,
        }
    }
}

/// Reads the allowlist that the user's own config names.
///
/// # Errors
///
/// `invalid_config` when the file cannot be read: with another list than the user meant, the result
/// would be another one, too.
pub(super) fn own_allowlist(
    config: Option<&LoadedConfig>,
    env: &Environment,
) -> Result<Allowlist, Failure> {
    let named = config.and_then(|loaded| loaded.config.intake.allowlist.as_ref());
    let Some(path) = named else {
        return Ok(Allowlist::default());
    };
    let wrong = |why: String| {
        let message = format!("intake.allowlist: {}: {why}", path.display());
        Failure::new(ErrorCode::InvalidConfig, message)
            .hint("name a file in the format of gitleaks, or take the key out")
    };
    let place = match path.strip_prefix("~") {
        Ok(below) => {
            let home = env
                .home()
                .ok_or_else(|| wrong("there is no home folder".to_owned()))?;
            home.join(below)
        }
        Err(_) => path.clone(),
    };
    let text = std::fs::read_to_string(place).map_err(|error| wrong(error.to_string()))?;
    let list = Allowlist::parse(&text);
    list.ok_or_else(|| wrong("it is no TOML, or a pattern in it is wrong".to_owned()))
}

/// The file in which a repository says which credentials are none.
const ALLOWLIST: &str = ".gitleaks.toml";

/// Reads the repository's allowlist from the side before the change, which the change cannot write.
/// One that cannot be read allows nothing and is warned of.
fn read_allowlist(repository: &Repository, resolved: &Resolved) -> (Allowlist, Option<Degraded>) {
    let Some(bytes) = repository.before(resolved).read(&ALLOWLIST.into()) else {
        return (Allowlist::default(), None);
    };
    let list = std::str::from_utf8(&bytes).ok().and_then(Allowlist::parse);
    match list {
        Some(list) => (list, None),
        None => {
            let warning = format!(
                "the allowlists of {ALLOWLIST} before the change cannot be read, so every \
                 credential is reported; check its TOML and its patterns"
            );
            let entry = Degraded::actionable(DegradedTopic::Scans, warning);
            (Allowlist::default(), Some(entry))
        }
    }
}

/// Scans the change for what no model may talk away, unless `surface` is there to report it. An
/// empty change has no findings, whoever reviews: nothing of it can be acted on.
fn scan_unless_surface_does(
    selected: &[ReviewerSettings],
    resolved: &Resolved,
    allow: &Allowlist,
) -> Vec<Finding> {
    let surface_runs = selected
        .iter()
        .any(|settings| settings.engine == EngineName::Surface);
    if surface_runs || !resolved.target.is_diff_backed() || resolved.patch.is_empty() {
        return Vec::new();
    }
    scan::scan(
        &ScanInput {
            patch: &resolved.patch,
            repo_root: Path::new(&resolved.target.repo_root),
            commit_messages: &resolved.commit_messages,
            branch: resolved.branch.as_deref(),
            allow,
        },
        &CancelToken::default(),
    )
}
