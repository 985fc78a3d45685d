//! Who may talk to the lab. The lab runs processes, so every request is checked: its Host must be a name
//! that we go by (against DNS rebinding), and where a browser says from which page it comes, that page
//! must be ours (against cross-site posts).

use std::net::{IpAddr, Ipv6Addr};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::App;
use super::problem::ApiError;

/// The host names that the lab goes by.
#[derive(Clone, Debug)]
pub struct Names(Vec<String>);

impl Names {
    /// Loopback names, the address that the lab listens on, and further ones (`AEGIS_ALLOWED_HOSTS`).
    pub fn new(listen: IpAddr, further: &[String]) -> Self {
        let mut names = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
        if !listen.is_unspecified() {
            let own = match listen {
                IpAddr::V4(v4) => v4.to_string(),
                IpAddr::V6(v6) => format!("[{v6}]"),
            };
            if !names.contains(&own) {
                names.push(own);
            }
        }
        // A variable that is set to nothing names nothing.
        names.extend(further.iter().filter(|name| !name.is_empty()).cloned());
        Names(names)
    }

    /// Is that authority (`host` or `host:port`) one of ours?
    fn know(&self, authority: &str) -> bool {
        let host = host_of(authority).to_ascii_lowercase();
        self.0.contains(&host)
    }
}

impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

/// `localhost` of `localhost:3000`, `[::1]` of `[::1]:3000`.
fn host_of(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((host, port)) if (port.is_empty() || is_port(port)) && !host.ends_with(':') => host,
        _ => authority,
    }
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<u16>().is_ok()
}

/// A further host name as it was written, if it can be one: the name alone, as a request's Host has it; or nothing.
pub fn host_name(written: &str) -> Result<String, String> {
    let name = written.trim().to_ascii_lowercase();
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let fits = match bare {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)),
    };
    match fits {
        true => Ok(name),
        false => Err("a host name alone is wanted, such as lab.example or [::1], without http:// and port".to_owned()),
    }
}

/// Why a request is refused; `None`: it may pass.
fn refusal(names: &Names, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
    // What is said twice, or not in ASCII, is said by no browser, and believed by nobody.
    let once = |name: &str| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => value.to_str().map(Some).map_err(|_| ()),
            (Some(_), Some(_)) => Err(()),
        }
    };
    let (Ok(host), Ok(origin), Ok(site)) = (once("host"), once("origin"), once("sec-fetch-site")) else {
        return Some("The request says twice, or illegibly, where it goes or where it comes from.");
    };
    let host = host.or_else(|| uri.authority().map(|authority| authority.as_str()));
    let Some(host) = host else { return Some("The request names no host.") };
    if !names.know(host) {
        return Some(
            "The lab does not go by that host name. Open it as localhost, or start it with AEGIS_ALLOWED_HOSTS.",
        );
    }
    if let Some(origin) = origin {
        let same = origin.split_once("://").is_some_and(|(_, authority)| authority.eq_ignore_ascii_case(host));
        if !same {
            return Some("The request comes from another site's page.");
        }
    }
    // Browsers that say where a request comes from are believed when it changes something.
    let changes = !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let ours = matches!(site, None | Some("same-origin" | "none"));
    // A link may lead here from anywhere; what a page loads by itself, such as an image, may not: each
    // visit of the lab starts processes.
    let follows_link = headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
        && headers.get("sec-fetch-dest").is_some_and(|dest| dest == "document");
    if !ours && (changes || !follows_link) {
        return Some("The request comes from another site's page.");
    }
    None
}

/// Refuse requests that are not for us or not from us.
pub async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    match refusal(&app.names, request.method(), request.uri(), request.headers()) {
        None => next.run(request).await,
        Some(why) => ApiError::Forbidden(why).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: Method, headers: &[(&'static str, &str)]) -> Option<&'static str> {
        let names = Names::new(IpAddr::from([127, 0, 0, 1]), &["lab.example".to_owned(), String::new()]);
        let headers = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        refusal(&names, &method, &Uri::from_static("/lab"), &headers)
    }

    #[test]
    fn our_own_names_pass() {
        for host in ["localhost:3000", "127.0.0.1:3000", "[::1]:3000", "LocalHost", "lab.example"] {
            assert_eq!(asked(Method::GET, &[("host", host)]), None, "{host}");
        }
    }

    #[test]
    fn a_rebound_name_is_refused() {
        for host in [
            "evil.example:3000",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
            "10.0.0.1",
            "localhost:99999999",
        ] {
            assert!(asked(Method::GET, &[("host", host)]).is_some(), "{host}");
        }
        assert!(asked(Method::GET, &[]).is_some());
    }

    #[test]
    fn a_further_name_is_a_name_alone() {
        assert_eq!(host_name(" Lab.Example "), Ok("lab.example".to_owned()));
        assert_eq!(host_name("[::1]"), Ok("[::1]".to_owned()));
        for not_a_name in ["http://lab.example", "lab.example:3000", "lab.example/", "*", "::1", "a b"] {
            assert!(host_name(not_a_name).is_err(), "{not_a_name}");
        }
    }

    #[test]
    fn what_is_said_twice_or_illegibly_is_refused() {
        let names = Names::new(IpAddr::from([127, 0, 0, 1]), &[]);
        let asked = |more: &[(&'static str, &[u8])]| {
            let mut headers = HeaderMap::new();
            headers.insert("host", "localhost".parse().unwrap());
            for (name, value) in more {
                headers.append(*name, axum::http::HeaderValue::from_bytes(value).unwrap());
            }
            refusal(&names, &Method::POST, &Uri::from_static("/lab"), &headers)
        };
        assert_eq!(asked(&[]), None);
        for more in [("host", &b"evil.example"[..]), ("origin", b"http://\xff"), ("sec-fetch-site", b"\xff")] {
            assert!(asked(&[more]).is_some(), "{more:?}");
        }
    }

    #[test]
    fn another_sites_page_is_refused() {
        let host = ("host", "localhost:3000");
        assert_eq!(asked(Method::POST, &[host, ("origin", "http://localhost:3000")]), None);
        assert!(asked(Method::POST, &[host, ("origin", "http://localhost:4000")]).is_some());
        assert!(asked(Method::POST, &[host, ("origin", "null")]).is_some());
        assert!(asked(Method::POST, &[host, ("sec-fetch-site", "cross-site")]).is_some());
        assert!(asked(Method::GET, &[host, ("origin", "http://evil.example")]).is_some());
        assert_eq!(asked(Method::POST, &[host]), None, "curl says nothing");
        let from = |mode, dest| {
            asked(
                Method::GET,
                &[host, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", mode), ("sec-fetch-dest", dest)],
            )
        };
        assert_eq!(from("navigate", "document"), None, "a link may lead here");
        assert!(from("no-cors", "image").is_some(), "an image may not");
        assert!(from("navigate", "iframe").is_some(), "a frame may not");
    }
}
