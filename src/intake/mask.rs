//! Takes secrets out of what is sent.
//!
//! Every line of the change is looked at, also those that it removes or only shows around it, and
//! so are its paths. A secret that a rule found at one place is taken out wherever else it stands.
//! What must stay true: a masked patch has the files, hunks and lines of the patch it was made from,
//! line by line, and none of the found values.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

use aho_corasick::{AhoCorasick, MatchKind};
use diffwarden_actors::model::{Body, FilePatch, Hunk, Line, LineKind, Patch, RepoPath};

use super::scan::Allowlist;
use super::scan::credentials::{self, Credential, Site, private_key};
use super::scan::text::PathKind;

/// Shorter secrets are not looked for at other places: too much else reads like them.
const SHORTEST: usize = 6;
/// Shorter lines of a private key are not looked for at other places.
const SHORTEST_OF_KEY: usize = 16;
/// A change with more text than this is looked at by two threads, in bytes.
const LARGE: usize = 1 << 20;

/// What is looked at.
#[derive(Debug, Clone, Copy)]
pub struct MaskInput<'a> {
    /// The whole change.
    pub patch: &'a Patch,
    /// The messages of the reviewed commits. They are not sent, but secrets in them are known then.
    pub commit_messages: &'a [String],
    /// The name of the current branch.
    pub branch: Option<&'a str>,
    /// Which credentials the repository allowed before the change.
    pub allow: &'a Allowlist,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Masking {
    /// The change without its secrets; `None` when it has none.
    pub patch: Option<MaskedPatch>,
    /// The secrets, each once, the ones in lines of a private key included.
    pub secrets: Vec<String>,
}

/// A change whose secrets are masked.
#[derive(Debug, Clone)]
pub struct MaskedPatch {
    /// The change; its lines are those of the original, and so are their numbers.
    pub patch: Arc<Patch>,
    /// For each file, in order, what was masked in it, as a fragment such as "2 secrets masked".
    pub reasons: Vec<Option<String>>,
}

/// A part of a line that must not be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Spot {
    span: Range<usize>,
    rule: &'static str,
}

/// The spots of a file: one list for each line of each hunk, then of the hunks' sections.
#[derive(Debug, Default)]
struct Spots {
    lines: Vec<Vec<Vec<Spot>>>,
    sections: Vec<Vec<Spot>>,
}

/// Finds the secrets of a change and masks them.
pub fn mask(input: &MaskInput<'_>) -> Masking {
    let mut secrets = Secrets::default();
    let files = &input.patch.files;
    let mut spots: Vec<Spots> = Vec::with_capacity(files.len());
    for (found, values) in look_at(files, input.allow) {
        spots.push(found);
        secrets.values.extend(values.values);
    }
    let site = Site {
        path: b"",
        kind: PathKind::default(),
        allow: input.allow,
    };
    let words = input.commit_messages.iter().map(String::as_str);
    for line in words.chain(input.branch).flat_map(str::lines) {
        secrets.on_line(line.as_bytes(), &site);
    }
    let paths = files
        .iter()
        .flat_map(|file| [&file.old_path, &file.new_path]);
    for path in paths.flatten() {
        secrets.on_line(path.as_bytes(), &site);
    }
    let known = secrets.automaton();
    let masked: Vec<_> = files
        .iter()
        .zip(spots)
        .map(|(file, spots)| mask_file(file, spots, known.as_ref()))
        .collect();
    let patch = masked.iter().any(Option::is_some).then(|| {
        let (files, reasons) = files
            .iter()
            .zip(masked)
            .map(|(file, masked)| match masked {
                Some((file, reason)) => (file, Some(reason)),
                None => (file.clone(), None),
            })
            .unzip();
        MaskedPatch {
            patch: Arc::new(Patch { files }),
            reasons,
        }
    });
    Masking {
        patch,
        secrets: secrets.texts(),
    }
}

/// Looks at every file, at those of a large change with two threads.
fn look_at(files: &[FilePatch], allow: &Allowlist) -> Vec<(Spots, Secrets)> {
    let look = |files: &[FilePatch]| -> Vec<_> {
        files.iter().map(|file| look_at_file(file, allow)).collect()
    };
    let bytes: usize = files.iter().map(|file| file.content.len()).sum();
    if bytes < LARGE {
        return look(files);
    }
    let (first, second) = files.split_at(files.len() / 2);
    thread::scope(|scope| {
        let other = scope.spawn(|| look(second));
        let mut found = look(first);
        let rest = other.join();
        found.extend(rest.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        found
    })
}

fn look_at_file(file: &FilePatch, allow: &Allowlist) -> (Spots, Secrets) {
    let path = file.path();
    let site = Site {
        path: path.as_bytes(),
        kind: PathKind::of(path),
        allow,
    };
    let (mut spots, mut secrets) = (Spots::default(), Secrets::default());
    if file.body == Body::Binary {
        // It is not sent, but what is known of it is taken out elsewhere.
        for line in file.content.split(|&byte| byte == b'\n') {
            secrets.on_line(line, &site);
        }
    }
    for hunk in file.hunks() {
        spots.sections.push(secrets.on_line(&hunk.section, &site));
        let lines = hunk.lines.iter().map(|line| file.text(line));
        let mut found: Vec<_> = lines.map(|text| secrets.on_line(text, &site)).collect();
        for index in lines_of_keys(file, hunk) {
            let text = file.text(&hunk.lines[index]);
            // The edges of a key are on every page about keys.
            if text.len() >= SHORTEST_OF_KEY && (!private_key::is_edge(text) || text.len() > 80) {
                secrets.learn(text.trim_ascii());
            }
            found[index] = vec![Spot {
                span: 0..text.len(),
                rule: "private-key",
            }];
        }
        spots.lines.push(found);
    }
    (spots, secrets)
}

/// Returns the lines of a hunk that hold private keys, on either side.
fn lines_of_keys(file: &FilePatch, hunk: &Hunk) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let is_marked = |line: &Line| private_key::is_edge(file.text(line));
    if !hunk.lines.iter().any(is_marked) {
        return found;
    }
    for other in [LineKind::Added, LineKind::Removed] {
        let side = || hunk.lines.iter().enumerate();
        let (indexes, texts): (Vec<usize>, Vec<&[u8]>) = side()
            .filter(|(_, line)| line.kind != other)
            .map(|(index, line)| (index, file.text(line)))
            .unzip();
        found.extend(
            private_key::material(&texts)
                .into_iter()
                .map(|at| indexes[at]),
        );
    }
    found
}

/// The values that were found.
#[derive(Debug, Default)]
struct Secrets {
    values: BTreeSet<Vec<u8>>,
}

impl Secrets {
    /// Finds the secrets of a line and remembers them.
    fn on_line(&mut self, line: &[u8], site: &Site<'_>) -> Vec<Spot> {
        let found = credentials::find(line, site).into_iter();
        let real = found.filter(|credential| !credential.is_harmless);
        real.map(
            |Credential {
                 rule,
                 span,
                 decoded,
                 ..
             }| {
                self.learn(&line[span.clone()]);
                if let Some(value) = decoded {
                    self.learn(&value);
                }
                Spot { span, rule }
            },
        )
        .collect()
    }

    fn learn(&mut self, value: &[u8]) {
        if value.len() >= SHORTEST && !self.values.contains(value) {
            self.values.insert(value.to_vec());
        }
    }

    fn automaton(&self) -> Option<AhoCorasick> {
        (!self.values.is_empty()).then(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&self.values)
                .expect("the size of a patch is bounded far below an automaton's limits")
        })
    }

    fn texts(self) -> Vec<String> {
        let texts = self.values.into_iter();
        texts.filter_map(|it| String::from_utf8(it).ok()).collect()
    }
}

/// Returns the file without its secrets, and how many there were; `None` when there were none.
fn mask_file(
    file: &FilePatch,
    spots: Spots,
    known: Option<&AhoCorasick>,
) -> Option<(FilePatch, String)> {
    let known = known?;
    let mut masked = file.clone();
    let mut count = 0;
    if let Body::Hunks(hunks) = &mut masked.body {
        let mut content = Vec::with_capacity(file.content.len());
        let of_hunks = spots.lines.into_iter().zip(spots.sections);
        for (hunk, (lines, section)) in hunks.iter_mut().zip(of_hunks) {
            count += blank(&mut hunk.section, section, known);
            for (line, spots) in hunk.lines.iter_mut().zip(lines) {
                let mut text = file.text(line).to_vec();
                count += blank(&mut text, spots, known);
                line.start = u32::try_from(content.len()).ok()?;
                line.len = u32::try_from(text.len()).ok()?;
                content.append(&mut text);
                content.push(b'\n');
            }
        }
        masked.content = content;
    }
    for path in [&mut masked.old_path, &mut masked.new_path]
        .into_iter()
        .flatten()
    {
        let mut text = path.as_bytes().to_vec();
        count += blank(&mut text, Vec::new(), known);
        *path = RepoPath::new(text);
    }
    let reason = match count {
        0 => return None,
        1 => "1 secret masked".to_owned(),
        count => format!("{count} secrets masked"),
    };
    Some((masked, reason))
}

/// Puts a mark in the place of every spot and of every known value; returns how many.
fn blank(text: &mut Vec<u8>, mut spots: Vec<Spot>, known: &AhoCorasick) -> usize {
    spots.extend(known.find_iter(&*text).map(|found| Spot {
        span: found.range(),
        rule: "secret",
    }));
    if spots.is_empty() {
        return 0;
    }
    spots.sort_by_key(|spot| (spot.span.start, spot.rule == "secret"));
    let mut safe = Vec::with_capacity(text.len());
    let (mut end, mut count) = (0, 0);
    for Spot { span, rule } in spots {
        if span.start >= end {
            safe.extend_from_slice(&text[end..span.start]);
            safe.extend_from_slice(format!("[masked:{rule}]").as_bytes());
            count += 1;
        }
        end = end.max(span.end);
    }
    safe.extend_from_slice(&text[end..]);
    *text = safe;
    count
}
