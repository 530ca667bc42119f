//! Dialogues without a terminal.

use diffwarden_actors::model::{EngineName, ErrorCode, Failure, Transport};
use serde_json::json;

use super::add::{add, not_configured, start};
use super::edit::edit;
use super::finish::offer_doctor;
use super::remove::remove;
use super::script::Act::{self, Back, Mark, Pick, Write};
use super::script::Script;
use super::{Leave, QUIT};
use crate::config::Config;
use crate::config::edit::{Change, ReviewerDraft, ReviewerPatch, require_user_config};
use crate::engines::settings::Effort;

fn config() -> Config {
    let document = json!({
        "reviewerSets": {"1": ["a", "b"], "2": ["b"]},
        "reviewers": [
            {"id": "a", "engine": "codex", "model": "m", "effort": "low"},
            {"id": "b", "engine": "claude", "enabled": false, "effortCatalog": ["low", "high"]},
        ],
    });
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("diffwarden");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("diffwarden.config.json"), document.to_string()).unwrap();
    let environment = [("XDG_CONFIG_HOME", home.path())].into_iter().collect();
    require_user_config(&environment).unwrap()
}

fn found() -> Vec<ReviewerDraft> {
    [EngineName::Claude, EngineName::Codex, EngineName::Gemini]
        .map(ReviewerDraft::new)
        .into()
}

/// Edits the config with a script, to the end of it.
fn edited(id: Option<&str>, acts: &[Act]) -> (Result<(String, ReviewerPatch), Leave>, Script) {
    let mut script = Script::new(acts.to_vec());
    let done = edit(&mut script, &config(), id, |id, patch| {
        Ok((id.to_owned(), patch.clone()))
    });
    script.assert_over();
    (done, script)
}

/// Adds with a script, to the end of it, and returns what was committed.
fn added(taken: &[&str], acts: &[Act]) -> (Result<Vec<ReviewerDraft>, Leave>, Script) {
    let mut script = Script::new(acts.to_vec());
    let taken: Vec<String> = taken.iter().map(|id| (*id).to_owned()).collect();
    let done = add(&mut script, found(), Vec::new(), &taken, |drafts| {
        Ok(drafts.to_vec())
    });
    script.assert_over();
    (done, script)
}

#[test]
fn a_blank_model_and_the_default_effort_clear() {
    let acts = [
        Pick("a "),
        Pick("model"),
        Write("  "),
        Pick("effort"),
        Pick("default"),
        Pick("✓ save"),
    ];
    let (id, patch) = edited(None, &acts).0.unwrap();
    assert_eq!(id, "a");
    let expected = ReviewerPatch {
        model: Change::Clear,
        effort: Change::Clear,
        ..ReviewerPatch::default()
    };
    assert_eq!(patch, expected);
}

#[test]
fn values_are_set_and_reviewers_switched_on() {
    let acts = [
        Pick("model"),
        Write(" opus "),
        Pick("effort"),
        Pick("high"),
        Pick("enabled: no"),
        Pick("✓ save"),
    ];
    let (done, script) = edited(Some("b"), &acts);
    let expected = ReviewerPatch {
        model: Change::Set("opus".to_owned()),
        effort: Change::Set(Effort::High),
        enabled: Some(true),
        ..ReviewerPatch::default()
    };
    assert_eq!(done.unwrap().1, expected);
    // Its list of efforts holds here too.
    let efforts = script.shown.iter().find(|line| line.starts_with("Effort"));
    assert!(!efforts.unwrap().contains("xhigh"));
}

#[test]
fn back_leads_one_level_up_and_keeps_what_was_entered_below() {
    let acts = [
        Pick("a "),
        Pick("model"),
        Write("other"),
        Pick("model"),
        Back,
        Pick("effort"),
        Back,
        Pick("transport"),
        Back,
        Pick("✓ save"),
    ];
    let patch = edited(None, &acts).0.unwrap().1;
    assert_eq!(patch.model, Change::Set("other".to_owned()));
    let acts = [Pick("a "), Back, Pick("b "), Back, Back];
    assert_eq!(edited(None, &acts).0, Err(Leave::Back));
    assert_eq!(edited(Some("a"), &[Back]).0, Err(Leave::Back));
}

#[test]
fn every_menu_can_be_left_at_once() {
    for acts in [
        &[Pick(QUIT)][..],
        &[Pick("a "), Pick(QUIT)],
        &[Pick("a "), Pick("transport"), Pick(QUIT)],
        &[Pick("a "), Pick("effort"), Pick(QUIT)],
        &[Pick("a "), Pick("model"), Write("x"), Pick(QUIT)],
        // Nothing was changed, so there is nothing to save.
        &[Pick("a "), Pick("✓ save")],
    ] {
        assert_eq!(edited(None, acts).0, Err(Leave::Quit), "{acts:?}");
    }
    for acts in [
        &[Mark(&[QUIT])][..],
        &[Mark(&["codex", QUIT])],
        &[Mark(&["codex"]), Pick(QUIT)],
    ] {
        assert_eq!(added(&[], acts).0, Err(Leave::Quit), "{acts:?}");
    }
    assert_eq!(start(&mut Script::new([Pick(QUIT)])), Err(Leave::Quit));
    assert_eq!(start(&mut Script::new([Pick("write")])), Ok(()));
}

#[test]
fn a_refusal_is_told_and_the_editor_goes_on() {
    let acts = [
        Pick("model"),
        Write("-x"),
        Pick("✓ save"),
        Pick("model"),
        Write("x"),
        Pick("✓ save"),
    ];
    let mut script = Script::new(acts);
    let done = edit(&mut script, &config(), Some("a"), |_, patch| {
        if patch.model == Change::Set("-x".to_owned()) {
            return Err(Failure::new(ErrorCode::InvalidModel, "no such model").hint("another"));
        }
        Ok(patch.clone())
    });
    script.assert_over();
    assert_eq!(done.unwrap().model, Change::Set("x".to_owned()));
    script.assert_shown("no such model");
    script.assert_shown("another");
}

#[test]
fn chosen_reviewers_are_edited_one_after_the_other() {
    let acts = [
        Mark(&[]),
        Mark(&["claude", "codex"]),
        Pick("✓ next"),
        Pick("model"),
        Write("m"),
        // Back in the first reviewer, and on to the second again.
        Back,
        Pick("id"),
        Write("deep"),
        Pick("✓ next"),
        Pick("✓ save"),
    ];
    let (done, script) = added(&[], &acts);
    let drafts = done.unwrap();
    let ids: Vec<_> = drafts.iter().map(|draft| draft.id.as_str()).collect();
    assert_eq!(ids, ["deep", "codex"]);
    assert_eq!(drafts[1].model.as_deref(), Some("m"));
    script.assert_shown("space bar");
    let acts = [Mark(&["codex"]), Back, Mark(&["gemini"]), Back, Back];
    let (done, script) = added(&[], &acts);
    assert_eq!(done, Err(Leave::Back));
    script.assert_shown("Which reviewers? [\"gemini over cli\"]");
}

#[test]
fn an_id_is_taken_once() {
    let acts = [
        Mark(&["claude", "codex"]),
        Pick("id"),
        Write("mine"),
        Write("codex"),
        Write(" "),
        Write("codex:x"),
        Write("free"),
        Pick("✓ next"),
        Pick("✓ save"),
    ];
    let (done, script) = added(&["mine"], &acts);
    assert_eq!(done.unwrap()[0].id, "free");
    for text in ["`mine` already", "`codex` already", "needs an id", "colon"] {
        script.assert_shown(text);
    }
    // Unmarked for a moment, a reviewer does not guard its id.
    let acts = [
        Mark(&["claude"]),
        Pick("id"),
        Write("x"),
        Back,
        Mark(&["codex"]),
        Pick("id"),
        Write("x"),
        Back,
        Mark(&["claude", "codex"]),
        Pick("✓ next"),
        Pick("✓ save"),
        Pick("id"),
        Write("y"),
        Pick("✓ save"),
    ];
    let (done, script) = added(&[], &acts);
    assert_eq!(done.unwrap()[1].id, "y");
    script.assert_shown("are called `x`");
}

#[test]
fn only_what_a_transport_takes_is_asked() {
    // Gemini takes no effort over its command line.
    let acts = [Mark(&["gemini"]), Pick(QUIT)];
    let (_, script) = added(&[], &acts);
    let menu = script.shown.iter().find(|it| it.starts_with("Reviewer g"));
    assert!(!menu.unwrap().contains("effort"), "{menu:?}");
    let acts = [
        Mark(&["codex"]),
        Pick("transport"),
        Pick("cli"),
        Pick("✓ save"),
    ];
    let drafts = added(&[], &acts).0.unwrap();
    assert_eq!(drafts[0].transport, Some(Transport::Cli));
}

#[test]
fn only_what_is_not_configured_is_offered() {
    let left = not_configured(found(), &config());
    let engines: Vec<_> = left.iter().map(|draft| draft.engine).collect();
    assert_eq!(engines, [EngineName::Gemini]);
    assert_eq!(not_configured(found(), &Config::default()), found());
}

#[test]
fn removing_is_confirmed_and_the_answer_is_no_by_default() {
    let removed = |acts: &[Act]| {
        let mut script = Script::new(acts.to_vec());
        let done = remove(&mut script, &config(), |id| Ok(id.to_owned()));
        script.assert_over();
        (done, script)
    };
    let (done, script) = removed(&[Pick("b "), Pick("yes")]);
    assert_eq!(done, Ok("b".to_owned()));
    script.assert_shown("Remove b? [no]");
    script.assert_shown("sets: 1, 2");
    assert_eq!(removed(&[Pick("b "), Pick("no")]).0, Err(Leave::Quit));
    assert_eq!(removed(&[Pick("b "), Pick(QUIT)]).0, Err(Leave::Quit));
    let acts = [Pick("b "), Back, Pick("a "), Pick("yes")];
    assert_eq!(removed(&acts).0, Ok("a".to_owned()));
    assert_eq!(removed(&[Back]).0, Err(Leave::Back));
    let mut script = Script::new([Pick("a "), Pick("yes"), Back]);
    let done = remove(&mut script, &config(), |_| {
        Err::<(), _>(Failure::new(ErrorCode::InvalidCli, "leaves nobody").hint("--force"))
    });
    assert_eq!(done, Err(Leave::Back));
    script.assert_shown("--force");
}

#[test]
fn doctor_is_offered_and_nobody_is_held() {
    for (act, expected) in [
        (Pick("yes"), true),
        (Pick("no"), false),
        (Pick(QUIT), false),
        (Back, false),
    ] {
        let mut script = Script::new([act]);
        assert_eq!(offer_doctor(&mut script, "diffwarden review"), expected);
        script.assert_shown("diffwarden review");
    }
}
