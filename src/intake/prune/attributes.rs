//! What `.gitattributes` said before the change about files that people do not write.

use std::collections::BTreeSet;
use std::path::Path;

use diffwarden_actors::model::RepoPath;
use gix_attributes::StateRef;
use gix_attributes::search::{MetadataCollection, Outcome};

use super::ReadBefore;

const FILE_NAME: &[u8] = b".gitattributes";

/// The attributes that code hosts read, and what a file is that has one.
const MEANINGS: [(&str, &str); 2] = [
    ("linguist-generated", "generated code"),
    ("linguist-vendored", "vendored code"),
];

/// What the attributes say about one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// The file is to be left out, as what the text names.
    Prune(&'static str),
    /// The file was written by somebody, whatever its name says.
    Keep,
    /// Nothing.
    Nothing,
}

/// The attribute files that apply to a set of paths.
pub(super) struct Attributes {
    search: gix_attributes::Search,
    collection: MetadataCollection,
    is_empty: bool,
}

impl Attributes {
    /// Reads the attribute files of every folder on the way to one of the paths.
    pub(super) fn read<'a>(
        paths: impl Iterator<Item = &'a RepoPath>,
        base: &ReadBefore<'_>,
    ) -> Self {
        let mut folders: BTreeSet<&[u8]> = BTreeSet::new();
        for path in paths {
            let bytes = path.as_bytes();
            let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            folders.extend(ends.map(|(end, _)| &bytes[..=end]));
            folders.insert(b"");
        }
        let mut attributes = Self {
            search: gix_attributes::Search::default(),
            collection: MetadataCollection::default(),
            is_empty: true,
        };
        // In order of depth, because the last list that matches wins.
        let mut folders: Vec<&[u8]> = folders.into_iter().collect();
        folders.sort_by_key(|folder| folder.iter().filter(|&&byte| byte == b'/').count());
        for folder in folders {
            let name = [folder, FILE_NAME].concat();
            if let Some(rules) = base(&RepoPath::new(name)) {
                attributes.add(folder, &rules);
            }
        }
        attributes
    }

    /// Adds the rules of one folder. Macros may be defined in the root alone, as in git.
    fn add(&mut self, folder: &[u8], rules: &[u8]) {
        use std::os::unix::ffi::OsStrExt as _;
        let root = Path::new("/").join(std::ffi::OsStr::from_bytes(folder));
        let source = root.join(".gitattributes");
        let added = self.search.add_patterns_buffer(
            rules,
            source,
            Some(Path::new("/")),
            &mut self.collection,
            folder.is_empty(),
        );
        self.is_empty &= added.is_err();
    }

    /// Returns what is said about a path.
    pub(super) fn of(&self, path: &RepoPath) -> Says {
        // No tree has a path that begins with a slash; a patch from elsewhere may name one.
        if self.is_empty || path.as_bytes().starts_with(b"/") {
            return Says::Nothing;
        }
        let mut outcome = Outcome::default();
        outcome.initialize_with_selection(&self.collection, MEANINGS.map(|(name, _)| name));
        self.search.pattern_matching_relative_path(
            path.as_bytes().into(),
            gix_attributes::glob::pattern::Case::Sensitive,
            Some(false),
            &mut outcome,
        );
        let mut says = Says::Nothing;
        for found in outcome.iter_selected() {
            let name = found.assignment.name.as_str();
            let meaning = MEANINGS.iter().find(|(known, _)| *known == name);
            let Some((_, rule)) = meaning else { continue };
            match found.assignment.state {
                StateRef::Set => return Says::Prune(rule),
                StateRef::Value(value) if value.as_bstr() == "true" => return Says::Prune(rule),
                StateRef::Unset => says = Says::Keep,
                StateRef::Value(value) if value.as_bstr() == "false" => says = Says::Keep,
                StateRef::Value(_) | StateRef::Unspecified => {}
            }
        }
        says
    }
}

/// Whether a path names an attribute file, on any file system.
pub(super) fn is_attribute_file(path: &RepoPath) -> bool {
    let name = path.as_bytes().rsplit(|&byte| byte == b'/').next();
    name.is_some_and(|name| name.eq_ignore_ascii_case(FILE_NAME))
}
