//! What somebody wants a reviewer to be: a whole entry, or what changes in one.

use diffwarden_actors::model::{EngineName, ErrorCode, Failure, Transport};
use serde_json::Value;

use super::Document;
use crate::config::{reviewer, suggest};
use crate::engines::capabilities::config_word;
use crate::engines::settings::Effort;

/// A reviewer as it is to stand in the config. Absent values leave the choice to diffwarden and
/// the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerDraft {
    /// The name it is selected and reported by.
    pub id: String,
    /// Its engine.
    pub engine: EngineName,
    /// How its engine is reached.
    pub transport: Option<Transport>,
    /// The provider it routes through.
    pub provider: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The effort.
    pub effort: Option<Effort>,
    /// Whether it stands there without being selectable.
    pub disabled: bool,
}

impl ReviewerDraft {
    /// Creates the draft of a reviewer that says nothing but its engine, whose name is its id.
    pub fn new(engine: EngineName) -> Self {
        Self {
            id: engine.as_str().to_owned(),
            engine,
            transport: None,
            provider: None,
            model: None,
            effort: None,
            disabled: false,
        }
    }

    /// Returns the entry of the config.
    pub fn to_entry(&self) -> Document {
        let texts = [
            ("id", Some(self.id.as_str())),
            ("engine", Some(self.engine.as_str())),
            ("transport", self.transport.map(config_word)),
            ("provider", self.provider.as_deref()),
            ("model", self.model.as_deref()),
            ("effort", self.effort.map(Effort::as_str)),
        ];
        let mut entry: Document = texts
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), text?.into())))
            .collect();
        if self.disabled {
            entry.insert("enabled".to_owned(), false.into());
        }
        entry
    }
}

/// What happens to one value of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// It stays as it is.
    #[default]
    Keep,
    /// It becomes this.
    Set(T),
    /// It goes, so that the default holds.
    Clear,
}

impl<T> From<Option<T>> for Change<T> {
    /// Sets what is there and keeps what is not.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Keep, Self::Set)
    }
}

/// What changes in the entry of a reviewer; everything else stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewerPatch {
    /// How its engine is reached.
    pub transport: Change<Transport>,
    /// The provider it routes through.
    pub provider: Change<String>,
    /// The model.
    pub model: Change<String>,
    /// The effort.
    pub effort: Change<Effort>,
    /// Whether it may be selected; `None` keeps it.
    pub enabled: Option<bool>,
}

impl ReviewerPatch {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Changes an entry. A reviewer that is enabled says nothing about it.
    pub fn apply(&self, entry: &mut Document) {
        let transport = match self.transport {
            Change::Set(transport) => Change::Set(config_word(transport)),
            Change::Keep => Change::Keep,
            Change::Clear => Change::Clear,
        };
        let effort = match self.effort {
            Change::Set(effort) => Change::Set(effort.as_str()),
            Change::Keep => Change::Keep,
            Change::Clear => Change::Clear,
        };
        put(entry, "transport", &transport);
        put(entry, "provider", &self.provider);
        put(entry, "model", &self.model);
        put(entry, "effort", &effort);
        match self.enabled {
            Some(true) => put::<bool>(entry, "enabled", &Change::Clear),
            Some(false) => put(entry, "enabled", &Change::Set(false)),
            None => {}
        }
    }
}

fn put<T: Clone + Into<Value>>(entry: &mut Document, key: &str, change: &Change<T>) {
    match change {
        Change::Keep => {}
        Change::Set(value) => {
            entry.insert(key.to_owned(), value.clone().into());
        }
        Change::Clear => {
            // The other keys keep their places.
            entry.shift_remove(key);
        }
    }
}

/// Reads the engine of a reviewer that is to be configured.
///
/// # Errors
///
/// Fails with `invalid_cli` for a word that is no engine, and for one inside diffwarden, which
/// needs no configuration.
pub fn parse_engine(text: &str) -> Result<EngineName, Failure> {
    let engines = reviewer::configurable_engines();
    if let Some((_, engine)) = engines.iter().find(|(name, _)| *name == text) {
        return Ok(*engine);
    }
    if let Some(engine) = EngineName::parse(text) {
        return Err(Failure::new(
            ErrorCode::InvalidCli,
            format!("`{engine}` is inside diffwarden and is not configured"),
        )
        .hint(format!("use it as `--reviewer {engine}`")));
    }
    let names: Vec<&str> = engines.iter().map(|(name, _)| *name).collect();
    let hint = match suggest::closest(text, names.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("the engines are {}", names.join(", ")),
    };
    let message = format!("unknown reviewer engine `{text}`");
    Err(Failure::new(ErrorCode::InvalidCli, message).hint(hint))
}
