//! The history as the git executable reports it.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

use diffwarden_actors::model::{Failure, RepoPath};

use super::executable::{Finished, Git};
use super::history::{History, MESSAGES, read_message};

impl History for Git {
    fn head(&self) -> Result<Option<String>, Failure> {
        if let Some(head) = self.commit("HEAD")? {
            return Ok(Some(head));
        }
        // A branch without a commit is fine, a broken HEAD is not.
        self.run(["symbolic-ref", "HEAD"])?.check().map(|_| None)
    }

    fn branch(&self) -> Result<Option<String>, Failure> {
        let answer = self.run(["symbolic-ref", "--quiet", "HEAD"])?;
        let name = answer.first_line();
        Ok(name.strip_prefix("refs/heads/").map(str::to_owned))
    }

    fn commit(&self, revision: &str) -> Result<Option<String>, Failure> {
        let revision = format!("{revision}^{{commit}}");
        let arguments = [
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            &revision,
        ];
        Ok(id_in(&self.run(arguments)?))
    }

    fn references(&self, names: &[String]) -> Result<Vec<(String, String)>, Failure> {
        let format = "--format=%(refname)%00%(objectname)%00%(*objectname)";
        let fixed = ["for-each-ref", format].map(OsStr::new);
        let names_given = names.iter().map(OsStr::new);
        let listed = self.run(fixed.into_iter().chain(names_given))?.check()?;
        let text = String::from_utf8_lossy(&listed.output);
        let found: HashMap<&str, &str> = text
            .lines()
            .filter_map(|line| {
                let mut fields = line.split('\0');
                let (name, object, peeled) = (fields.next()?, fields.next()?, fields.next()?);
                Some((name, if peeled.is_empty() { object } else { peeled }))
            })
            .collect();
        // A pattern also matches the references below a name; the order is that of the names.
        let wanted = names.iter().filter_map(|name| {
            let id = found.get(name.as_str())?;
            Some((name.clone(), (*id).to_owned()))
        });
        Ok(wanted.collect())
    }

    fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, Failure> {
        let answer = self.run(["merge-base", one, two])?;
        match id_in(&answer) {
            Some(id) => Ok(Some(id)),
            // Without a common ancestor git ends with 1 and says nothing.
            None if answer.message.is_empty() => Ok(None),
            None => answer.check().map(|_| None),
        }
    }

    fn raw_commit(&self, id: &str) -> Result<Vec<u8>, Failure> {
        Ok(self.run(["cat-file", "commit", id])?.check()?.output)
    }

    fn messages(&self, base: &str, head: &str) -> Result<Vec<String>, Failure> {
        let count = format!("--max-count={MESSAGES}");
        let range = format!("{base}..{head}");
        let arguments = ["rev-list", "--format=%B%x00", &count, &range, "--"];
        let listed = self.run(arguments)?.check()?;
        Ok(messages_in(&listed.output))
    }

    fn blob(&self, commit: &str, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        self.entry(commit, path, limit, |_| true)
    }

    fn link(&self, commit: &str, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        self.entry(commit, path, limit, |mode| mode == "120000")
    }
}

impl Git {
    /// Returns the contents of a blob of a commit whose mode is wanted.
    fn entry(
        &self,
        commit: &str,
        path: &RepoPath,
        limit: u64,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let path = OsString::from_vec(path.as_bytes().to_vec());
        let fixed = [
            "--literal-pathspecs",
            "ls-tree",
            "-z",
            "-l",
            "--full-tree",
            commit,
            "--",
        ];
        let arguments = fixed.iter().map(OsStr::new).chain([path.as_os_str()]);
        let listed = self.run(arguments)?.check()?;
        // `<mode> blob <id> <size>`, TAB, the name.
        let entry = listed.first_line();
        let mut fields = entry
            .split('\t')
            .next()
            .unwrap_or_default()
            .split_whitespace();
        let mode = fields.next().unwrap_or_default();
        let (kind, id, size) = (fields.next(), fields.next(), fields.next());
        let size = size.and_then(|size| size.parse::<u64>().ok());
        match (kind, id, size) {
            (Some("blob"), Some(id), Some(size)) if size <= limit && wanted(mode) => {
                Ok(Some(self.run(["cat-file", "blob", id])?.check()?.output))
            }
            _ => Ok(None),
        }
    }
}

/// Reads what `rev-list` prints: a line with the name of the commit, its message, NUL, line feed.
fn messages_in(list: &[u8]) -> Vec<String> {
    let records = list.split(|&byte| byte == 0);
    let messages = records.filter_map(|record| {
        let record = record.strip_prefix(b"\n").unwrap_or(record);
        let name = record.iter().position(|&byte| byte == b'\n')?;
        record.get(name + 1..).map(read_message)
    });
    messages.collect()
}

/// Returns the id that an answer consists of; what is not one is no answer.
fn id_in(answer: &Finished) -> Option<String> {
    let line = answer.first_line();
    let is_id = matches!(line.len(), 40 | 64) && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    (answer.succeeded() && is_id).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_commit_has_its_message() {
        let list = b"commit 12\none\n\nbody\n\0\ncommit 34\n\0\ncommit 56\ntwo\n\0\n";
        assert_eq!(messages_in(list), ["one\n\nbody\n", "", "two\n"]);
        assert_eq!(messages_in(b""), [""; 0]);
    }
}
