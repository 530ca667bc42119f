//! Discovery of machines that exist in memory alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use diffwarden_actors::engine::PreflightPass;
use diffwarden_actors::model::{EngineName, ErrorCode, Failure, Transport};
use proptest::prelude::*;

use super::*;
use crate::engines::capabilities::{self, Capability};
use crate::engines::executable::NotFound;
use crate::engines::settings::ReviewerSettings;

/// A machine with these executables, variables, credential files and packages.
#[derive(Debug, Clone, Default)]
struct Memory {
    executables: BTreeSet<&'static str>,
    variables: BTreeMap<&'static str, &'static str>,
    credentials: BTreeMap<PathBuf, Credential>,
    packages: BTreeSet<&'static str>,
}

impl Memory {
    fn with_everything() -> Self {
        Self {
            executables: capabilities::rows()
                .iter()
                .flat_map(|row| row.executables)
                .copied()
                .collect(),
            packages: ["@cursor/sdk"].into(),
            ..Self::default()
        }
    }

    fn with_login(mut self, path: &str, credential: Credential) -> Self {
        self.credentials.insert(path.into(), credential);
        self
    }
}

impl View for Memory {
    fn executable(&self, name: &str) -> Result<PathBuf, NotFound> {
        if self.executables.contains(name) {
            return Ok(Path::new("/bin").join(name));
        }
        Err(NotFound::OnPath {
            name: name.to_owned(),
            searched: vec!["/bin".into()],
            passed_over: Vec::new(),
        })
    }

    fn has_variable(&self, name: &str) -> bool {
        self.variables.contains_key(name)
    }

    fn folder_of_variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).map(PathBuf::from)
    }

    fn home(&self) -> Option<PathBuf> {
        Some("/home/me".into())
    }

    fn credential(&self, path: &Path) -> Credential {
        self.credentials
            .get(path)
            .copied()
            .unwrap_or(Credential::Absent)
    }

    fn package(&self, name: &str, node: Option<&Path>) -> Option<PathBuf> {
        node?;
        self.packages
            .contains(name)
            .then(|| Path::new("/lib").join(name))
    }
}

fn row(engine: EngineName, transport: Transport) -> &'static Capability {
    capabilities::find(engine, Some(transport)).unwrap()
}

fn candidate(discovery: &Discovery, engine: EngineName, transport: ConfigTransport) -> &Candidate {
    let mut candidates = discovery.candidates.iter();
    candidates
        .find(|it| it.engine == engine && it.transport == transport)
        .unwrap()
}

fn login(row: &Capability, settings: LoginSettings, view: &Memory) -> AuthState {
    look_for_login(row, settings, view).state
}

#[test]
fn a_login_is_a_variable_a_file_or_the_engines_own_business() {
    let codex = row(EngineName::Codex, Transport::Cli);
    let droid = row(EngineName::Droid, Transport::Cli);
    let usual = Memory::default().with_login("/home/me/.codex/auth.json", Credential::Present);
    let mut moved = usual.clone();
    moved.variables.insert("CODEX_HOME", "/cx");
    let mut key = Memory::default();
    key.variables.insert("CODEX_API_KEY", "k");
    let empty = Memory::default().with_login("/home/me/.codex/auth.json", Credential::Empty);
    for (view, expected) in [
        (&Memory::default(), AuthState::Missing),
        (&usual, AuthState::Verified),
        (&moved, AuthState::Missing),
        (
            &moved
                .clone()
                .with_login("/cx/auth.json", Credential::Present),
            AuthState::Verified,
        ),
        (&key, AuthState::Verified),
        (&empty, AuthState::Missing),
    ] {
        assert_eq!(login(codex, LoginSettings::Any, view), expected, "{view:?}");
    }
    let app_server = row(EngineName::Codex, Transport::AppServer);
    assert_eq!(
        login(app_server, LoginSettings::Any, &key),
        AuthState::Missing
    );
    let found = look_for_login(droid, LoginSettings::Any, &Memory::default());
    assert_eq!(
        (found.state, found.wants_variable),
        (AuthState::Unverified, true)
    );
    let surface = capabilities::default_row(EngineName::Surface);
    assert_eq!(
        login(surface, LoginSettings::Any, &key),
        AuthState::NotRequired
    );
}

#[test]
fn an_auth_mode_narrows_what_counts() {
    let claude = row(EngineName::Claude, Transport::Cli);
    let stored =
        Memory::default().with_login("/home/me/.claude/.credentials.json", Credential::Present);
    let mut key = Memory::default();
    key.variables.insert("ANTHROPIC_API_KEY", "k");
    for (view, mode, expected) in [
        (&stored, LoginSettings::Any, AuthState::Verified),
        (&stored, LoginSettings::OwnOnly, AuthState::Verified),
        (&stored, LoginSettings::VariablesOnly, AuthState::Missing),
        (&key, LoginSettings::VariablesOnly, AuthState::Verified),
        (&key, LoginSettings::OwnOnly, AuthState::Unverified),
    ] {
        assert_eq!(login(claude, mode, view), expected, "{mode:?} {view:?}");
    }
}

#[test]
fn what_this_version_cannot_use_is_never_recommended() {
    let discovery = discover("/work".to_owned(), &Memory::with_everything());
    for candidate in &discovery.candidates {
        if candidate.built || candidate.status == CandidateStatus::MissingExecutable {
            continue;
        }
        assert_eq!(
            candidate.status,
            CandidateStatus::UnsupportedHost,
            "{candidate:?}"
        );
        assert_eq!(candidate.recommended, None);
    }
    let recommended = recommended_reviewers(&discovery);
    assert!(recommended.iter().all(|entry| {
        let rows = capabilities::of_engine(entry.engine);
        rows.filter(|row| row.built).any(|row| {
            let transport = entry.transport.or(Some(ConfigTransport::of(
                capabilities::default_transport(entry.engine).unwrap(),
            )));
            row.transport.map(ConfigTransport::of) == transport
        })
    }));
}

#[test]
fn a_fresh_config_gets_one_reviewer_for_each_usable_engine() {
    let mut view = Memory::with_everything();
    assert_eq!(
        recommended_reviewers(&discover(String::new(), &Memory::default())),
        []
    );
    let ids = |view: &Memory| -> Vec<String> {
        let entries = recommended_reviewers(&discover(String::new(), view));
        entries.into_iter().map(|entry| entry.id).collect()
    };
    let without_codex = ids(&view);
    assert!(
        !without_codex.iter().any(|id| id.starts_with("codex")),
        "{without_codex:?}"
    );
    view.variables.insert("CODEX_API_KEY", "k");
    let with_codex = ids(&view);
    assert!(with_codex.contains(&"codex".to_owned()), "{with_codex:?}");
    assert!(
        with_codex.iter().any(|id| id == "opencode"),
        "{with_codex:?}"
    );
    assert!(with_codex.is_sorted());
    let claudes = with_codex.iter().filter(|id| id.starts_with("claude"));
    assert_eq!(claudes.count(), 1);
}

#[test]
fn cursor_over_sdk_needs_node_and_its_package() {
    let mut view = Memory::with_everything();
    let sdk = |view: &Memory| {
        let discovery = discover(String::new(), view);
        candidate(&discovery, EngineName::Cursor, ConfigTransport::Sdk).clone()
    };
    let there = sdk(&view);
    assert!(there.sdk_package.is_some_and(|it| it.resolved));
    assert_eq!(there.executable, None);
    assert_ne!(there.status, CandidateStatus::MissingExecutable);
    view.packages.clear();
    let without_package = sdk(&view);
    assert_eq!(without_package.status, CandidateStatus::MissingExecutable);
    assert!(
        without_package.detail.contains("@cursor/sdk"),
        "{without_package:?}"
    );
    view.executables.remove("node");
    let without_node = sdk(&view);
    assert!(without_node.detail.contains("node"), "{without_node:?}");
}

fn examined(code: ErrorCode) -> Candidate {
    let mut view = Memory::with_everything();
    view.variables.insert("CODEX_API_KEY", "k");
    let shallow = discover(String::new(), &view);
    let failure = Failure::new(code, "it failed").hint("do this");
    let settings = ReviewerSettings::defaults(row(EngineName::Codex, Transport::Cli));
    let deep = with_preflights(shallow, &[(settings, Err(failure))]);
    candidate(&deep, EngineName::Codex, ConfigTransport::Cli).clone()
}

#[test]
fn a_failed_preflight_is_told_by_its_kind() {
    for (code, status, auth) in [
        (
            ErrorCode::MissingAuth,
            CandidateStatus::MissingAuth,
            AuthState::Missing,
        ),
        (
            ErrorCode::MissingRequirement,
            CandidateStatus::MissingExecutable,
            AuthState::Missing,
        ),
        (
            ErrorCode::ReviewerEnvironmentFailed,
            CandidateStatus::UnsupportedHost,
            AuthState::Unverified,
        ),
        (
            ErrorCode::Timeout,
            CandidateStatus::PreflightFailed,
            AuthState::Unverified,
        ),
        (
            ErrorCode::InvalidModel,
            CandidateStatus::PreflightFailed,
            AuthState::Unverified,
        ),
    ] {
        let candidate = examined(code);
        assert_eq!(
            (candidate.status, candidate.auth_state),
            (status, auth),
            "{code:?}"
        );
        assert_eq!(candidate.detail, "it failed");
        assert_eq!(candidate.fix, ["do this"]);
        assert_eq!(candidate.recommended, None);
    }
}

#[test]
fn a_passed_preflight_does_not_make_up_a_login() {
    let shallow = discover(String::new(), &Memory::with_everything());
    let settings = settings_to_examine(&shallow);
    assert!(settings.iter().any(|it| it.engine == EngineName::Codex));
    let examined: Vec<_> = settings
        .into_iter()
        .map(|it| (it, Ok(PreflightPass::default())))
        .collect();
    let deep = with_preflights(shallow, &examined);
    assert!(deep.deep);
    let codex = candidate(&deep, EngineName::Codex, ConfigTransport::Cli);
    assert_eq!(codex.status, CandidateStatus::MissingAuth);
    let opencode = candidate(&deep, EngineName::Opencode, ConfigTransport::Cli);
    assert_eq!(opencode.status, CandidateStatus::Available);
    assert_eq!(opencode.auth_state, AuthState::Unverified);
    assert!(opencode.recommended.is_some());
}

#[test]
fn nobody_is_asked_who_is_not_there() {
    let nobody = discover(String::new(), &Memory::default());
    assert_eq!(settings_to_examine(&nobody), []);
}

fn machine() -> impl Strategy<Value = Memory> {
    let names = |names: Vec<&'static str>| {
        let most = names.len();
        proptest::sample::subsequence(names, 0..=most)
    };
    let all = Memory::with_everything().executables.into_iter().collect();
    let variables: BTreeSet<_> = capabilities::rows()
        .iter()
        .flat_map(|row| row.auth.variables)
        .copied()
        .collect();
    (names(all), names(variables.into_iter().collect())).prop_map(|(executables, variables)| {
        Memory {
            executables: executables.into_iter().collect(),
            variables: variables.into_iter().map(|name| (name, "S3CRET")).collect(),
            ..Memory::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_path_is_in_one_group_and_no_value_is_told(view in machine()) {
        let discovery = discover("/work".to_owned(), &view);
        let text = serde_json::to_string(&discovery).unwrap();
        prop_assert!(!text.contains("S3CRET"));
        let summary = &discovery.summary;
        let groups = [&summary.available, &summary.needs_attention, &summary.missing];
        let told: Vec<&String> = groups.into_iter().flatten().collect();
        let listed: Vec<String> = discovery.candidates.iter().map(Candidate::label).collect();
        prop_assert_eq!(told, listed.iter().collect::<Vec<_>>());
        let paths = capabilities::rows().iter().filter(|row| row.transport.is_some());
        prop_assert_eq!(listed.len(), paths.count());
        for candidate in &discovery.candidates {
            let is_available = candidate.status == CandidateStatus::Available;
            prop_assert_eq!(candidate.recommended.is_some(), is_available);
            prop_assert!(!candidate.detail.is_empty());
        }
    }
}
