use std::os::unix::fs::symlink;
use std::sync::Barrier;

use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn names(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// Writes these bytes, whatever lies there.
fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    update(path, |_| {
        Ok(Update {
            answer: (),
            bytes: Some(bytes.to_vec()),
        })
    })
}

#[test]
fn a_new_file_comes_with_its_folder_and_nothing_else() {
    let top = folder();
    let path = top.path().join("a/b/c.json");
    put(&path, b"{}\n").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"{}\n");
    assert_eq!(names(path.parent().unwrap()), ["c.json"]);
    let mode = fs::metadata(top.path().join("a")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_refused_or_empty_change_creates_nothing() {
    let top = folder();
    let path = top.path().join("a/c.json");
    let refusal = Failure::new(ErrorCode::InvalidCli, "no");
    assert_eq!(
        update(&path, |_| Err::<Update<()>, _>(refusal.clone())),
        Err(refusal)
    );
    let nothing = |old: Option<&[u8]>| {
        assert_eq!(old, None);
        Ok(Update {
            answer: 7,
            bytes: None,
        })
    };
    assert_eq!(update(&path, nothing), Ok(7));
    assert!(names(top.path()).is_empty());
}

#[test]
fn a_change_of_somebody_else_is_not_lost() {
    let top = folder();
    let path = top.path().join("c.json");
    fs::write(&path, "1").unwrap();
    let mut seen = Vec::new();
    update(&path, |old| {
        seen.push(old.map(<[u8]>::to_vec));
        if seen.len() == 1 {
            // An editor that knows no lock.
            fs::write(&path, "2").unwrap();
        }
        let bytes = Some([old.unwrap_or_default(), b"+"].concat());
        Ok(Update { answer: (), bytes })
    })
    .unwrap();
    assert_eq!(seen, [Some(b"1".to_vec()), Some(b"2".to_vec())]);
    assert_eq!(fs::read(&path).unwrap(), b"2+");
    assert_eq!(names(top.path()), ["c.json"]);
}

#[test]
fn a_file_that_appears_is_not_replaced_unseen() {
    let top = folder();
    let path = top.path().join("c.json");
    let mut tries = 0;
    let made = update(&path, |old| {
        tries += 1;
        if old.is_some() {
            return Err(Failure::new(ErrorCode::InvalidCli, "it exists"));
        }
        fs::write(&path, "theirs").unwrap();
        Ok(Update {
            answer: (),
            bytes: Some(b"ours".to_vec()),
        })
    });
    assert_eq!(made.unwrap_err().message, "it exists");
    assert_eq!((tries, fs::read(&path).unwrap()), (2, b"theirs".to_vec()));
}

#[test]
fn a_file_that_never_rests_is_given_up() {
    let top = folder();
    let path = top.path().join("c.json");
    let mut round = 0;
    let failure = update(&path, |_| {
        round += 1;
        fs::write(&path, round.to_string()).unwrap();
        Ok(Update {
            answer: (),
            bytes: Some(b"ours".to_vec()),
        })
    })
    .unwrap_err();
    assert!(failure.message.contains("keeps changing"), "{failure}");
    assert_eq!(fs::read(&path).unwrap(), round.to_string().as_bytes());
}

#[test]
fn links_stay_links_and_files_keep_their_mode() {
    let top = folder();
    let target = top.path().join("dot.json");
    fs::write(&target, "{}").unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
    let middle = top.path().join("middle");
    let link = top.path().join("c.json");
    symlink("dot.json", &middle).unwrap();
    symlink(&middle, &link).unwrap();
    put(&link, b"[1]").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"[1]");
    assert_eq!(fs::metadata(&target).unwrap().mode() & 0o7777, 0o640);
    assert_eq!(fs::read_link(&link).unwrap(), middle);
    assert_eq!(names(top.path()), ["c.json", "dot.json", "middle"]);
}

#[test]
fn a_link_to_nothing_is_filled_where_its_folder_exists() {
    let top = folder();
    let link = top.path().join("c.json");
    symlink("dot.json", &link).unwrap();
    put(&link, b"{}").unwrap();
    assert_eq!(fs::read(top.path().join("dot.json")).unwrap(), b"{}");

    let lost = top.path().join("lost.json");
    symlink("gone/dot.json", &lost).unwrap();
    let failure = put(&lost, b"{}").unwrap_err();
    assert!(failure.message.contains("does not exist"), "{failure}");
    let circle = top.path().join("circle.json");
    symlink("circle.json", &circle).unwrap();
    let failure = put(&circle, b"{}").unwrap_err();
    assert!(failure.message.contains("circle"), "{failure}");
}

#[test]
fn what_is_no_file_is_left_alone() {
    let top = folder();
    let failure = put(top.path(), b"{}").unwrap_err();
    assert!(failure.message.contains("not a regular file"), "{failure}");
    let file = top.path().join("file");
    fs::write(&file, "").unwrap();
    let failure = put(&file.join("below/c.json"), b"{}").unwrap_err();
    assert!(failure.message.contains("cannot be created"), "{failure}");
    assert_eq!(failure.exit_code(), 2);
    let large = vec![b' '; usize::try_from(MOST_BYTES).unwrap() + 1];
    let failure = put(&file, &large).unwrap_err();
    assert!(failure.message.contains("larger than"), "{failure}");
    assert_eq!(names(top.path()), ["file"]);
}

#[test]
fn leftovers_of_killed_writers_go_and_other_files_stay() {
    let top = folder();
    for name in [
        ".c.json.diffwarden-Ab12",
        ".d.json.diffwarden-Ab12",
        ".c.json.swp",
    ] {
        fs::write(top.path().join(name), "half").unwrap();
    }
    put(&top.path().join("c.json"), b"{}").unwrap();
    assert_eq!(
        names(top.path()),
        [".c.json.swp", ".d.json.diffwarden-Ab12", "c.json"]
    );
}

#[test]
fn writers_at_the_same_time_wait_for_each_other() {
    let top = folder();
    let path = top.path().join("c.json");
    let start = Barrier::new(16);
    let append = || {
        start.wait();
        update(&path, |old| {
            let bytes = Some([old.unwrap_or_default(), b"x"].concat());
            Ok(Update { answer: (), bytes })
        })
    };
    thread::scope(|scope| {
        let writers: Vec<_> = (0..16).map(|_| scope.spawn(append)).collect();
        for writer in writers {
            writer.join().unwrap().unwrap();
        }
    });
    assert_eq!(fs::read(&path).unwrap(), [b'x'; 16]);
}
