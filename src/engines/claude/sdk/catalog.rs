//! What Claude tells of itself when a conversation begins: its models, and whose credentials it
//! found. That spends no tokens.
//!
//! It is asked without a model. Whatever model is asked for, Claude adds it to the list with every
//! level of effort, and a check against such a list would prove nothing.

use diffwarden_actors::answer::parse_json;
use diffwarden_actors::engine::{Captured, CommandSpec, Place};
use serde_json::{Map, Value};

use super::frames;
use crate::engines::claude::environment::Surroundings;
use crate::engines::executable::Resolved;
use crate::engines::shared;

/// What the probe passes: no tools, no settings and no servers, in case that it ever did more than
/// to answer.
const ARGUMENTS: [&str; 11] = [
    "--output-format",
    "stream-json",
    "--verbose",
    "--input-format",
    "stream-json",
    "--tools",
    "",
    "--setting-sources",
    "",
    "--strict-mcp-config",
    "--permission-mode=dontAsk",
];

/// Names of models that stand for others and are in no list.
const ALIASES: [&str; 4] = ["best", "default", "inherit", "opusplan"];

/// Returns the command that asks. It runs in the private folder and not in the repository.
pub(in crate::engines::claude) fn probe(
    executable: &Resolved,
    surroundings: &Surroundings,
    place: &Place,
) -> CommandSpec {
    let mut probe = shared::probe(executable, &place.run_dir, &ARGUMENTS);
    probe.env = surroundings.changes(&place.run_dir);
    probe.env.push(("ANTHROPIC_MODEL".into(), None));
    probe.stdin = (frames::initialize(None, None) + "\n").into_bytes();
    probe
}

/// What Claude told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines::claude) struct Catalog {
    models: Vec<Model>,
    /// Whose credentials Claude found.
    pub(super) account: Account,
    /// Whether the models are those of Anthropic's own service.
    pub(super) is_first_party: bool,
}

/// One model of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::engines::claude) struct Model {
    /// The name it is asked for by.
    value: String,
    /// The model that the name stands for.
    pub(super) resolved: Option<String>,
    /// Whether it takes an effort at all.
    supports_effort: Option<bool>,
    /// The levels of effort it takes.
    pub(super) levels: Option<Vec<String>>,
    /// Whether thinking can be switched off.
    pub(super) can_stop_thinking: Option<bool>,
}

/// Whose credentials Claude found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Account {
    /// It did not tell.
    Unknown,
    /// None.
    Missing,
    /// Those of this source.
    Found(String),
}

impl Catalog {
    /// Reads the answer. `None` when there is none, or a refusal.
    pub(in crate::engines::claude) fn read(captured: &Captured) -> Option<Self> {
        let told = captured.stdout.lines().find_map(answer)?;
        let models = told.get("models").and_then(Value::as_array);
        let models = models.into_iter().flatten().filter_map(Model::read);
        let account = told.get("account").and_then(Value::as_object);
        let text = |key: &str| account?.get(key)?.as_str();
        Some(Self {
            models: models.collect(),
            account: account.map_or(Account::Unknown, Account::read),
            is_first_party: text("apiProvider") == Some("firstParty"),
        })
    }

    /// Returns the model of this name or full id, if it is listed.
    pub(in crate::engines::claude) fn find(&self, name: &str) -> Option<&Model> {
        let by_name = |model: &&Model| model.value.eq_ignore_ascii_case(name);
        let by_id = |model: &&Model| {
            let resolved = model.resolved.as_deref();
            resolved.is_some_and(|resolved| resolved.eq_ignore_ascii_case(name))
        };
        let models = || self.models.iter();
        models().find(by_name).or_else(|| models().find(by_id))
    }

    /// Whether there is a list to compare with.
    pub(super) fn lists_models(&self) -> bool {
        !self.models.is_empty()
    }

    /// Returns the listed names, for people.
    pub(super) fn names(&self) -> String {
        let names: Vec<&str> = self.models.iter().map(|model| &*model.value).collect();
        shared::one_line(&names.join(", "))
    }
}

/// Whether a name may well be one of Anthropic's, listed or not: older models are not listed, and
/// neither are some aliases.
pub(super) fn is_plausible(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let families = ["claude", "fable", "haiku", "opus", "sonnet"];
    families.iter().any(|family| name.contains(family)) || ALIASES.contains(&&*name)
}

impl Model {
    fn read(told: &Value) -> Option<Self> {
        let text = |key: &str| Some(told.get(key)?.as_str()?.to_owned());
        let flag = |key: &str| told.get(key).and_then(Value::as_bool);
        let levels = told.get("supportedEffortLevels").and_then(Value::as_array);
        let words = |levels: &Vec<Value>| {
            let words = levels.iter().filter_map(Value::as_str);
            words.map(str::to_owned).collect()
        };
        Some(Self {
            value: text("value")?,
            resolved: text("resolvedModel"),
            supports_effort: flag("supportsEffort"),
            levels: levels.map(words),
            can_stop_thinking: flag("supportsThinkingOff"),
        })
    }

    /// Whether the model takes this level. A model of which nothing is told takes any.
    pub(super) fn takes(&self, level: &str) -> bool {
        let is_listed = |levels: &Vec<String>| levels.iter().any(|listed| listed == level);
        self.supports_effort != Some(false) && self.levels.as_ref().is_none_or(is_listed)
    }
}

impl Account {
    fn read(told: &Map<String, Value>) -> Self {
        let text = |key: &str| {
            let text = told.get(key)?.as_str()?;
            (!text.is_empty() && text != "none").then_some(text)
        };
        let provider = text("apiProvider").filter(|provider| *provider != "firstParty");
        let login = text("subscriptionType").or_else(|| text("email"));
        // An address is nobody's business; that there is a login is enough.
        let source = text("apiKeySource")
            .or_else(|| login.map(|_| "login"))
            .or_else(|| text("tokenSource"))
            .or(provider);
        match source {
            Some(source) => Self::Found(shared::cut(&shared::one_line(source), 100)),
            None if told.contains_key("tokenSource") => Self::Missing,
            None => Self::Unknown,
        }
    }
}

/// Returns what stands in a line that answers the request.
fn answer(line: &str) -> Option<Value> {
    let mut message = parse_json(line).ok()?;
    let response = message.get_mut("response")?;
    let is_answer =
        response.get("subtype")? == "success" && response.get("request_id")? == frames::REQUEST;
    is_answer.then(|| response.get_mut("response").map(Value::take))?
}

#[cfg(test)]
pub(in crate::engines::claude) mod tests {
    use super::*;
    use crate::engines::shared::testing;
    use diffwarden_actors::engine::ExitKind;
    use proptest::prelude::*;
    use serde_json::json;

    /// What the real Claude answers, cut to what is read.
    const ANSWER: &str = include_str!("../../../../fixtures/claude/sdk/catalog.stdout");

    pub(in crate::engines::claude) fn printed(stdout: &str) -> Captured {
        testing::printed(ExitKind::Code(0), stdout, "")
    }

    pub(in crate::engines::claude) fn told(models: &Value, account: &Value) -> Captured {
        let told = json!({"models": models, "account": account});
        let response =
            json!({"subtype": "success", "request_id": frames::REQUEST, "response": told});
        printed(&json!({"type": "control_response", "response": response}).to_string())
    }

    fn account(account: &Value) -> Account {
        Catalog::read(&told(&json!([]), account)).unwrap().account
    }

    #[test]
    fn the_real_answer_is_read() {
        let catalog = Catalog::read(&printed(ANSWER)).unwrap();
        let sonnet = catalog.find("Sonnet").unwrap();
        assert_eq!(sonnet.resolved.as_deref(), Some("claude-sonnet-5-5"));
        assert_eq!(sonnet.can_stop_thinking, Some(false));
        for level in ["low", "medium", "high", "xhigh", "max"] {
            assert!(sonnet.takes(level), "{level}");
        }
        assert!(!sonnet.takes("minimal"));
        assert_eq!(catalog.find("claude-haiku-5-5").unwrap().value, "haiku");
        assert_eq!(catalog.find("claude-sonnet-4-5"), None);
        assert_eq!(catalog.names(), "default, opus, fable, sonnet, haiku");
        assert!(catalog.is_first_party && catalog.lists_models());
        let key = "ANTHROPIC_API_KEY".to_owned();
        assert_eq!(catalog.account, Account::Found(key));
    }

    #[test]
    fn credentials_are_found_where_claude_says_so() {
        let found = |source: &str| Account::Found(source.to_owned());
        for (told, expected) in [
            (
                json!({"tokenSource": "none", "apiProvider": "firstParty"}),
                Account::Missing,
            ),
            (
                json!({"tokenSource": "none", "apiKeySource": "K"}),
                found("K"),
            ),
            (
                json!({"tokenSource": "none", "email": "a@b.example"}),
                found("login"),
            ),
            (
                json!({"subscriptionType": "max", "tokenSource": "claude.ai"}),
                found("login"),
            ),
            (
                json!({"tokenSource": "CLAUDE_CODE_OAUTH_TOKEN"}),
                found("CLAUDE_CODE_OAUTH_TOKEN"),
            ),
            (
                json!({"tokenSource": "none", "apiProvider": "bedrock"}),
                found("bedrock"),
            ),
            (json!({}), Account::Unknown),
            (json!(null), Account::Unknown),
        ] {
            assert_eq!(account(&told), expected, "{told}");
        }
    }

    #[test]
    fn a_refusal_and_the_answer_to_somebody_else_are_no_catalog() {
        let refused = json!({"response": {"subtype": "error", "request_id": frames::REQUEST}});
        let other = json!({"response": {"subtype": "success", "request_id": "x", "response": {}}});
        for line in [
            refused.to_string(),
            other.to_string(),
            "{}".to_owned(),
            String::new(),
        ] {
            assert_eq!(Catalog::read(&printed(&line)), None, "{line}");
        }
    }

    #[test]
    fn nothing_told_of_a_model_is_no_proof_against_it() {
        let models = json!([{"value": "m"}, {"value": "n", "supportsEffort": false}, 7, {}]);
        let catalog = told(&models, &json!(1));
        let catalog = Catalog::read(&catalog).unwrap();
        assert!(catalog.find("m").unwrap().takes("high"));
        assert!(!catalog.find("n").unwrap().takes("high"));
        assert_eq!(catalog.names(), "m, n");
        for (name, expected) in [
            ("claude-sonnet-4-20250514", true),
            ("opus[1m]", true),
            ("Best", true),
            ("gpt-5", false),
            ("", false),
        ] {
            assert_eq!(is_plausible(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_read(
            line in ".{0,120}",
            text in ".{0,20}",
            number in any::<i32>(),
        ) {
            let models = json!([{"value": text, "supportedEffortLevels": [text, number]}, text]);
            for captured in [printed(&line), told(&models, &json!({"email": text, "x": number}))] {
                if let Some(catalog) = Catalog::read(&captured) {
                    let _ = catalog.find(&text).map(|model| model.takes(&line));
                    prop_assert!(!catalog.names().contains(char::is_control));
                }
            }
        }
    }
}
