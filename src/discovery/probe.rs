//! Shallow discovery: one candidate for every row of the capability matrix that is reached through
//! something of the machine's.

use std::path::PathBuf;

use crate::engines::capabilities::{self, Capability, Setup};
use crate::engines::executable::NotFound;

use super::auth::{self, Login, LoginSettings, look_for_login};
use super::model::{
    AuthState, Candidate, CandidateStatus, ConfigTransport, Discovery, ProbedExecutable,
    ProbedPackage,
};
use super::recommend;
use super::view::View;

/// What is said of something whose login cannot be seen; a preflight says more.
pub(super) const INSTALLED: &str = "Installed. ";

/// Looks at everything the matrix knows. Nothing is run, and nothing is written.
pub fn discover(cwd: String, view: &dyn View) -> Discovery {
    let rows = capabilities::rows().iter();
    let candidates = rows.filter_map(|row| candidate(row, view)).collect();
    Discovery::new(cwd, false, candidates)
}

/// Returns the candidate of a row; nothing for reviewers inside diffwarden.
fn candidate(row: &Capability, view: &dyn View) -> Option<Candidate> {
    let (transport, setup) = (row.transport?, row.setup()?);
    let presence = Presence::of(row, setup, view);
    let verdict = match &presence.missing {
        Some(missing) => Verdict {
            status: CandidateStatus::MissingExecutable,
            auth: AuthState::Missing,
            detail: missing.clone(),
            fix: install(row, setup),
        },
        None => present(row, look_for_login(row, LoginSettings::Any, view)),
    };
    let is_available = verdict.status == CandidateStatus::Available;
    Some(Candidate {
        engine: row.engine,
        transport: ConfigTransport::of(transport),
        status: verdict.status,
        auth_state: verdict.auth,
        detail: verdict.detail,
        fix: verdict.fix,
        built: row.built,
        executable: presence.executable,
        sdk_package: presence.package,
        version: None,
        recommended: is_available.then(|| recommend::entry(row)).flatten(),
        auth_signals: auth::signals(row),
        docs: setup.docs,
    })
}

struct Verdict {
    status: CandidateStatus,
    auth: AuthState,
    detail: String,
    fix: Vec<String>,
}

/// Classifies what is there. A path that this version does not have is usable by nobody, however
/// well it is set up.
fn present(row: &Capability, login: Login) -> Verdict {
    if !row.built {
        return Verdict {
            status: CandidateStatus::UnsupportedHost,
            auth: login.state,
            detail: format!(
                "Found, but this version of diffwarden cannot use {} yet.",
                row.label()
            ),
            fix: Vec::new(),
        };
    }
    let status = match login.state {
        AuthState::Verified | AuthState::NotRequired => CandidateStatus::Available,
        AuthState::Unverified if login.wants_variable => CandidateStatus::RequiresEnv,
        AuthState::Unverified => CandidateStatus::Available,
        AuthState::Missing => CandidateStatus::MissingAuth,
    };
    let is_available = status == CandidateStatus::Available;
    let detail = match login.state {
        AuthState::Unverified => format!("{INSTALLED}{}", login.detail),
        _ => login.detail,
    };
    Verdict {
        status,
        auth: login.state,
        detail,
        fix: login.fix.filter(|_| !is_available).into_iter().collect(),
    }
}

/// Says how to install a path. Nobody is sent to install what cannot be used.
fn install(row: &Capability, setup: &Setup) -> Vec<String> {
    if !row.built {
        return Vec::new();
    }
    match setup.install {
        Some(command) => vec![format!("install it with `{command}`")],
        None => vec![format!("see {}", setup.docs)],
    }
}

/// Whether the parts of a path are there.
struct Presence {
    executable: Option<ProbedExecutable>,
    package: Option<ProbedPackage>,
    /// What is missing, in a sentence.
    missing: Option<String>,
}

impl Presence {
    fn of(row: &Capability, setup: &Setup, view: &dyn View) -> Self {
        let found = find(row, view);
        let missing = match &found {
            Some(Err(not_found)) => Some(explain(not_found)),
            // Any program may speak the protocol, so there is none to look for.
            None => Some("Its executable is whatever a config names.".to_owned()),
            Some(Ok(_)) => None,
        };
        let Some(name) = setup.package else {
            return Self {
                executable: found.map(|found| probed(row, found.ok())),
                package: None,
                missing,
            };
        };
        let node = found.and_then(Result::ok).map(|(_, path)| path);
        let path = view.package(name, node.as_deref());
        let missing = missing.or_else(|| {
            path.is_none()
                .then(|| format!("The package {name} is not installed."))
        });
        Self {
            executable: None,
            missing,
            package: Some(ProbedPackage {
                name: name.to_owned(),
                resolved: path.is_some(),
                path: path.map(|path| path.to_string_lossy().into_owned()),
            }),
        }
    }
}

type Found = Result<(&'static str, PathBuf), NotFound>;

/// Looks for each name an executable has. `None` where it has none; the error is that of the first.
fn find(row: &Capability, view: &dyn View) -> Option<Found> {
    let mut first_error = None;
    for &name in row.executables {
        match view.executable(name) {
            Ok(path) => return Some(Ok((name, path))),
            Err(not_found) => {
                first_error.get_or_insert(not_found);
            }
        }
    }
    first_error.map(Err)
}

fn probed(row: &Capability, found: Option<(&str, PathBuf)>) -> ProbedExecutable {
    let name = found.as_ref().map(|(name, _)| *name);
    let name = name.or(row.default_executable()).unwrap_or_default();
    ProbedExecutable {
        name: name.to_owned(),
        resolved: found.is_some(),
        path: found.map(|(_, path)| path.to_string_lossy().into_owned()),
    }
}

/// Says what is missing. The folders of `PATH` are nobody's business here; what was passed over in
/// them is.
fn explain(not_found: &NotFound) -> String {
    let NotFound::OnPath {
        name, passed_over, ..
    } = not_found
    else {
        return format!("{not_found}.");
    };
    match passed_over.first() {
        None => format!("The executable {name} is not on PATH."),
        Some((path, why)) => format!(
            "The executable {name} is not on PATH; {} was passed over: {why}.",
            path.display()
        ),
    }
}
