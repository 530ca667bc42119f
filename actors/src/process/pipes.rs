//! Our ends of a child's standard streams.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::ChildStdin;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::model::{ErrorCode, Failure, Reason};

const CHUNK: usize = 64 << 10;

/// The reading end of one of the child's streams.
pub(super) struct Pipe<R> {
    reader: Option<R>,
    buffer: Vec<u8>,
    taken: usize,
    limit: usize,
}

impl<R: AsyncRead + Unpin> Pipe<R> {
    pub(super) fn new(reader: Option<R>, limit: usize) -> Self {
        Self {
            reader,
            buffer: vec![0; CHUNK],
            taken: 0,
            limit,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.reader.is_some()
    }

    pub(super) async fn read(&mut self) -> io::Result<usize> {
        match &mut self.reader {
            Some(reader) => reader.read(&mut self.buffer).await,
            None => std::future::pending().await,
        }
    }

    /// Returns the bytes of a read; `None` at the stream's end.
    pub(super) fn take(
        &mut self,
        name: &str,
        read: &io::Result<usize>,
    ) -> Result<Option<&[u8]>, Failure> {
        let Ok(size @ 1..) = *read else {
            self.reader = None;
            return Ok(None);
        };
        self.taken += size;
        if self.taken > self.limit {
            return Err(Failure::new(
                ErrorCode::ReviewerFailed,
                format!(
                    "the engine printed more than {} bytes on {name}",
                    self.limit
                ),
            )
            .reason(Reason::OutputLimit));
        }
        Ok(Some(&self.buffer[..size]))
    }

    pub(super) fn discard(&mut self, read: &io::Result<usize>) {
        if !matches!(read, Ok(1..)) {
            self.reader = None;
        }
    }
}

/// The writing end of the child's standard input. Writing happens in a task of its own, because a
/// child may print before it reads, or never read.
pub(super) struct Input {
    queue: Option<mpsc::UnboundedSender<Vec<u8>>>,
    /// Ends the task with the child.
    _writer: JoinSet<()>,
}

impl Input {
    pub(super) fn feed(stdin: Option<ChildStdin>, first: Vec<u8>, keep_open: bool) -> Self {
        let mut writer = JoinSet::new();
        let Some(mut stdin) = stdin else {
            return Self {
                queue: None,
                _writer: writer,
            };
        };
        let (queue, mut lines) = mpsc::unbounded_channel::<Vec<u8>>();
        writer.spawn(async move {
            // A child that reads no more (EPIPE) may still have an answer.
            if stdin.write_all(&first).await.is_err() {
                return;
            }
            drop(first);
            while let Some(line) = lines.recv().await {
                if stdin.write_all(&line).await.is_err() {
                    return;
                }
            }
        });
        Self {
            queue: keep_open.then_some(queue),
            _writer: writer,
        }
    }

    pub(super) fn write(&self, line: String) {
        let mut bytes = line.into_bytes();
        bytes.push(b'\n');
        match &self.queue {
            // The task is gone when the child reads no more.
            Some(queue) => drop(queue.send(bytes)),
            None => tracing::debug!("a line for a closed standard input was dropped"),
        }
    }

    /// Closes standard input once everything queued has been written.
    pub(super) fn close(&mut self) {
        self.queue = None;
    }
}
