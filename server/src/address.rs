//! Addresses of stores that the environment names. What is wrong with one is said with the variable's name,
//! without any password, and with what to do.

use sqlx::postgres::PgConnectOptions;

use crate::lab::LabError;

/// The address of a Postgres, from that variable.
pub(crate) fn postgres(variable: &'static str, url: &str) -> Result<PgConnectOptions, LabError> {
    let wanted = "write it as postgres://user:password@host:5432/database";
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(wrong(variable, url, "it is no address of a Postgres", wanted));
    }
    url.parse().map_err(|error: sqlx::Error| wrong(variable, url, error, wanted))
}

/// The address of a Redis node, from that variable.
pub(crate) fn redis(variable: &'static str, url: &str) -> Result<redis::ConnectionInfo, LabError> {
    let info = redis::IntoConnectionInfo::into_connection_info(url);
    info.map_err(|error| wrong(variable, url, error, "write it as redis://user:password@host:6379"))
}

/// Nobody answers there, or not as hoped.
pub(crate) fn no_answer(variable: &'static str, url: &str, error: impl std::fmt::Display) -> LabError {
    wrong(variable, url, error, "see that the store runs and takes this login from here, or change the variable")
}

fn wrong(variable: &'static str, url: &str, error: impl std::fmt::Display, to_do: &str) -> LabError {
    LabError::Config(format!("{variable} ({}): {error}; {to_do}", without_password(url)))
}

/// The address without what is secret in it: a password, and parameters, which may hold one too.
fn without_password(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), url),
    };
    match rest.rsplit_once('@') {
        Some((login, place)) => format!("{scheme}{}@{place}", login.split(':').next().unwrap_or_default()),
        None => format!("{scheme}{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (url, shown) in [
            ("postgres://me:se:cr@et@host:1/db?password=secret", "postgres://me@host:1/db"),
            ("redis://:secret@host:6379", "redis://@host:6379"),
            ("redis://host", "redis://host"),
            ("me:secret@host", "me@host"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn what_is_wrong_names_the_variable_and_what_to_do() {
        for url in ["host/db", "mysql://me:secret@host/db", "postgres://me:secret@host:port/db"] {
            let error = postgres("DATABASE_URL", url).unwrap_err().to_string();
            assert!(error.starts_with("DATABASE_URL (") && error.contains("postgres://user"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
        let error = redis("AEGIS_REDIS_URLS", "http://me:secret@host").unwrap_err().to_string();
        assert!(error.starts_with("AEGIS_REDIS_URLS (http://me@host)") && !error.contains("secret"), "{error}");
    }
}
