//! A model service on the loopback interface that follows a script and remembers what it was asked.
//!
//! One provider belongs to one scenario. It owns its listening socket and its threads; dropping it
//! ends them.

mod anthropic;
mod gemini;
mod http;
mod openai;
mod request;
mod script;

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::request::Dialect;

pub(crate) use self::request::Request;
pub(crate) use self::script::{Form, Reply, Script, ToolCall, Wish};

/// The longest that a request stays unanswered.
const HANG: Duration = Duration::from_secs(300);

/// The contents of an answer, whatever its format.
#[derive(Debug, Clone)]
enum Content {
    Text(String),
    Call(ToolCall),
}

/// A running provider.
#[derive(Debug)]
pub(crate) struct Provider {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    script: Script,
    repo: String,
    /// The calls behind each wish of a model.
    tools: fn(Wish, &str) -> Vec<ToolCall>,
    requests: Mutex<Vec<Request>>,
    others: Mutex<Vec<String>>,
    is_over: AtomicBool,
}

impl Provider {
    /// Starts a provider that reviews the repository at `repo`.
    pub(crate) fn start(
        script: Script,
        repo: &str,
        tools: fn(Wish, &str) -> Vec<ToolCall>,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            script,
            repo: repo.to_owned(),
            tools,
            requests: Mutex::default(),
            others: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let listening = thread::spawn({
            let shared = Arc::clone(&shared);
            move || listen(&listener, &shared)
        });
        Ok(Self {
            address,
            shared,
            listening: Some(listening),
        })
    }

    /// Returns where it listens, such as `http://127.0.0.1:40123`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests for an answer so far, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }

    /// Returns the method and path of every other request.
    pub(crate) fn others(&self) -> Vec<String> {
        lock(&self.shared.others).clone()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for a connection.
        drop(TcpStream::connect(self.address));
        if let Some(listening) = self.listening.take() {
            listening.join().ok();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn listen(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        let shared = Arc::clone(shared);
        // An engine that hangs up in the middle is none of the provider's business.
        thread::spawn(move || shared.serve(&mut stream).ok());
    }
}

impl Shared {
    fn serve(&self, stream: &mut TcpStream) -> io::Result<()> {
        let Some(request) = http::read(stream)? else {
            return Ok(());
        };
        let path = request.path.as_str();
        let dialect = (request.method == "POST")
            .then(|| Dialect::of(path))
            .flatten();
        let Some(dialect) = dialect else {
            lock(&self.others).push(format!("{} {path}", request.method));
            let (status, body) = side_answer(path);
            return http::send_json(stream, status, &body.to_string());
        };
        let body = serde_json::from_slice(&request.body).unwrap_or_else(|_| {
            let encoding = request.headers.get("content-encoding");
            json!({"unreadable": format!("{} bytes, {encoding:?}", request.body.len())})
        });
        let request = Request::new(path, body, dialect);
        let reply = {
            let mut requests = lock(&self.requests);
            let is_repair = request.is_repair();
            let earlier = requests.iter().filter(|it| it.is_repair() == is_repair);
            let position = earlier.count();
            requests.push(request.clone());
            let replies = if is_repair {
                self.script.repair
            } else {
                self.script.review
            };
            replies.get(position).or(replies.last()).copied()
        };
        self.answer(stream, &request, reply.unwrap_or(Reply::Status(400)))
    }

    fn answer(&self, stream: &mut TcpStream, request: &Request, reply: Reply) -> io::Result<()> {
        let review = || script::review(&self.folder(request));
        let content = match reply {
            Reply::Status(status) => {
                let body = request.dialect.error(status, request);
                return http::send_json(stream, status, &body.to_string());
            }
            Reply::Hang => {
                self.wait(stream, HANG);
                return Ok(());
            }
            Reply::Slow(time) => {
                self.wait(stream, time);
                self.structured(request, review())
            }
            Reply::Review | Reply::Cut => self.structured(request, review()),
            Reply::WrongSchema => self.structured(request, json!({"verdict": "fine"})),
            Reply::Transcription => self.structured(
                request,
                json!({"fixable": true, "confidence": "high", "review": review()}),
            ),
            Reply::NotFixable => self.structured(
                request,
                json!({"fixable": false, "confidence": "high", "review": null}),
            ),
            Reply::Text(form) => Content::Text(form.text(&review())),
            Reply::Tools(wish) => {
                let calls = (self.tools)(wish, &self.folder(request));
                match calls.into_iter().nth(request.tool_results().len()) {
                    Some(call) => Content::Call(call),
                    None => self.structured(request, review()),
                }
            }
        };
        let is_cut = matches!(reply, Reply::Cut);
        if !request.is_streamed() {
            if is_cut {
                return Ok(());
            }
            let body = request.dialect.whole(request, &content);
            return http::send_json(stream, 200, &body.to_string());
        }
        let mut events = request.dialect.events(request, &content);
        if is_cut {
            events.truncate(events.len() / 2);
        }
        http::begin_events(stream)?;
        for event in events {
            stream.write_all(event.as_bytes())?;
            stream.flush()?;
        }
        Ok(())
    }

    /// Returns the folder that the model is told to look at.
    fn folder(&self, request: &Request) -> String {
        request.folder().unwrap_or_else(|| self.repo.clone())
    }

    fn structured(&self, request: &Request, value: Value) -> Content {
        match request.answer_tool() {
            Some(name) => Content::Call(ToolCall {
                name,
                arguments: value,
            }),
            None => Content::Text(value.to_string()),
        }
    }

    /// Waits until the time is over, the other side has hung up, or the provider ends.
    fn wait(&self, stream: &TcpStream, time: Duration) {
        let end = Instant::now() + time;
        stream.set_nonblocking(true).ok();
        while Instant::now() < end && !self.is_over.load(Ordering::SeqCst) {
            match stream.peek(&mut [0]) {
                Ok(0) => break,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => break,
                _ => thread::sleep(Duration::from_millis(20)),
            }
        }
        stream.set_nonblocking(false).ok();
    }
}

/// Answers what is no request to the model.
fn side_answer(path: &str) -> (u16, Value) {
    if path.ends_with("/count_tokens") {
        (200, json!({"input_tokens": 100}))
    } else if path.ends_with(":countTokens") {
        (200, json!({"totalTokens": 100}))
    } else {
        (
            404,
            json!({"error": {"message": "there is no such address"}}),
        )
    }
}

/// Returns one event of an event stream; the name is that of the payload's type when it has one.
fn event(payload: &Value) -> String {
    match payload["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {payload}\n\n"),
        None => format!("data: {payload}\n\n"),
    }
}

/// Returns a text in two parts, so that half of a stream holds half of it.
fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().nth(text.chars().count() / 2);
    let (head, tail) = text.split_at(middle.map_or(0, |(at, _)| at));
    [head, tail]
}

/// Returns the members of an array, none where there is no array.
fn members(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn names<'a>(values: impl Iterator<Item = &'a Value>) -> Vec<String> {
    values
        .filter_map(|value| value["name"].as_str())
        .map(str::to_owned)
        .collect()
}
