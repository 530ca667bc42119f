//! The rows of the matrix. The facts were measured with the executables of November 2026 unless a
//! comment says otherwise.

use diffwarden_actors::model::{EngineName, ReadonlyLevel, Transport};

use super::NativeEffort::{Omitted, ThinkingDisabled, Word};
use super::{
    AuthSignals, Capability, CredentialFile, EffortSupport, NativeEffort, PromptLimit, SchemaKind,
    options,
};
use crate::engines::settings::Effort;

/// What most rows have in common; every row names its engine, its transport and what differs.
const BASE: Capability = Capability {
    engine: EngineName::Fake,
    transport: None,
    built: false,
    executables: &[],
    minimum_version: None,
    measured_version: None,
    default_model: None,
    model_flag: Some("--model"),
    effort: EffortSupport::Unsupported,
    default_effort: None,
    supports_fallback_model: false,
    supports_max_turns: false,
    supports_max_budget_usd: false,
    supports_system_prompt: false,
    system_prompt_tools: &[],
    schema: SchemaKind::Text,
    max_prompt: None,
    readonly: Some(ReadonlyLevel::ToolRestricted),
    readonly_evidence: "",
    instruction_files: &[],
    auth: NO_AUTH,
    options: options::COMMON,
};

const NO_AUTH: AuthSignals = AuthSignals {
    variables: &[],
    files: &[],
    delegated_login: false,
};

const VERBATIM: &[NativeEffort; 7] = &[
    Word("off"),
    Word("minimal"),
    Word("low"),
    Word("medium"),
    Word("high"),
    Word("xhigh"),
    Word("max"),
];

const CURSOR: Capability = Capability {
    engine: EngineName::Cursor,
    default_model: Some("composer-2.5"),
    auth: AuthSignals {
        variables: &["CURSOR_API_KEY"],
        files: &[CredentialFile {
            base_variable: Some("CURSOR_DATA_DIR"),
            home_folder: ".cursor",
            name: "sdk/auth.json",
        }],
        delegated_login: false,
    },
    ..BASE
};

/// Runs under Node, with setting sources empty, so no file of the repository is loaded.
const CURSOR_SDK: Capability = Capability {
    transport: Some(Transport::Native),
    executables: &["node"],
    effort: EffortSupport::Ignored,
    measured_version: Some("1.0.32"),
    model_flag: Some("model.id"),
    readonly_evidence: "the service keeps the list of tools; the client does what it asks for",
    ..CURSOR
};

/// Not measured: the executable is in no package registry. The limit is that of one argument.
const CURSOR_CLI: Capability = Capability {
    transport: Some(Transport::Cli),
    executables: &["cursor-agent", "agent"],
    max_prompt: Some(PromptLimit::Bytes(131_072)),
    readonly: Some(ReadonlyLevel::PromptOnly),
    instruction_files: &["AGENTS.md", "CLAUDE.md", ".cursorrules", ".cursor/rules/"],
    auth: AuthSignals {
        variables: &["CURSOR_API_KEY"],
        files: &[],
        delegated_login: true,
    },
    readonly_evidence: "nothing was measured",
    ..CURSOR
};

const CLAUDE: Capability = Capability {
    engine: EngineName::Claude,
    executables: &["claude"],
    default_model: Some("sonnet"),
    effort: EffortSupport::Mapped(&[
        ThinkingDisabled,
        Word("low"),
        Word("low"),
        Word("medium"),
        Word("high"),
        Word("xhigh"),
        Word("max"),
    ]),
    default_effort: Some(Effort::High),
    supports_fallback_model: true,
    supports_max_budget_usd: true,
    supports_system_prompt: true,
    system_prompt_tools: &["Read", "Grep", "Glob"],
    schema: SchemaKind::Native,
    auth: AuthSignals {
        variables: &[
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
        ],
        files: &[CredentialFile {
            base_variable: Some("CLAUDE_CONFIG_DIR"),
            home_folder: ".claude",
            name: ".credentials.json",
        }],
        delegated_login: true,
    },
    options: options::CLAUDE,
    measured_version: Some("2.1.332"),
    readonly_evidence: "only Read, Grep and Glob are offered, and others are refused",
    ..BASE
};

/// A frame of 12 MB was read, so the limit of standard input does not apply here.
const CLAUDE_SDK: Capability = Capability {
    transport: Some(Transport::Native),
    built: true,
    supports_max_turns: true,
    ..CLAUDE
};

const CLAUDE_CLI: Capability = Capability {
    transport: Some(Transport::Cli),
    built: true,
    max_prompt: Some(PromptLimit::Bytes(10_000_000)),
    ..CLAUDE
};

/// The engine clamps a level that a model does not have.
const PI: Capability = Capability {
    engine: EngineName::Pi,
    executables: &["pi"],
    effort: EffortSupport::Mapped(VERBATIM),
    schema: SchemaKind::ToolCall,
    auth: AuthSignals {
        variables: &[
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "GEMINI_API_KEY",
            "OPENROUTER_API_KEY",
            "XAI_API_KEY",
            "GROQ_API_KEY",
            "MISTRAL_API_KEY",
        ],
        files: &[CredentialFile {
            base_variable: Some("PI_CODING_AGENT_DIR"),
            home_folder: ".pi/agent",
            name: "auth.json",
        }],
        delegated_login: true,
    },
    options: options::PI,
    measured_version: Some("1.6.0"),
    readonly_evidence: "only read, grep, find and ls are offered, and others are not found",
    ..BASE
};

const PI_SDK: Capability = Capability {
    transport: Some(Transport::Native),
    ..PI
};

const PI_CLI: Capability = Capability {
    transport: Some(Transport::Cli),
    ..PI
};

/// No switch keeps the repository's instruction files from the model.
const DROID: Capability = Capability {
    engine: EngineName::Droid,
    executables: &["droid"],
    effort: EffortSupport::Mapped(&[
        Omitted,
        Word("low"),
        Word("low"),
        Word("medium"),
        Word("high"),
        Word("xhigh"),
        Word("max"),
    ]),
    instruction_files: &["AGENTS.md", "CLAUDE.md"],
    auth: AuthSignals {
        variables: &["FACTORY_API_KEY"],
        files: &[],
        delegated_login: true,
    },
    measured_version: Some("0.225.2"),
    readonly_evidence: "a list of tools and locked settings; the defaults would run commands",
    ..BASE
};

const DROID_SDK: Capability = Capability {
    transport: Some(Transport::Native),
    schema: SchemaKind::Native,
    model_flag: Some("modelId"),
    ..DROID
};

const DROID_CLI: Capability = Capability {
    transport: Some(Transport::Cli),
    ..DROID
};

/// The sandbox is bubblewrap's or the system's; without it every command of the model fails.
/// `project_doc_max_bytes=0` keeps instruction files out. No engine-side list knows `max` for
/// every model, so it is asked for as `xhigh` (SPEC 15).
const CODEX: Capability = Capability {
    engine: EngineName::Codex,
    executables: &["codex"],
    effort: EffortSupport::Mapped(&[
        Word("none"),
        Word("minimal"),
        Word("low"),
        Word("medium"),
        Word("high"),
        Word("xhigh"),
        Word("xhigh"),
    ]),
    schema: SchemaKind::NativeStrict,
    max_prompt: Some(PromptLimit::Characters(1_048_576)),
    readonly: Some(ReadonlyLevel::Enforced),
    measured_version: Some("0.171.0"),
    ..BASE
};

const CODEX_LOGIN: &[CredentialFile] = &[CredentialFile {
    base_variable: Some("CODEX_HOME"),
    home_folder: ".codex",
    name: "auth.json",
}];

const CODEX_CLI: Capability = Capability {
    transport: Some(Transport::Cli),
    built: true,
    auth: AuthSignals {
        variables: &["CODEX_API_KEY"],
        files: CODEX_LOGIN,
        delegated_login: false,
    },
    options: options::CODEX_CLI,
    readonly_evidence: "preflight has the sandbox of this machine refuse a write",
    ..CODEX
};

/// The server ignores `CODEX_API_KEY`.
const CODEX_APP_SERVER: Capability = Capability {
    transport: Some(Transport::AppServer),
    built: true,
    auth: AuthSignals {
        variables: &[],
        files: CODEX_LOGIN,
        delegated_login: false,
    },
    options: options::CODEX_APP_SERVER,
    model_flag: Some("model"),
    readonly_evidence: "the sandbox of `codex exec`",
    ..CODEX
};

/// `GEMINI.md` cannot be switched off once the folder is trusted, and headless runs need that.
const GEMINI_CLI: Capability = Capability {
    engine: EngineName::Gemini,
    transport: Some(Transport::Cli),
    built: true,
    executables: &["gemini"],
    instruction_files: &["GEMINI.md"],
    auth: AuthSignals {
        variables: &["GEMINI_API_KEY"],
        files: &[CredentialFile {
            base_variable: None,
            home_folder: ".gemini",
            name: "oauth_creds.json",
        }],
        delegated_login: true,
    },
    measured_version: Some("0.61.0"),
    readonly_evidence: "a policy and the list of tools each leave four tools that read",
    ..BASE
};

/// Efforts are names of a model's variants, so they go through as they are. A working folder
/// outside the repository keeps its instruction files and plugins out.
const OPENCODE_CLI: Capability = Capability {
    engine: EngineName::Opencode,
    transport: Some(Transport::Cli),
    built: true,
    executables: &["opencode"],
    effort: EffortSupport::Mapped(VERBATIM),
    auth: AuthSignals {
        variables: &["OPENCODE_API_KEY"],
        files: &[CredentialFile {
            base_variable: Some("XDG_DATA_HOME"),
            home_folder: ".local/share",
            name: "opencode/auth.json",
        }],
        delegated_login: true,
    },
    options: options::OPENCODE,
    measured_version: Some("1.18.33"),
    readonly_evidence: "a generated agent denies all tools but three that read",
    ..BASE
};

/// The kernel refuses writes only outside the temporary folders, so the level is the weaker one
/// until a run shows its evidence.
const GROK_CLI: Capability = Capability {
    engine: EngineName::Grok,
    transport: Some(Transport::Cli),
    executables: &["grok"],
    effort: EffortSupport::Mapped(&[
        Omitted,
        Word("low"),
        Word("low"),
        Word("medium"),
        Word("high"),
        Word("xhigh"),
        Word("xhigh"),
    ]),
    schema: SchemaKind::Native,
    auth: AuthSignals {
        variables: &["XAI_API_KEY"],
        files: &[CredentialFile {
            base_variable: Some("GROK_HOME"),
            home_folder: ".grok",
            name: "auth.json",
        }],
        delegated_login: true,
    },
    measured_version: Some("1.0.41"),
    readonly_evidence: "a list of tools; the kernel keeps all but temporary folders",
    ..BASE
};

/// Not measured: the executable is in no package registry.
const ANTIGRAVITY_CLI: Capability = Capability {
    engine: EngineName::Antigravity,
    transport: Some(Transport::Cli),
    executables: &["agy"],
    minimum_version: Some("1.0.6"),
    model_flag: None,
    instruction_files: &["AGENTS.md", "GEMINI.md"],
    auth: AuthSignals {
        variables: &[],
        files: &[CredentialFile {
            base_variable: None,
            home_folder: ".gemini",
            name: "oauth_creds.json",
        }],
        delegated_login: true,
    },
    options: options::ANTIGRAVITY,
    readonly: Some(ReadonlyLevel::PromptOnly),
    readonly_evidence: "nothing was measured",
    ..BASE
};

const COPILOT: Capability = Capability {
    engine: EngineName::Copilot,
    executables: &["copilot"],
    effort: EffortSupport::Mapped(&[
        Word("none"),
        Word("low"),
        Word("low"),
        Word("medium"),
        Word("high"),
        Word("xhigh"),
        Word("max"),
    ]),
    auth: AuthSignals {
        variables: &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
        files: &[],
        delegated_login: true,
    },
    measured_version: Some("1.0.102"),
    readonly_evidence: "only view, grep and glob are offered, and others are not found",
    ..BASE
};

const COPILOT_SDK: Capability = Capability {
    transport: Some(Transport::Native),
    schema: SchemaKind::ToolCall,
    model_flag: Some("model"),
    ..COPILOT
};

const COPILOT_CLI: Capability = Capability {
    transport: Some(Transport::Cli),
    ..COPILOT
};

/// Any agent: what it loads and how it is kept from writing is unknown, so the worst is assumed.
const ACP: Capability = Capability {
    engine: EngineName::Acp,
    transport: Some(Transport::Acp),
    model_flag: None,
    readonly: Some(ReadonlyLevel::PromptOnly),
    instruction_files: &[
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        ".cursorrules",
        ".cursor/rules/",
        ".github/copilot-instructions.md",
        ".mcp.json",
        "opencode.json",
    ],
    auth: AuthSignals {
        delegated_login: true,
        ..NO_AUTH
    },
    readonly_evidence: "what an agent does is its own affair",
    ..BASE
};

const SURFACE: Capability = Capability {
    engine: EngineName::Surface,
    built: true,
    model_flag: None,
    readonly: None,
    options: &[],
    readonly_evidence: "it has no code that writes",
    ..BASE
};

const FAKE: Capability = Capability {
    engine: EngineName::Fake,
    ..SURFACE
};

pub(super) const ROWS: &[Capability] = &[
    CURSOR_SDK,
    CURSOR_CLI,
    CLAUDE_SDK,
    CLAUDE_CLI,
    PI_SDK,
    PI_CLI,
    DROID_SDK,
    DROID_CLI,
    CODEX_CLI,
    CODEX_APP_SERVER,
    GEMINI_CLI,
    OPENCODE_CLI,
    GROK_CLI,
    ANTIGRAVITY_CLI,
    COPILOT_SDK,
    COPILOT_CLI,
    ACP,
    SURFACE,
    FAKE,
];
