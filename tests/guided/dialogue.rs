//! The binary in a pseudo-terminal, and what a user sees there.

use std::io::{Read as _, Write};
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{
    Child, CommandBuilder, MasterPty, PtyPair, PtySize, SlavePty, native_pty_system,
};
use rustix::process::{Pid, Signal, kill_process};

use crate::support::TestEnvironment;

pub(super) const UP: &str = "\x1b[A";
pub(super) const DOWN: &str = "\x1b[B";
pub(super) const ENTER: &str = "\r";
pub(super) const ESC: &str = "\x1b";
pub(super) const CTRL_C: &str = "\x03";
pub(super) const BACKSPACE: &str = "\x7f";

/// Ends every prompt that waits for keys, and no prompt that is over.
const HELP: &str = "esc goes back]";

/// Far more than any machine needs; only a test that fails waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the terminal was sent.
struct Seen {
    parser: vt100::Parser,
    raw: Vec<u8>,
}

/// The binary, asking.
pub(super) struct Dialogue {
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    seen: Arc<Mutex<Seen>>,
    /// Standard output, which is a file and no terminal.
    stdout: PathBuf,
    /// How the terminal was before the binary had it.
    before: String,
    master: Box<dyn MasterPty + Send>,
    /// Kept, because a terminal that nobody has open forgets how it was.
    _slave: Box<dyn SlavePty + Send>,
}

impl Dialogue {
    /// Starts the binary in a terminal of this many columns, with these variables, on a machine
    /// that has nothing but what the test installed.
    pub(super) fn start(
        environment: &TestEnvironment,
        columns: u16,
        variables: &[(&str, &str)],
        args: &[&str],
    ) -> Self {
        let size = PtySize {
            rows: 30,
            cols: columns,
            ..PtySize::default()
        };
        let PtyPair { slave, master } = native_pty_system().openpty(size).expect("a terminal");
        let sides = (NonZero::new(size.rows), NonZero::new(size.cols));
        let (Some(rows), Some(wide)) = sides else {
            panic!("a terminal of no size");
        };
        let before = modes(&*master);
        let seen = Arc::new(Mutex::new(Seen {
            parser: vt100::Parser::new(rows, wide, 0),
            raw: Vec::new(),
        }));
        let mut reader = master.try_clone_reader().expect("a reader");
        let shown = Arc::clone(&seen);
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut seen = shown.lock().unwrap_or_else(PoisonError::into_inner);
                seen.raw.extend(&bytes[..count]);
                seen.parser.process(&bytes[..count]);
            }
        });
        let stdout = environment.path("stdout");
        let command = command(environment, &stdout, variables, args);
        Self {
            child: slave.spawn_command(command).expect("the binary runs"),
            writer: master.take_writer().expect("a writer"),
            seen,
            stdout,
            before,
            master,
            _slave: slave,
        }
    }

    /// Types keys.
    pub(super) fn keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("typed keys");
        self.writer.flush().expect("typed keys");
    }

    /// Waits for a menu and the option that its cursor is on.
    #[track_caller]
    pub(super) fn at(&mut self, question: &str, option: &str) -> &mut Self {
        let what = format!("the cursor is on {option:?} of {question:?}");
        self.wait_until(&what, |screen| {
            prompt(screen).is_some_and(|(asked, lines)| {
                let cursor = lines.iter().find_map(|line| line.strip_prefix("> "));
                asked.starts_with(question)
                    && cursor.is_some_and(|line| {
                        let line = line.trim_start_matches("[ ] ").trim_start_matches("[x] ");
                        line.starts_with(option)
                    })
            })
        });
        self
    }

    /// Waits for a line to be written, with what is in it.
    #[track_caller]
    pub(super) fn writing(&mut self, question: &str, text: &str) -> &mut Self {
        let what = format!("{question:?} is answered with {text:?}");
        let line = format!("{question} {text}");
        self.wait_until(&what, |screen| {
            prompt(screen).is_some_and(|(asked, _)| asked.trim_end() == line.trim_end())
        });
        self
    }

    /// Waits for a text.
    #[track_caller]
    pub(super) fn shows(&mut self, text: &str) -> &mut Self {
        self.wait_until(&format!("it shows {text:?}"), |screen| {
            screen.contents().contains(text)
        });
        self
    }

    /// Moves the cursor of a menu down to an option and takes it.
    #[track_caller]
    pub(super) fn take(&mut self, question: &str, way: &[&str]) {
        for (at, option) in way.iter().enumerate() {
            if at > 0 {
                self.keys(DOWN);
            }
            self.at(question, option);
        }
        self.keys(ENTER);
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = self.child.process_id().expect("it runs");
        let pid = Pid::from_raw(i32::try_from(pid).expect("a process id"));
        kill_process(pid.expect("a process id"), signal).expect("it is our child");
    }

    /// Waits for the end, asserts that the terminal is as it was, and returns the exit code and
    /// standard output.
    #[track_caller]
    pub(super) fn end(&mut self) -> (u32, String) {
        let end = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(Instant::now() < end, "it does not end: {}", self.screen());
            thread::sleep(Duration::from_millis(10));
        };
        assert_eq!(status.signal(), None, "{}", self.screen());
        assert_eq!(modes(&*self.master), self.before, "{}", self.screen());
        self.wait_until("the cursor is visible", |screen| {
            !screen.hide_cursor() && !screen.bracketed_paste()
        });
        let stdout = std::fs::read_to_string(&self.stdout).expect("a file");
        (status.exit_code(), stdout)
    }

    /// Returns what is on the screen, without the spaces at the ends of its lines.
    pub(super) fn screen(&self) -> String {
        let text = self.lock().parser.screen().contents();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n")
    }

    /// Returns every byte that the terminal was sent.
    pub(super) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.lock().raw).into_owned()
    }

    #[track_caller]
    fn wait_until(&self, what: &str, is_so: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so(self.lock().parser.screen()) {
            assert!(
                Instant::now() < end,
                "waited in vain until {what}:\n{}",
                self.screen()
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Dialogue {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns how a terminal treats what goes through it.
fn modes(master: &dyn MasterPty) -> String {
    let modes = master.get_termios().expect("a terminal has modes");
    let flags = (modes.input_flags, modes.output_flags, modes.local_flags);
    format!("{flags:?} {:?}", modes.control_chars)
}

/// Returns the prompt that waits for keys: its question, and the lines below it.
fn prompt(screen: &vt100::Screen) -> Option<(String, Vec<String>)> {
    let text = screen.contents();
    let text = text.trim_end().strip_suffix(HELP)?;
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().rposition(|line| line.starts_with("? "))?;
    let below = lines[at + 1..].iter().map(|line| (*line).to_owned());
    Some((lines[at][2..].to_owned(), below.collect()))
}

/// Returns the command, whose standard output a shell sends to a file.
fn command(
    environment: &TestEnvironment,
    stdout: &std::path::Path,
    variables: &[(&str, &str)],
    args: &[&str],
) -> CommandBuilder {
    let mut plain = environment.command(args);
    if environment.bin().join("git").exists() {
        plain.env("PATH", environment.bin());
    } else {
        environment.hide_other_programs(&mut plain);
    }
    let mut command = CommandBuilder::new("/bin/sh");
    command.args(["-c", "out=$1; shift; exec \"$@\" >\"$out\"", "sh"]);
    command.arg(stdout);
    command.arg(plain.get_program());
    command.args(plain.get_args());
    command.env_clear();
    let set = plain.get_envs();
    set.filter_map(|(name, value)| Some((name, value?)))
        .for_each(|(name, value)| command.env(name, value));
    command.env("TERM", "xterm-256color");
    for (name, value) in variables {
        command.env(name, value);
    }
    command.cwd(environment.repo());
    command
}
