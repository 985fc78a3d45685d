//! The session on the bank: HTTP/1.1 over one pinned connection.

use std::rc::Rc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::{Method, Request, header};
use hyper_util::rt::TokioIo;
use locks::event::EffectAnswer;
use locks::ids::Endpoint;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::{Client, within};
use crate::bank::wire::{Reply, SESSION_HEADER, SETTLEMENTS};
use crate::replica::me::Me;

/// Most bytes of an answer that are read.
const MOST: usize = 64 * 1024;

/// How the session on the bank is opened.
pub(in crate::replica) struct Bank {
    port: u16,
    name: String,
}

impl Bank {
    /// The session of that name within the replica; `None` without a link to the bank.
    pub(in crate::replica) fn new(me: &Rc<Me>, session: &str) -> Option<Bank> {
        Some(Bank { port: me.port(Endpoint::Bank)?, name: me.wire_name(session) })
    }
}

/// An open connection. Dropping it closes it at once.
pub(in crate::replica) struct Conn {
    requests: SendRequest<Full<Bytes>>,
    io: JoinHandle<hyper::Result<()>>,
}

impl Drop for Conn {
    fn drop(&mut self) {
        self.io.abort();
    }
}

impl Client for Bank {
    type Conn = Conn;
    /// A settlement, as JSON.
    type Call = String;
    type Answer = EffectAnswer;
    const NOT_SENT: EffectAnswer = EffectAnswer::Unknown;
    const UNKNOWN: EffectAnswer = EffectAnswer::Unknown;

    async fn open(&self, limit: Duration) -> Result<Conn, String> {
        let stream = within(limit, TcpStream::connect(("127.0.0.1", self.port))).await?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        let (requests, connection) = within(limit, handshake(TokioIo::new(stream))).await?;
        Ok(Conn { requests, io: tokio::task::spawn_local(connection) })
    }

    async fn call(&self, conn: &mut Conn, settlement: String) -> Result<EffectAnswer, String> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(SETTLEMENTS)
            .header(header::HOST, "bank")
            .header(header::CONTENT_TYPE, "application/json")
            .header(SESSION_HEADER, &self.name)
            .body(Full::from(settlement))
            .map_err(|error| error.to_string())?;
        let response = conn.requests.send_request(request).await.map_err(|error| error.to_string())?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), MOST).collect().await.map_err(|error| error.to_string())?;
        Ok(Reply::read(status, &body.to_bytes()).map_or(EffectAnswer::Unknown, |reply| reply.answer()))
    }

    async fn closed(&self, conn: &mut Conn) -> String {
        match (&mut conn.io).await {
            Ok(Err(error)) => error.to_string(),
            Ok(Ok(())) | Err(_) => "closed by the bank".to_owned(),
        }
    }
}
