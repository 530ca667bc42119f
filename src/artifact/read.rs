//! A saved artifact, read back.
//!
//! The file is input like any other: it may be of another version, of another program, edited, or
//! no artifact at all. What is wrong is said with its place in the file, and keys that nobody knows
//! are refused instead of dropped, so that what is shown is all that the file says.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use diffwarden_actors::model::{
    ARTIFACT_SCHEMA_VERSION, ErrorCode, Failure, ReviewArtifact, ReviewBatchArtifact, RunArtifact,
};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::error::Category;

/// The size in bytes above which a file is not read: four times what an engine may print.
const MOST_BYTES: u64 = 256 << 20;

/// How many characters are told of what is wrong.
const MOST_WORDS: usize = 600;

/// What standard input is called on the command line.
const STDIN: &str = "-";

/// Reads the artifact in a file, or in standard input for `-`.
///
/// # Errors
///
/// [`ErrorCode::InvalidCli`] when the file cannot be read or holds anything but one artifact of
/// this version.
pub fn read_artifact(path: &Path) -> Result<RunArtifact, Failure> {
    let (name, bytes) = if path.as_os_str() == STDIN {
        ("standard input".to_owned(), read_some(io::stdin().lock()))
    } else {
        let bytes = File::open(path).and_then(read_some);
        (format!("`{}`", path.display()), bytes)
    };
    let bytes = bytes.map_err(|error| {
        Failure::new(
            ErrorCode::InvalidCli,
            format!("cannot read a ReviewArtifact from {name}: {error}"),
        )
        .hint("give `review show` a file that `--out` or `--json` has written")
    })?;
    parse_artifact(&name, &bytes)
}

fn read_some(source: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let message = format!("it is larger than {} MiB", MOST_BYTES >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Reads an artifact; `name` is what messages call its place.
///
/// # Errors
///
/// [`ErrorCode::InvalidCli`] for anything but one artifact of this version.
pub fn parse_artifact(name: &str, bytes: &[u8]) -> Result<RunArtifact, Failure> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let head: Head = serde_json::from_slice(bytes).map_err(|error| match error.classify() {
        Category::Data => refusal(name, "ReviewArtifact", &error.to_string()),
        _ => refusal(name, "ReviewArtifact", &format!("it is not JSON: {error}")).hint(
            "an event stream of `--ndjson` cannot be shown; its last line holds the artifact",
        ),
    })?;
    match head.kind() {
        Kind::Review => read_strictly(name, "ReviewArtifact", bytes)
            .map(|review: ReviewArtifact| RunArtifact::Review(Box::new(review))),
        Kind::Batch => {
            let batch = read_strictly(name, "ReviewBatchArtifact", bytes)?;
            check_lanes(name, &batch)?;
            Ok(RunArtifact::Batch(Box::new(batch)))
        }
        Kind::Other(why, hint) => Err(refusal(name, "ReviewArtifact", &why).hint(hint)),
    }
}

/// What tells one file of diffwarden's from another.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    schema_version: Option<Value>,
    #[serde(default)]
    kind: Option<Value>,
    #[serde(default)]
    error: Option<IgnoredAny>,
    #[serde(default)]
    report_schema_version: Option<IgnoredAny>,
}

enum Kind {
    Review,
    Batch,
    /// Why it is neither, and what to do about it.
    Other(String, &'static str),
}

impl Head {
    fn kind(&self) -> Kind {
        if self.report_schema_version.is_some() {
            return Kind::Other(
                "it is a report".to_owned(),
                "a full report holds the artifact under `artifact`",
            );
        }
        if self.error.is_some() {
            return Kind::Other(
                "it holds the error of a run that made no artifact".to_owned(),
                "run the review again",
            );
        }
        match &self.schema_version {
            Some(version) if *version == ARTIFACT_SCHEMA_VERSION => {}
            found => {
                let found = found
                    .as_ref()
                    .map_or("missing".to_owned(), Value::to_string);
                return Kind::Other(
                    format!("schema_version is {found}"),
                    "this version of diffwarden shows artifacts of schema_version 2",
                );
            }
        }
        match &self.kind {
            None => Kind::Review,
            Some(kind) if kind == "batch" => Kind::Batch,
            Some(kind) => Kind::Other(
                format!("kind is {kind}"),
                "a ReviewArtifact has no `kind`, and that of a ReviewBatchArtifact is \"batch\"",
            ),
        }
    }
}

/// Reads a value of a known shape and refuses what the shape has no place for.
fn read_strictly<T: DeserializeOwned>(name: &str, shape: &str, bytes: &[u8]) -> Result<T, Failure> {
    let mut unknown = None;
    let mut track = serde_path_to_error::Track::new();
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let value = serde_ignored::deserialize(tracked, |path| {
        unknown.get_or_insert_with(|| place(&path));
    });
    let value: T = value.map_err(|error| {
        let path = track.path().to_string();
        let place = if path == "." {
            String::new()
        } else {
            format!("{path}: ")
        };
        let failure = refusal(name, shape, &format!("{place}{error}"));
        if path.ends_with("transport") {
            return failure.hint("artifacts say `native` where the config says `sdk`");
        }
        failure
    })?;
    match unknown {
        None => Ok(value),
        Some(place) => Err(refusal(name, shape, &format!("{place}: unknown key"))
            .hint("a newer diffwarden may know it")),
    }
}

/// Returns where a key stands: `reviewers[0].extra`.
fn place(path: &serde_ignored::Path<'_>) -> String {
    use serde_ignored::Path;
    match path {
        Path::Root => String::new(),
        Path::Seq { parent, index } => format!("{}[{index}]", place(parent)),
        Path::Map { parent, key } => match place(parent) {
            parent if parent.is_empty() => key.clone(),
            parent => format!("{parent}.{key}"),
        },
        Path::Some { parent }
        | Path::NewtypeStruct { parent }
        | Path::NewtypeVariant { parent } => place(parent),
    }
}

/// Each lane's artifact says its own version.
fn check_lanes(name: &str, batch: &ReviewBatchArtifact) -> Result<(), Failure> {
    for (index, lane) in batch.lanes.iter().enumerate() {
        let Some(artifact) = &lane.artifact else {
            continue;
        };
        let version = artifact.schema_version;
        if version != ARTIFACT_SCHEMA_VERSION {
            let what = format!("lanes[{index}].artifact.schema_version is {version}");
            return Err(refusal(name, "ReviewBatchArtifact", &what));
        }
    }
    Ok(())
}

fn refusal(name: &str, shape: &str, what: &str) -> Failure {
    // The parser quotes what it does not like, however long that is.
    let (what, rest) = match what.char_indices().nth(MOST_WORDS) {
        Some((end, _)) => (&what[..end], "…"),
        None => (what, ""),
    };
    Failure::new(
        ErrorCode::InvalidCli,
        format!("{name} is not a {shape} that can be shown: {what}{rest}"),
    )
}

#[cfg(test)]
mod tests;
