//! The field editor of one reviewer.

use diffwarden_actors::model::Transport;

use super::{Leave, Prompter, choose, unless_back};
use crate::config::defect_of_id;
use crate::config::edit::ReviewerDraft;
use crate::engines::capabilities::{self, Capability, EffortSupport, config_word};
use crate::engines::settings::Effort;

/// What may be done to a reviewer besides its transport, model and effort.
pub(super) enum Scope<'a> {
    /// It is new: its id may be chosen, unless it is taken.
    New { is_taken: &'a dyn Fn(&str) -> bool },
    /// It is configured: it may be switched on and off, and may have a list of efforts.
    Configured { efforts: Option<&'a [Effort]> },
}

/// One line of the editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Done,
    Transport,
    Model,
    Effort,
    Id,
    Enabled,
}

/// Edits a reviewer until the user is done with it, which the line `done` says.
pub(super) fn edit_fields(
    prompter: &mut dyn Prompter,
    draft: &mut ReviewerDraft,
    scope: &Scope<'_>,
    done: &str,
) -> Result<(), Leave> {
    loop {
        let question = format!("Reviewer {}", draft.id);
        let line = choose(prompter, &question, lines(draft, scope, done), 0)?;
        let answered = match line {
            Line::Done => return Ok(()),
            Line::Transport => ask_transport(prompter, draft),
            Line::Model => ask_model(prompter, draft),
            Line::Effort => ask_effort(prompter, draft, scope),
            Line::Id => ask_id(prompter, draft, scope),
            Line::Enabled => {
                draft.disabled = !draft.disabled;
                Ok(())
            }
        };
        unless_back(answered)?;
    }
}

fn lines(draft: &ReviewerDraft, scope: &Scope<'_>, done: &str) -> Vec<(String, Line)> {
    let row = row(draft);
    let transport = draft.transport.map_or_else(
        || default_transport(draft),
        |transport| config_word(transport).to_owned(),
    );
    let mut lines = vec![
        (done.to_owned(), Line::Done),
        (format!("transport: {transport}"), Line::Transport),
    ];
    if row.model_flag.is_some() || draft.model.is_some() {
        let model = draft.model.clone().unwrap_or_else(|| default_model(row));
        lines.push((format!("model: {model}"), Line::Model));
    }
    if takes_effort(row) || draft.effort.is_some() {
        let effort = draft.effort.map(|effort| effort.as_str().to_owned());
        let effort = effort.unwrap_or_else(|| default_effort(row));
        lines.push((format!("effort: {effort}"), Line::Effort));
    }
    lines.push(match scope {
        Scope::New { .. } => (format!("id: {}", draft.id), Line::Id),
        Scope::Configured { .. } => {
            let enabled = if draft.disabled { "no" } else { "yes" };
            (format!("enabled: {enabled}"), Line::Enabled)
        }
    });
    lines
}

fn ask_transport(prompter: &mut dyn Prompter, draft: &mut ReviewerDraft) -> Result<(), Leave> {
    let built = capabilities::of_engine(draft.engine)
        .filter(|row| row.built || row.transport == draft.transport)
        .filter_map(|row| row.transport);
    let mut options: Vec<(String, Option<Transport>)> = vec![(default_transport(draft), None)];
    options.extend(built.map(|it| (config_word(it).to_owned(), Some(it))));
    let start = position(&options, &draft.transport);
    draft.transport = choose(prompter, "Transport", options, start)?;
    drop_what_is_not_taken(prompter, draft);
    Ok(())
}

/// Takes out what the transport that was just chosen cannot honour, and says so.
fn drop_what_is_not_taken(prompter: &mut dyn Prompter, draft: &mut ReviewerDraft) {
    let row = row(draft);
    if row.model_flag.is_none() && draft.model.take().is_some() {
        prompter.say(&format!("{} takes no model", row.label()));
    }
    if row.effort == EffortSupport::Unsupported && draft.effort.take().is_some() {
        prompter.say(&format!("{} takes no effort", row.label()));
    }
}

fn ask_model(prompter: &mut dyn Prompter, draft: &mut ReviewerDraft) -> Result<(), Leave> {
    let initial = draft.model.as_deref().unwrap_or_default();
    let model = prompter.write("Model (blank: default)", initial)?;
    let model = model.trim();
    draft.model = (!model.is_empty()).then(|| model.to_owned());
    Ok(())
}

fn ask_effort(
    prompter: &mut dyn Prompter,
    draft: &mut ReviewerDraft,
    scope: &Scope<'_>,
) -> Result<(), Leave> {
    let is_offered = |effort: &Effort| match scope {
        Scope::Configured {
            efforts: Some(efforts),
        } => efforts.contains(effort),
        _ => true,
    };
    let mut options = vec![(default_effort(row(draft)), None)];
    let offered = Effort::ALL.into_iter().filter(is_offered);
    options.extend(offered.map(|effort| (effort.as_str().to_owned(), Some(effort))));
    let start = position(&options, &draft.effort);
    draft.effort = choose(prompter, "Effort", options, start)?;
    Ok(())
}

fn ask_id(
    prompter: &mut dyn Prompter,
    draft: &mut ReviewerDraft,
    scope: &Scope<'_>,
) -> Result<(), Leave> {
    let mut typed = draft.id.clone();
    loop {
        typed = prompter.write("Id", &typed)?.trim().to_owned();
        let is_taken = matches!(scope, Scope::New { is_taken } if is_taken(&typed));
        let defect = if typed.is_empty() {
            Some("a reviewer needs an id".to_owned())
        } else if is_taken {
            Some(format!("there is a reviewer `{typed}` already"))
        } else {
            defect_of_id(&typed)
        };
        match defect {
            Some(defect) => prompter.say(&defect),
            None => {
                draft.id = typed;
                return Ok(());
            }
        }
    }
}

/// Returns the row of the capability matrix that a reviewer runs by.
pub(super) fn row(draft: &ReviewerDraft) -> &'static Capability {
    draft
        .transport
        .and_then(|transport| capabilities::find(draft.engine, Some(transport)))
        .unwrap_or_else(|| capabilities::default_row(draft.engine))
}

fn takes_effort(row: &Capability) -> bool {
    matches!(row.effort, EffortSupport::Mapped(_))
}

fn default_transport(draft: &ReviewerDraft) -> String {
    let word = capabilities::default_transport(draft.engine).map(config_word);
    let is_built = capabilities::default_row(draft.engine).built;
    let built = if is_built { "" } else { ", not built yet" };
    format!("default ({}{built})", word.unwrap_or("none"))
}

fn default_model(row: &Capability) -> String {
    format!("default ({})", row.default_model.unwrap_or("the engine's"))
}

fn default_effort(row: &Capability) -> String {
    let word = row.default_effort.map(Effort::as_str);
    format!("default ({})", word.unwrap_or("the engine's"))
}

fn position<T: PartialEq>(options: &[(String, T)], value: &T) -> usize {
    let at = options.iter().position(|(_, option)| option == value);
    at.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use diffwarden_actors::model::EngineName;

    use super::super::script::Script;
    use super::*;

    #[test]
    fn what_a_transport_cannot_honour_is_dropped_aloud() {
        let mut script = Script::new([]);
        let mut draft = ReviewerDraft {
            model: Some("m".to_owned()),
            effort: Some(Effort::High),
            ..ReviewerDraft::new(EngineName::Antigravity)
        };
        drop_what_is_not_taken(&mut script, &mut draft);
        assert_eq!(draft, ReviewerDraft::new(EngineName::Antigravity));
        script.assert_shown("takes no model");
        script.assert_shown("takes no effort");
        let kept = ReviewerDraft {
            model: Some("m".to_owned()),
            effort: Some(Effort::High),
            ..ReviewerDraft::new(EngineName::Codex)
        };
        let mut draft = kept.clone();
        drop_what_is_not_taken(&mut Script::new([]), &mut draft);
        assert_eq!(draft, kept);
    }
}
