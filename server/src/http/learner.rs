//! Who is asking. A learner is a random 128-bit number in a cookie; whoever holds it commands the live
//! session that it opened. There are no names and no passwords.

use axum::extract::{FromRequestParts, Request};
use axum::http::{HeaderValue, header, request::Parts};
use axum::middleware::Next;
use axum::response::Response;
use std::convert::Infallible;

const COOKIE: &str = "aegis_learner";
/// A year, in seconds.
const KEPT_S: u32 = 31_536_000;

/// The learner who asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Learner(pub String);

impl Learner {
    fn new() -> Self {
        Learner(format!("{:032x}", rand::random::<u128>()))
    }

    /// The learner of a `Cookie` header.
    fn from_cookie(header: &str) -> Option<Self> {
        header
            .split(';')
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, id)| *name == COOKIE && id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()))
            .map(|(_, id)| Learner(id.to_owned()))
    }
}

impl<S: Sync> FromRequestParts<S> for Learner {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // `know` has put it there; a route outside of it knows nobody.
        Ok(parts.extensions.get().cloned().unwrap_or_else(Learner::new))
    }
}

/// Know the learner, or make a new one and hand out the cookie.
pub async fn know(mut request: Request, next: Next) -> Response {
    let known = request.headers().get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let known = known.filter_map(Learner::from_cookie).next();
    let is_new = known.is_none();
    let learner = known.unwrap_or_else(Learner::new);
    request.extensions_mut().insert(learner.clone());
    let mut response = next.run(request).await;
    if is_new {
        let cookie = format!("{COOKIE}={}; Path=/; Max-Age={KEPT_S}; HttpOnly; SameSite=Lax", learner.0);
        if let Ok(value) = HeaderValue::from_str(&cookie) {
            response.headers_mut().append(header::SET_COOKIE, value);
        }
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_number_is_a_learner() {
        let id = "0123456789abcdef0123456789abcdef";
        assert_eq!(Learner::from_cookie(&format!("a=b; aegis_learner={id}")), Some(Learner(id.to_owned())));
        for bad in ["aegis_learner=", "aegis_learner=xyz", "other=0123456789abcdef0123456789abcdef", ""] {
            assert_eq!(Learner::from_cookie(bad), None, "{bad}");
        }
    }
}
