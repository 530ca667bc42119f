//! The tables in `docs/engines.md` say what the capability matrix says.
//!
//! `UPDATE_DOCS=1 cargo test --test main docs` writes them anew.

use std::fs;
use std::path::PathBuf;

use diffwarden::engines::capabilities::{
    self, Capability, EffortSupport, NativeEffort, PromptLimit, SchemaKind,
};
use diffwarden::engines::settings::Effort;

const BEGIN: &str = "<!-- begin: printed from the capability matrix -->\n";
const END: &str = "<!-- end -->\n";

/// One column: its head, and what it says of a row.
type Column = (&'static str, fn(&Capability) -> String);

const PATHS: &[Column] = &[
    ("path", label),
    ("state", |row| {
        if row.built { "built" } else { "not built" }.to_owned()
    }),
    ("read-only level", |row| {
        row.readonly.map_or_else(
            || "in process".to_owned(),
            |level| code(capabilities::readonly_word(level)),
        )
    }),
    ("evidence", |row| row.readonly_evidence.to_owned()),
    ("executable", |row| codes(row.executables)),
    ("measured with", |row| optional(row.measured_version)),
    ("minimum", |row| optional(row.minimum_version)),
];

const CHOICES: &[Column] = &[
    ("path", label),
    ("model", |row| row.model_flag.map(code).unwrap_or_default()),
    ("default model", |row| {
        row.default_model.map(code).unwrap_or_default()
    }),
    ("effort off, minimal, low, medium, high, xhigh, max", effort),
    ("default effort", |row| {
        optional(row.default_effort.map(Effort::as_str))
    }),
    ("limits", limits),
];

const PROMPTS: &[Column] = &[
    ("path", label),
    ("system prompt", |row| {
        if row.supports_system_prompt {
            "split"
        } else {
            "one text"
        }
        .to_owned()
    }),
    ("longest prompt", |row| {
        row.max_prompt.map(longest).unwrap_or_default()
    }),
    ("schema", |row| schema(row.schema).to_owned()),
    ("instruction files it loads", |row| {
        codes(row.instruction_files)
    }),
];

const LOGINS: &[Column] = &[
    ("path", label),
    ("variables", |row| codes(row.auth.variables)),
    ("files", files),
    ("a login nobody else sees", |row| {
        if row.auth.delegated_login { "yes" } else { "" }.to_owned()
    }),
];

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn codes(texts: &[&str]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| code(text)).collect();
    texts.join(", ")
}

fn optional(text: Option<&str>) -> String {
    text.unwrap_or_default().to_owned()
}

fn label(row: &Capability) -> String {
    match row.transport {
        Some(transport) => format!(
            "`{}`, `{}`",
            row.engine,
            capabilities::config_word(transport)
        ),
        None => code(row.engine.as_str()),
    }
}

fn effort(row: &Capability) -> String {
    match row.effort {
        EffortSupport::Unsupported => "refused".to_owned(),
        EffortSupport::Ignored => "ignored, and recorded".to_owned(),
        EffortSupport::Mapped(words) => {
            let words: Vec<_> = words.iter().map(|word| native(*word)).collect();
            words.join(", ")
        }
    }
}

fn native(word: NativeEffort) -> String {
    match word {
        NativeEffort::Word(word) => code(word),
        NativeEffort::Omitted => "nothing".to_owned(),
        NativeEffort::ThinkingDisabled => "no thinking".to_owned(),
    }
}

fn limits(row: &Capability) -> String {
    let limits = [
        ("fallbackModel", row.supports_fallback_model),
        ("maxTurns", row.supports_max_turns),
        ("maxBudgetUsd", row.supports_max_budget_usd),
    ];
    let names = limits.iter().filter(|(_, is_there)| *is_there);
    codes(&names.map(|(name, _)| *name).collect::<Vec<_>>())
}

fn longest(limit: PromptLimit) -> String {
    match limit {
        PromptLimit::Characters(count) => format!("{} characters", grouped(count)),
        PromptLimit::Bytes(count) => format!("{} bytes", grouped(count)),
    }
}

/// Writes a number with a comma before each group of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn schema(kind: SchemaKind) -> &'static str {
    match kind {
        SchemaKind::Text => "by the prompt alone",
        SchemaKind::ToolCall => "by a tool's arguments",
        SchemaKind::Native => "by the engine",
        SchemaKind::NativeStrict => "by the engine, in OpenAI's strict form",
    }
}

fn files(row: &Capability) -> String {
    let files = row.auth.files.iter().map(|file| match file.base_variable {
        Some(variable) => format!("`~/{}/{}` (`{variable}`)", file.home_folder, file.name),
        None => format!("`~/{}/{}`", file.home_folder, file.name),
    });
    files.collect::<Vec<_>>().join(", ")
}

/// Returns a table of the rows that are worth a line.
fn table(columns: &[Column], is_shown: impl Fn(&Capability) -> bool) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(columns.iter().map(|(head, _)| (*head).to_owned()).collect());
    text.push_str(&line(vec!["---".to_owned(); columns.len()]));
    for row in capabilities::rows().iter().filter(|row| is_shown(row)) {
        text.push_str(&line(columns.iter().map(|(_, cell)| cell(row)).collect()));
    }
    text
}

fn tables() -> String {
    let is_foreign = |row: &Capability| row.transport.is_some();
    [
        table(PATHS, |_| true),
        table(CHOICES, is_foreign),
        table(PROMPTS, is_foreign),
        table(LOGINS, is_foreign),
    ]
    .join("\n")
}

#[test]
fn the_tables_of_engines_are_those_of_the_matrix() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/engines.md");
    let text = fs::read_to_string(&path).expect("the page is checked in");
    let (before, rest) = text
        .split_once(BEGIN)
        .expect("the page has a marked region");
    let (printed, after) = rest.split_once(END).expect("the marked region ends");
    let tables = tables();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = [before, BEGIN, &tables, END, after].concat();
        fs::write(&path, text).expect("a written page");
    } else {
        assert!(
            printed == tables,
            "docs/engines.md does not say what the matrix says; `UPDATE_DOCS=1 cargo test --test \
             main docs` writes it anew"
        );
    }
}
