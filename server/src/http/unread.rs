//! Requests that no handler has read: the framework refuses them in a word of plain text, or in none. Here
//! they are answered as every other error is: what happened, and what to do.

use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use locks::event::Whose;

use super::pages;
use super::problem::{ApiError, PROBLEM, respond};

/// The longest that the framework says, in bytes.
const WORDS: usize = 2048;

/// Answer what is refused in other words: with a page whoever wants one, others in problem details. Pages tell of
/// errors themselves.
pub async fn explain(request: Request, next: Next) -> Response {
    let page = wants_page(request.method(), request.uri().path(), request.headers());
    let response = next.run(request).await;
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with(PROBLEM) || kind.starts_with("text/html") {
        return response;
    }
    let (title, whose) = match response.status() {
        StatusCode::NOT_FOUND => ("Not found", Whose::Yours),
        StatusCode::METHOD_NOT_ALLOWED => ("Not possible here", Whose::Yours),
        StatusCode::PAYLOAD_TOO_LARGE => ("Too long", Whose::Yours),
        StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::UNPROCESSABLE_ENTITY => {
            ("Not understood", Whose::Yours)
        }
        StatusCode::SERVICE_UNAVAILABLE => ("Too slow", Whose::Lab),
        _ => return response,
    };
    let (mut parts, body) = response.into_parts();
    let words = to_bytes(body, WORDS).await.unwrap_or_default();
    let detail = detail(parts.status, String::from_utf8_lossy(&words).trim());
    let answer = match page {
        true => pages::refused(parts.status, title, detail, whose),
        false => respond(parts.status, title, detail, whose),
    };
    for name in [header::CONTENT_TYPE, header::CONTENT_LENGTH, header::CONTENT_ENCODING] {
        parts.headers.remove(name);
    }
    let (told, body) = answer.into_parts();
    parts.headers.extend(told.headers);
    Response::from_parts(parts, body)
}

/// Is it a person's browser that opens an address?
fn wants_page(method: &Method, path: &str, headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    method == Method::GET && !path.starts_with("/api/") && accepts.contains("text/html")
}

fn detail(status: StatusCode, words: &str) -> String {
    match status {
        StatusCode::NOT_FOUND => "There is nothing at this address. GET /api/runs lists your runs.".to_owned(),
        StatusCode::METHOD_NOT_ALLOWED => {
            "This address does not take that method; the header `Allow` says which it takes.".to_owned()
        }
        StatusCode::PAYLOAD_TOO_LARGE => {
            "The body is too long. An action has at most 64 kB, a file to import at most 64 MB.".to_owned()
        }
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            "Send the body as JSON, with the header `Content-Type: application/json`.".to_owned()
        }
        StatusCode::SERVICE_UNAVAILABLE => "The lab did not answer in time. Try again.".to_owned(),
        _ if words.is_empty() => "The request could not be read. Look at its address and its body.".to_owned(),
        _ => format!("{}. Look at the request's address and body.", words.trim_end_matches('.')),
    }
}

/// For addresses of the programming interface that there are not.
pub async fn nothing_there() -> Response {
    ApiError::NotFound("address; GET /api/runs lists your runs").into_response()
}
