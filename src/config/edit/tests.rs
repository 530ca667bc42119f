//! Pure edits: what they change, and that they change nothing else.

use diffwarden_actors::model::{EngineName, Transport};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::config::discover::ConfigKind;
use crate::config::validate::validate;
use crate::engines::settings::Effort;

fn document(value: Value) -> Document {
    match value {
        Value::Object(document) => document,
        other => panic!("{other} is no object"),
    }
}

/// Asserts that two documents are the same down to the order of keys.
#[track_caller]
fn same(left: &Document, right: &Value) {
    let text = |value: &Value| serde_json::to_string(value).unwrap();
    assert_eq!(text(&Value::Object(left.clone())), text(right));
}

/// A config with a place for everything, and an unknown key at each level.
fn full() -> Document {
    document(json!({
        "x-first": {"z": 1, "a": 2},
        "reviewerSets": {"deep": ["a", "codex:fast", "b"], "1": ["b"], "none": []},
        "defaultReviewerSet": "1",
        "reviewers": [
            {"x": [], "engine": "codex", "id": "a", "model": "m", "cliOptions": {"webSearch": "inherit"},
             "profile": "fast", "effort": "low", "enabled": false},
            {"id": "b", "engine": "pi"}
        ],
        "x-last": null
    }))
}

#[test]
fn a_new_reviewer_comes_last() {
    let mut config = Document::new();
    let action = add_reviewer(&mut config, &ReviewerDraft::new(EngineName::Codex));
    assert_eq!(action, Ok(AddAction::Added));
    same(
        &config,
        &json!({"reviewers": [{"id": "codex", "engine": "codex"}]}),
    );

    let draft = ReviewerDraft {
        id: "slow".into(),
        transport: Some(Transport::Native),
        provider: Some("p".into()),
        model: Some("m".into()),
        effort: Some(Effort::Max),
        disabled: true,
        ..ReviewerDraft::new(EngineName::Claude)
    };
    add_reviewer(&mut config, &draft).unwrap();
    same(
        &config,
        &json!({"reviewers": [
            {"id": "codex", "engine": "codex"},
            {"id": "slow", "engine": "claude", "transport": "sdk", "provider": "p", "model": "m",
             "effort": "max", "enabled": false}
        ]}),
    );
}

#[test]
fn adding_a_known_id_lays_the_draft_over_it() {
    let mut config = full();
    let draft = ReviewerDraft {
        id: "a".into(),
        model: Some("m2".into()),
        ..ReviewerDraft::new(EngineName::Codex)
    };
    assert_eq!(add_reviewer(&mut config, &draft), Ok(AddAction::Updated));
    let mut expected = full();
    expected["reviewers"][0]["model"] = json!("m2");
    same(&config, &Value::Object(expected));
}

#[test]
fn a_patch_sets_and_clears_and_keeps() {
    let mut config = full();
    let patch = ReviewerPatch {
        transport: Change::Set(Transport::AppServer),
        provider: Change::Keep,
        model: Change::Clear,
        effort: Change::Set(Effort::High),
        enabled: Some(true),
    };
    let entry = edit_reviewer(&mut config, "a", &patch).unwrap();
    let expected = json!({"x": [], "engine": "codex", "id": "a",
        "cliOptions": {"webSearch": "inherit"}, "profile": "fast", "effort": "high",
        "transport": "app-server"});
    same(&entry, &expected);
    let mut whole = full();
    whole["reviewers"][0] = expected;
    same(&config, &Value::Object(whole));

    let patch = ReviewerPatch {
        enabled: Some(false),
        ..ReviewerPatch::default()
    };
    let entry = edit_reviewer(&mut config, "b", &patch).unwrap();
    same(
        &entry,
        &json!({"id": "b", "engine": "pi", "enabled": false}),
    );
    assert!(ReviewerPatch::default().is_empty() && !patch.is_empty());
}

#[test]
fn a_removed_reviewer_leaves_every_set_and_what_named_its_profile_is_told() {
    let mut config = full();
    let removed = remove_reviewer(&mut config, "a").unwrap();
    assert_eq!(removed.pruned_from, ["deep"]);
    let stale = Stale {
        set: "deep".into(),
        spec: "codex:fast".into(),
    };
    assert_eq!(removed.stale, [stale]);
    let mut expected = full();
    expected["reviewers"].as_array_mut().unwrap().remove(0);
    expected["reviewerSets"]["deep"] = json!(["codex:fast", "b"]);
    same(&config, &Value::Object(expected));

    let removed = remove_reviewer(&mut config, "b").unwrap();
    assert_eq!(removed.pruned_from, ["deep", "1"]);
    assert_eq!(config["reviewers"], json!([]));
    assert_eq!(empty_default_set(&config), Some("1"));
}

#[test]
fn a_twin_is_removed_too_so_that_the_config_is_mended() {
    let mut config = document(json!({"reviewers": [
        {"id": "a", "engine": "codex"}, {"id": "b", "engine": "pi"}, {"id": "a", "engine": "pi"}
    ]}));
    remove_reviewer(&mut config, "a").unwrap();
    same(
        &config,
        &json!({"reviewers": [{"id": "b", "engine": "pi"}]}),
    );
}

#[test]
fn members_come_and_go() {
    let mut config = full();
    assert_eq!(add_member(&mut config, "1", "a").unwrap(), ["b", "a"]);
    assert_eq!(add_member(&mut config, "1", "a").unwrap(), ["b", "a"]);
    assert_eq!(add_member(&mut config, "new", "b").unwrap(), ["b"]);
    assert_eq!(remove_member(&mut config, "1", "b").unwrap(), ["a"]);
    let others = remove_member(&mut config, "deep", "codex:fast").unwrap();
    assert_eq!(others, ["a", "b"]);
    assert!(remove_member(&mut config, "new", "b").unwrap().is_empty());
    let mut expected = full();
    expected["reviewerSets"] = json!({"deep": ["a", "b"], "1": ["a"], "none": [], "new": []});
    same(&config, &Value::Object(expected));
    assert_eq!(empty_default_set(&config), None);
}

#[test]
fn what_is_not_there_is_named_with_what_may_have_been_meant() {
    let unknown = |id: &str, meant: Option<&str>| EditError::UnknownReviewer {
        id: id.into(),
        meant: meant.map(Into::into),
    };
    let mut config = document(json!({
        "reviewers": [{"id": "codex-deep", "engine": "codex"}], "reviewerSets": {"daily": ["x"]}
    }));
    let before = config.clone();
    let patch = ReviewerPatch::default();
    assert_eq!(
        edit_reviewer(&mut config, "codex-dep", &patch),
        Err(unknown("codex-dep", Some("codex-deep")))
    );
    assert_eq!(remove_reviewer(&mut config, "zz"), Err(unknown("zz", None)));
    assert_eq!(
        add_member(&mut config, "daily", "zz"),
        Err(unknown("zz", None))
    );
    let no_set = EditError::UnknownSet {
        set: "dayly".into(),
        meant: Some("daily".into()),
    };
    assert_eq!(remove_member(&mut config, "dayly", "x"), Err(no_set));
    let no_member = EditError::NotAMember {
        set: "daily".into(),
        member: "y".into(),
    };
    assert_eq!(remove_member(&mut config, "daily", "y"), Err(no_member));
    assert_eq!(config, before);
}

#[test]
fn what_has_the_wrong_type_is_an_error_with_a_place() {
    let draft = ReviewerDraft::new(EngineName::Codex);
    for (value, at) in [
        (json!({"reviewers": {}}), "reviewers"),
        (json!({"reviewerSets": []}), "reviewerSets"),
        (json!({"reviewerSets": {"1": "codex"}}), "reviewerSets.1"),
    ] {
        let mut config = document(value);
        let error = add_reviewer(&mut config, &draft)
            .and_then(|_| add_member(&mut config, "1", "codex"))
            .unwrap_err();
        assert!(
            matches!(error, EditError::WrongType { at: place, .. } if place == at),
            "{at}"
        );
        if at != "reviewers" {
            assert!(remove_reviewer(&mut config, "codex").is_err(), "{at}");
            assert!(remove_member(&mut config, "1", "codex").is_err(), "{at}");
        }
    }
}

#[test]
fn the_default_set_is_empty_when_it_is_named_and_has_nobody() {
    for (value, expected) in [
        (json!({}), None),
        (json!({"reviewerSets": {"1": []}}), None),
        (json!({"defaultReviewerSet": "x"}), Some("x")),
        (
            json!({"defaultReviewerSet": "x", "reviewerSets": {"x": []}}),
            Some("x"),
        ),
        (
            json!({"defaultReviewerSet": "x", "reviewerSets": {"x": ["a"], "1": []}}),
            None,
        ),
        (json!({"defaultReviewerSet": 1}), None),
    ] {
        assert_eq!(
            empty_default_set(&document(value.clone())),
            expected,
            "{value}"
        );
    }
}

#[test]
fn new_configs_are_valid_and_run_what_they_hold() {
    let drafts = [EngineName::Codex, EngineName::Opencode].map(ReviewerDraft::new);
    let config = scaffold(&drafts);
    same(
        &config,
        &json!({
            "defaultReviewerSet": "1",
            "reviewerSets": {"1": ["codex", "opencode"]},
            "reviewers": [{"id": "codex", "engine": "codex"}, {"id": "opencode", "engine": "opencode"}],
            "readonly": true
        }),
    );
    for config in [config, starter()] {
        assert_eq!(empty_default_set(&config), None);
        validate(&Value::Object(config), ConfigKind::User).unwrap();
    }
}

#[test]
fn engines_are_known_by_name() {
    assert_eq!(parse_engine("codex"), Ok(EngineName::Codex));
    for (word, hint) in [
        ("codx", "did you mean `codex`?"),
        ("gpt", "the engines are "),
        ("surface", "--reviewer surface"),
        ("fake", "--reviewer fake"),
        ("codex:deep", "the engines are "),
    ] {
        let failure = parse_engine(word).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains(word), "{failure}");
        assert!(
            failure.hint.as_ref().unwrap().contains(hint),
            "{word}: {failure:?}"
        );
    }
}

/// Any JSON value of a small size.
fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-c\"\\\\\n é]{0,4}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(("[a-e]{1,2}", inner), 0..3)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// A config with unknown keys anywhere, or something that only looks like one.
fn any_document() -> impl Strategy<Value = Document> {
    let ids = || prop::sample::select(&["a", "b", "c"][..]);
    let entry = (
        ids(),
        prop::collection::vec(("[x-z]{1,2}", any_value()), 0..3),
        any::<bool>(),
    )
        .prop_map(|(id, unknown, id_first)| {
            let id = ("id".to_owned(), json!(id));
            let mut pairs = unknown;
            pairs.insert(if id_first { 0 } else { pairs.len() }, id);
            Value::Object(pairs.into_iter().collect())
        });
    let reviewers = prop_oneof![
        6 => prop::collection::vec(entry, 0..4).prop_map(Value::from),
        1 => any_value(),
    ];
    let set = prop_oneof![
        6 => prop::collection::vec(ids(), 0..4).prop_map(|ids| json!(ids)),
        1 => any_value(),
    ];
    let sets = prop::collection::vec(("[12]", set), 0..3)
        .prop_map(|sets| Value::Object(sets.into_iter().collect()));
    let known = prop_oneof![
        reviewers.prop_map(|it| ("reviewers".to_owned(), it)),
        sets.prop_map(|it| ("reviewerSets".to_owned(), it)),
        ("[x-z]{1,2}", any_value()),
    ];
    prop::collection::vec(known, 0..5).prop_map(|pairs| pairs.into_iter().collect())
}

type Edit = fn(&mut Document) -> Result<(), EditError>;

/// One edit of each kind.
fn edits() -> [Edit; 5] {
    [
        |it| {
            add_reviewer(
                it,
                &ReviewerDraft {
                    id: "a".into(),
                    ..ReviewerDraft::new(EngineName::Pi)
                },
            )
            .map(drop)
        },
        |it| {
            edit_reviewer(
                it,
                "a",
                &ReviewerPatch {
                    model: Change::Set("m".into()),
                    effort: Change::Clear,
                    ..ReviewerPatch::default()
                },
            )
            .map(drop)
        },
        |it| remove_reviewer(it, "a").map(drop),
        |it| add_member(it, "1", "a").map(drop),
        |it| remove_member(it, "1", "a").map(drop),
    ]
}

/// Returns the document without what edits of the reviewer `a` and the set `1` may touch.
fn untouched(document: &Document) -> Vec<String> {
    let mut rest = Vec::new();
    for (key, value) in document {
        match (key.as_str(), value) {
            ("reviewers", Value::Array(entries)) => {
                for entry in entries {
                    let is_touched = entry.get("id") == Some(&json!("a"));
                    let unknown = entry
                        .as_object()
                        .into_iter()
                        .flatten()
                        .filter(|(key, _)| key.starts_with(['x', 'y', 'z']));
                    if !is_touched {
                        rest.push(entry.to_string());
                        rest.extend(unknown.map(|pair| format!("{pair:?}")));
                    }
                }
            }
            ("reviewerSets", Value::Object(sets)) => {
                for (name, members) in sets {
                    let others = members
                        .as_array()
                        .into_iter()
                        .flatten()
                        .filter(|it| **it != json!("a"));
                    let others: Vec<_> = others.map(Value::to_string).collect();
                    if !others.is_empty() {
                        rest.push(format!("{name} {others:?}"));
                    }
                }
            }
            _ => rest.push(format!("{key} {value}")),
        }
    }
    rest
}

/// Returns the unknown keys of the entry of the reviewer `a` that edits find.
fn unknown_of_a(document: &Document) -> Vec<String> {
    let entries = document.get("reviewers").and_then(Value::as_array);
    let entry = entries
        .into_iter()
        .flatten()
        .find(|entry| entry.get("id") == Some(&json!("a")));
    let pairs = entry.and_then(Value::as_object).into_iter().flatten();
    let unknown = pairs.filter(|(key, _)| key.starts_with(['x', 'y', 'z']));
    unknown
        .map(|(key, value)| format!("{key} {value}"))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn edits_keep_everything_else_and_its_order(before in any_document(), kind in 0_usize..5) {
        let mut after = before.clone();
        let edited = edits()[kind](&mut after);
        if edited.is_err() {
            // Whoever edits drops the document then.
            return Ok(());
        }
        prop_assert_eq!(untouched(&after), untouched(&before));
        let a = unknown_of_a(&before);
        let is_kept = kind == 2 || unknown_of_a(&after) == a;
        prop_assert!(is_kept, "{:?}", after);
        let keys: Vec<&String> = after.keys().filter(|key| before.contains_key(*key)).collect();
        prop_assert_eq!(keys, before.keys().collect::<Vec<_>>());
    }

    #[test]
    fn an_edit_that_is_made_twice_changes_nothing_the_second_time(before in any_document(), kind in 0_usize..5) {
        let mut once = before;
        if edits()[kind](&mut once).is_ok() {
            let mut twice = once.clone();
            // What was removed cannot be removed again.
            if edits()[kind](&mut twice).is_ok() {
                prop_assert_eq!(twice, once);
            }
        }
    }
}
