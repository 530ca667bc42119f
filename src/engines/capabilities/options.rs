//! The keys of the option bags that mean something to an engine.

/// Which object of a reviewer's config entry a key lives in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OptionBag {
    /// `cliOptions`.
    Cli,
    /// `appServerOptions`.
    AppServer,
    /// `sdkOptions`.
    Sdk,
    /// `providerOptions`.
    Provider,
}

impl OptionBag {
    /// Every bag, in the order in which entries list them.
    pub const ALL: [Self; 4] = [Self::Cli, Self::AppServer, Self::Sdk, Self::Provider];

    /// Returns the key of the bag in a config entry.
    pub fn key(self) -> &'static str {
        match self {
            Self::Cli => "cliOptions",
            Self::AppServer => "appServerOptions",
            Self::Sdk => "sdkOptions",
            Self::Provider => "providerOptions",
        }
    }
}

/// One key of an option bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionKey {
    /// The bag it lives in.
    pub bag: OptionBag,
    /// The key.
    pub name: &'static str,
    /// What values it takes.
    pub kind: OptionKind,
    /// Whether a config inside the reviewed repository may set it.
    pub project: ProjectUse,
}

/// What values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// Any text that is not blank.
    Text,
    /// The name of an environment variable.
    Variable,
    /// A number above zero.
    Positive,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// What a config inside the reviewed repository may do with an option. Such a config is part of
/// what is reviewed, so whatever runs a program, opens a path, a network or a login is not its to
/// choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectUse {
    /// Nothing.
    Refused,
    /// Set it to any value.
    Allowed,
    /// Set it to one of these.
    Only(&'static [&'static str]),
}

const fn key(
    bag: OptionBag,
    name: &'static str,
    kind: OptionKind,
    project: ProjectUse,
) -> OptionKey {
    OptionKey {
        bag,
        name,
        kind,
        project,
    }
}

const EXECUTABLE: OptionKey = key(
    OptionBag::Cli,
    "executable",
    OptionKind::Text,
    ProjectUse::Refused,
);
const API_KEY_VARIABLE: OptionKey = key(
    OptionBag::Provider,
    "apiKeyEnv",
    OptionKind::Variable,
    ProjectUse::Refused,
);
const BASE_URL_VARIABLE: OptionKey = key(
    OptionBag::Provider,
    "baseUrlEnv",
    OptionKind::Variable,
    ProjectUse::Refused,
);

/// Web search sends words of the change to a search engine, so a repository cannot turn it on.
const WEB_SEARCH: OptionKind = OptionKind::Choice(&["enabled", "disabled", "inherit"]);
const NO_WEB_SEARCH: ProjectUse = ProjectUse::Only(&["disabled"]);

pub(super) const COMMON: &[OptionKey] = &[EXECUTABLE];

pub(super) const CODEX_CLI: &[OptionKey] = &[
    EXECUTABLE,
    key(OptionBag::Cli, "webSearch", WEB_SEARCH, NO_WEB_SEARCH),
];

pub(super) const CODEX_APP_SERVER: &[OptionKey] = &[
    EXECUTABLE,
    key(
        OptionBag::AppServer,
        "mode",
        OptionKind::Choice(&["auto", "attach", "launch", "stdio-isolated"]),
        ProjectUse::Refused,
    ),
    key(
        OptionBag::AppServer,
        "codexHome",
        OptionKind::Text,
        ProjectUse::Refused,
    ),
    key(OptionBag::AppServer, "webSearch", WEB_SEARCH, NO_WEB_SEARCH),
    key(
        OptionBag::AppServer,
        "reviewMode",
        OptionKind::Choice(&["structured", "native"]),
        ProjectUse::Allowed,
    ),
];

pub(super) const CLAUDE: &[OptionKey] = &[
    EXECUTABLE,
    key(
        OptionBag::Sdk,
        "authMode",
        OptionKind::Choice(&["auto", "api-key", "claude-code"]),
        ProjectUse::Refused,
    ),
];

pub(super) const PI: &[OptionKey] = &[
    EXECUTABLE,
    API_KEY_VARIABLE,
    BASE_URL_VARIABLE,
    key(
        OptionBag::Sdk,
        "authSource",
        OptionKind::Choice(&["isolated", "shared"]),
        ProjectUse::Refused,
    ),
    key(
        OptionBag::Sdk,
        "authPath",
        OptionKind::Text,
        ProjectUse::Refused,
    ),
    key(
        OptionBag::Sdk,
        "providerProfile",
        OptionKind::Text,
        ProjectUse::Allowed,
    ),
];

pub(super) const OPENCODE: &[OptionKey] = &[
    EXECUTABLE,
    // The name of an agent of the user's own, with whatever rights that agent has.
    key(
        OptionBag::Cli,
        "agent",
        OptionKind::Text,
        ProjectUse::Refused,
    ),
];

pub(super) const ANTIGRAVITY: &[OptionKey] = &[
    EXECUTABLE,
    key(
        OptionBag::Cli,
        "printTimeoutSeconds",
        OptionKind::Positive,
        ProjectUse::Allowed,
    ),
];
