//! As much of HTTP/1.1 as engines speak to a model service. Every connection carries one request.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::TcpStream;

/// The longest body that is read, in bytes.
const MAX_BODY: u64 = 64 << 20;

/// A request as it came.
#[derive(Debug)]
pub(crate) struct HttpRequest {
    /// `GET`, `POST`, ...
    pub(crate) method: String,
    /// The path, without the query.
    pub(crate) path: String,
    /// The headers; names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// The body.
    pub(crate) body: Vec<u8>,
}

/// Reads a request; `None` when the other side hung up without one.
pub(crate) fn read(stream: &TcpStream) -> io::Result<Option<HttpRequest>> {
    let mut reader = BufReader::new(stream);
    let first = line(&mut reader)?;
    let mut words = first.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let mut headers = BTreeMap::new();
    loop {
        let header = line(&mut reader)?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        headers.insert(name.trim().to_ascii_lowercase(), value.trim().to_owned());
    }
    let has = |name: &str, value: &str| {
        let found: Option<&String> = headers.get(name);
        found.is_some_and(|found| found.to_ascii_lowercase().contains(value))
    };
    if has("expect", "100-continue") {
        (&mut &*stream).write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    let body = if has("transfer-encoding", "chunked") {
        chunks(&mut reader)?
    } else {
        let length = headers.get("content-length").map(|text| text.parse());
        let length = length.transpose().map_err(io::Error::other)?.unwrap_or(0);
        take(&mut reader, length)?
    };
    Ok(Some(HttpRequest {
        method: method.to_owned(),
        path: target.split('?').next().unwrap_or(target).to_owned(),
        headers,
        body,
    }))
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    reader.take(64 << 10).read_until(b'\n', &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

fn take(reader: &mut impl BufRead, length: u64) -> io::Result<Vec<u8>> {
    if length > MAX_BODY {
        return Err(io::Error::other("the body is too long"));
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    Ok(body)
}

fn chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = line(reader)?;
        let size = size.split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(size, 16).map_err(io::Error::other)?;
        body.append(&mut take(reader, size)?);
        line(reader)?;
        if size == 0 {
            return Ok(body);
        }
    }
}

/// Sends an answer with a JSON body.
pub(crate) fn send_json(stream: &mut TcpStream, status: u16, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}",
        phrase(status)
    )?;
    stream.flush()
}

/// Begins an event stream, which ends with the connection.
pub(crate) fn begin_events(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n\
          connection: close\r\n\r\n",
    )?;
    stream.flush()
}

fn phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        529 => "Overloaded",
        _ => "Status",
    }
}
