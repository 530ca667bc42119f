//! What every engine can do over every transport, as data.
//!
//! One row per (engine, transport) of SPEC 11, plus GitHub Copilot, agents that speak the Agent
//! Client Protocol, and the two reviewers inside diffwarden. Rows state measured facts of the
//! engines' executables, not wishes. Configuration is checked against the rows before anything
//! runs, and the adapters read their limits from them, so a fact is written down once.

mod options;
mod rows;
mod signals;

use diffwarden_actors::model::{EngineName, ReadonlyLevel, Transport};
use diffwarden_actors::prompt::PromptShape;

pub use options::{OptionBag, OptionKey, OptionKind, ProjectUse};
pub use signals::Setup;

use super::settings::Effort;

/// What one engine can do over one transport.
#[derive(Debug, Clone, Copy)]
pub struct Capability {
    /// The engine.
    pub engine: EngineName,
    /// How it is reached; `None` for reviewers inside diffwarden.
    pub transport: Option<Transport>,
    /// Whether this version of diffwarden has the path. The other facts hold in any case, so a
    /// config for a later version can be written and checked today.
    pub built: bool,
    /// The names the executable is looked for under; the first is the default. Empty where none
    /// is needed or where the config must name it.
    pub executables: &'static [&'static str],
    /// The lowest version that is known to keep the read-only policy.
    pub minimum_version: Option<&'static str>,
    /// The version that the facts of this row were measured with; `None` where nothing was.
    pub measured_version: Option<&'static str>,
    /// The model that is asked for when nobody chose one; `None` leaves it to the engine.
    pub default_model: Option<&'static str>,
    /// How a model is named to the engine: an option of its command line, or a field of its
    /// protocol. `None` where none can be chosen per run.
    pub model_flag: Option<&'static str>,
    /// How an effort reaches the engine.
    pub effort: EffortSupport,
    /// The effort that is asked for when nobody chose one (SPEC 5.3).
    pub default_effort: Option<Effort>,
    /// Whether `fallbackModel` works (SPEC 5.4).
    pub supports_fallback_model: bool,
    /// Whether `maxTurns` works (SPEC 5.4).
    pub supports_max_turns: bool,
    /// Whether `maxBudgetUsd` works (SPEC 5.4). Claude compares it after each response, so the
    /// last response can overshoot it.
    pub supports_max_budget_usd: bool,
    /// Whether the prompt is split into a system and a user part (SPEC 8.1).
    pub supports_system_prompt: bool,
    /// The tools that the system part tells the model about.
    pub system_prompt_tools: &'static [&'static str],
    /// How the answer is held to the result schema.
    pub schema: SchemaKind,
    /// The longest prompt the path takes; `None` where no limit was met with prompts of 2 MB.
    pub max_prompt: Option<PromptLimit>,
    /// How far the engine is kept from writing (SPEC 16); `None` inside diffwarden. A run may
    /// report a stronger level when it has evidence.
    pub readonly: Option<ReadonlyLevel>,
    /// What speaks for that level (SPEC 16): an observation, as a sentence without its full stop.
    pub readonly_evidence: &'static str,
    /// Files of the reviewed repository that would reach the model as instructions, under the
    /// flags diffwarden passes. A name counts at any depth; a trailing slash means a folder.
    pub instruction_files: &'static [&'static str],
    /// Where credentials show.
    pub auth: AuthSignals,
    /// The keys of the option bags that mean something here.
    pub options: &'static [OptionKey],
}

impl Capability {
    /// Returns the executable that runs when the config names none.
    pub fn default_executable(&self) -> Option<&'static str> {
        self.executables.first().copied()
    }

    /// Returns what prompts for this path look like. A limit in bytes is taken as one in
    /// characters, which is the same for ASCII; the adapter counts the bytes before it starts.
    pub fn prompt_shape(&self) -> PromptShape {
        PromptShape {
            system: self.supports_system_prompt,
            tools: self.system_prompt_tools,
            max_chars: self.max_prompt.map(|limit| match limit {
                PromptLimit::Characters(count) | PromptLimit::Bytes(count) => count,
            }),
            reads_patch: self.engine == EngineName::Surface,
        }
    }

    /// Returns the row as a person would say it, such as "codex over cli".
    pub fn label(&self) -> String {
        match self.transport {
            Some(transport) => format!("{} over {}", self.engine, config_word(transport)),
            None => self.engine.to_string(),
        }
    }
}

/// How an effort reaches an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffortSupport {
    /// It cannot: asking for one is refused with exit 2.
    Unsupported,
    /// It is recorded as ignored (SPEC 5.3, Cursor).
    Ignored,
    /// By a word of the engine's own, one per level of [`Effort::ALL`], in that order.
    Mapped(&'static [NativeEffort; 7]),
}

impl EffortSupport {
    /// Returns what an engine that takes efforts is told for a level.
    pub fn native(self, effort: Effort) -> Option<NativeEffort> {
        match self {
            Self::Unsupported | Self::Ignored => None,
            Self::Mapped(words) => Effort::ALL
                .into_iter()
                .zip(words)
                .find(|(level, _)| *level == effort)
                .map(|(_, word)| *word),
        }
    }
}

/// What an engine is told for one level of effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeEffort {
    /// This word.
    Word(&'static str),
    /// Nothing: the engine's own default holds.
    Omitted,
    /// That thinking is off. Current Claude models ignore it, which the adapter records.
    ThinkingDisabled,
}

/// How an answer is held to the result schema (SPEC 9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaKind {
    /// By the prompt alone; the answer is text.
    Text,
    /// By a tool whose arguments are the result.
    ToolCall,
    /// By the engine, from any JSON Schema.
    Native,
    /// By the engine, from a schema in OpenAI's strict form: no additional properties, and every
    /// property required.
    NativeStrict,
}

/// The longest prompt a path takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptLimit {
    /// Unicode scalar values.
    Characters(usize),
    /// Bytes of UTF-8.
    Bytes(usize),
}

/// Where the credentials of an engine show, without spending tokens.
#[derive(Debug, Clone, Copy)]
pub struct AuthSignals {
    /// Variables that hold a key.
    pub variables: &'static [&'static str],
    /// Files that hold a login.
    pub files: &'static [CredentialFile],
    /// Whether the engine may be logged in where nobody else can look, such as a keychain.
    pub delegated_login: bool,
}

/// A file that holds a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialFile {
    /// The variable that moves its folder.
    pub base_variable: Option<&'static str>,
    /// Its folder when the variable is unset, relative to the home folder.
    pub home_folder: &'static str,
    /// Its path below either folder.
    pub name: &'static str,
}

/// Returns every row, engines in the order of SPEC, an engine's default transport first.
pub fn rows() -> &'static [Capability] {
    rows::ROWS
}

/// Returns the row of an engine over a transport, if that combination exists.
pub fn find(engine: EngineName, transport: Option<Transport>) -> Option<&'static Capability> {
    rows::ROWS
        .iter()
        .find(|row| row.engine == engine && row.transport == transport)
}

/// Returns the rows of one engine, its default transport first.
pub fn of_engine(engine: EngineName) -> impl Iterator<Item = &'static Capability> {
    rows::ROWS.iter().filter(move |row| row.engine == engine)
}

/// Returns the row that a reviewer of this engine gets when its config names no transport.
///
/// # Panics
///
/// Never: a test holds the matrix to one row per engine at least.
pub fn default_row(engine: EngineName) -> &'static Capability {
    of_engine(engine)
        .next()
        .expect("every engine has a row in the matrix")
}

/// Returns the transport that a reviewer of this engine gets when its config names none; `None`
/// for reviewers inside diffwarden.
pub fn default_transport(engine: EngineName) -> Option<Transport> {
    default_row(engine).transport
}

/// Returns the word that config files use for a transport; artifacts have a different one for
/// [`Transport::Native`].
pub fn config_word(transport: Transport) -> &'static str {
    match transport {
        Transport::Native => "sdk",
        Transport::Cli => "cli",
        Transport::AppServer => "app-server",
        Transport::Acp => "acp",
    }
}

/// Returns the word that artifacts use for a read-only level.
pub fn readonly_word(level: ReadonlyLevel) -> &'static str {
    match level {
        ReadonlyLevel::Enforced => "enforced",
        ReadonlyLevel::ToolRestricted => "tool-restricted",
        ReadonlyLevel::PromptOnly => "prompt-only",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_has_rows_and_no_row_twice() {
        for engine in EngineName::ALL {
            assert!(of_engine(engine).count() > 0, "{engine}");
        }
        for (index, row) in rows().iter().enumerate() {
            let same = rows()
                .iter()
                .filter(|other| (other.engine, other.transport) == (row.engine, row.transport));
            assert_eq!(same.count(), 1, "row {index}: {}", row.label());
        }
    }

    #[test]
    fn default_transports_are_those_of_the_contract() {
        let expected = |engine| match engine {
            EngineName::Cursor
            | EngineName::Claude
            | EngineName::Pi
            | EngineName::Droid
            | EngineName::Copilot => Some(Transport::Native),
            EngineName::Codex
            | EngineName::Gemini
            | EngineName::Opencode
            | EngineName::Grok
            | EngineName::Antigravity => Some(Transport::Cli),
            EngineName::Acp => Some(Transport::Acp),
            EngineName::Surface | EngineName::Fake => None,
        };
        for engine in EngineName::ALL {
            assert_eq!(default_transport(engine), expected(engine), "{engine}");
        }
    }

    #[test]
    fn only_what_exists_is_called_built() {
        let built: Vec<String> = rows()
            .iter()
            .filter(|row| row.built)
            .map(Capability::label)
            .collect();
        assert_eq!(
            built,
            [
                "claude over sdk",
                "claude over cli",
                "codex over cli",
                "codex over app-server",
                "gemini over cli",
                "opencode over cli",
                "surface",
                "fake"
            ]
        );
    }

    #[test]
    fn what_is_built_was_measured_and_has_evidence() {
        for row in rows().iter().filter(|row| row.built) {
            let label = row.label();
            assert!(!row.readonly_evidence.is_empty(), "{label}");
            let is_foreign = row.transport.is_some();
            assert_eq!(row.measured_version.is_some(), is_foreign, "{label}");
        }
        let trusted = rows().iter().filter(|row| row.measured_version.is_none());
        for row in trusted.filter(|row| row.transport.is_some()) {
            // A level that nothing was seen of is the weakest.
            let level = Some(ReadonlyLevel::PromptOnly);
            assert_eq!(row.readonly, level, "{}", row.label());
        }
    }

    #[test]
    fn the_limits_of_claude_are_claude_only() {
        for row in rows() {
            let claude = row.engine == EngineName::Claude;
            assert_eq!(row.supports_fallback_model, claude, "{}", row.label());
            assert_eq!(row.supports_max_budget_usd, claude, "{}", row.label());
            assert_eq!(row.supports_system_prompt, claude, "{}", row.label());
            assert_eq!(
                row.default_effort,
                claude.then_some(Effort::High),
                "{}",
                row.label()
            );
            let sdk = claude && row.transport == Some(Transport::Native);
            assert_eq!(row.supports_max_turns, sdk, "{}", row.label());
        }
    }

    #[test]
    fn efforts_map_level_by_level() {
        let native = |engine, transport, effort| {
            find(engine, Some(transport)).unwrap().effort.native(effort)
        };
        let cases = [
            (EngineName::Codex, Transport::Cli, Effort::Off, Some("none")),
            (
                EngineName::Codex,
                Transport::Cli,
                Effort::Max,
                Some("xhigh"),
            ),
            (
                EngineName::Claude,
                Transport::Cli,
                Effort::Minimal,
                Some("low"),
            ),
            (
                EngineName::Claude,
                Transport::Native,
                Effort::Max,
                Some("max"),
            ),
            (EngineName::Pi, Transport::Native, Effort::Max, Some("max")),
            (
                EngineName::Opencode,
                Transport::Cli,
                Effort::Max,
                Some("max"),
            ),
            (EngineName::Grok, Transport::Cli, Effort::Max, Some("xhigh")),
            (
                EngineName::Droid,
                Transport::Cli,
                Effort::Minimal,
                Some("low"),
            ),
        ];
        for (engine, transport, effort, word) in cases {
            assert_eq!(
                native(engine, transport, effort),
                word.map(NativeEffort::Word),
                "{engine} {effort}"
            );
        }
        assert_eq!(
            native(EngineName::Claude, Transport::Cli, Effort::Off),
            Some(NativeEffort::ThinkingDisabled)
        );
        assert_eq!(
            native(EngineName::Droid, Transport::Cli, Effort::Off),
            Some(NativeEffort::Omitted)
        );
        assert_eq!(
            native(EngineName::Gemini, Transport::Cli, Effort::Low),
            None
        );
    }

    #[test]
    fn prompts_are_shaped_by_the_row() {
        let shape = |engine, transport| find(engine, Some(transport)).unwrap().prompt_shape();
        let codex = shape(EngineName::Codex, Transport::Cli);
        assert_eq!((codex.system, codex.max_chars), (false, Some(1_048_576)));
        let claude = shape(EngineName::Claude, Transport::Native);
        assert_eq!(claude.tools, ["Read", "Grep", "Glob"]);
        assert_eq!((claude.system, claude.max_chars), (true, None));
    }

    #[test]
    fn a_row_with_an_executable_can_be_pointed_elsewhere() {
        for row in rows().iter().filter(|row| !row.executables.is_empty()) {
            assert!(
                row.options
                    .iter()
                    .any(|key| key.bag == OptionBag::Cli && key.name == "executable"),
                "{}",
                row.label()
            );
        }
    }
}
