//! Which store programs this machine has. They are looked for where people and packages put them; what
//! is missing or too old is an error that says what to install.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::StoreError;

/// The oldest Postgres that will do (major version).
pub const OLDEST_POSTGRES: (u32, u32) = (13, 0);
/// The oldest Redis that will do; any Valkey will.
pub const OLDEST_REDIS: (u32, u32) = (6, 2);

/// A program and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Major and minor version.
    pub version: (u32, u32),
    /// The version as the program prints it.
    pub text: String,
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text, self.path.display())
    }
}

/// A Postgres: two programs of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Postgres {
    /// The server.
    pub postgres: Program,
    /// What makes clusters.
    pub initdb: PathBuf,
}

impl Postgres {
    /// The Postgres of this machine: that of the search path, or else the newest that packages installed.
    pub fn find() -> Result<Postgres, StoreError> {
        Postgres::among(&all_postgres())
    }

    /// A Postgres of exactly that major version, which an existing cluster needs.
    pub fn find_major(major: u32) -> Result<Postgres, StoreError> {
        let mut all = all_postgres();
        all.retain(|one| one.postgres.version.0 == major);
        all.into_iter().next().ok_or_else(|| StoreError::Missing {
            program: "postgres",
            install: format!(
                "The control plane's cluster was made by Postgres {major}: install that version{}, or move the \
                 cluster away",
                if cfg!(target_os = "macos") { format!(" (brew install postgresql@{major})") } else { String::new() }
            ),
        })
    }

    fn among(all: &[Postgres]) -> Result<Postgres, StoreError> {
        let Some(best) = all.iter().find(|one| one.postgres.version >= OLDEST_POSTGRES).or(all.first()) else {
            return Err(StoreError::Missing { program: "postgres", install: install_postgres() });
        };
        if best.postgres.version < OLDEST_POSTGRES {
            return Err(StoreError::TooOld {
                program: best.postgres.path.display().to_string(),
                found: best.postgres.text.clone(),
                needed: format!("Postgres {}", OLDEST_POSTGRES.0),
                install: install_postgres(),
            });
        }
        Ok(best.clone())
    }
}

/// Folders that packages put versions of Postgres into, and what those folders' names begin with.
const PACKAGED: [(&str, &str); 5] = [
    ("/usr/lib/postgresql", ""),
    ("/usr", "pgsql-"),
    ("/opt/homebrew/opt", "postgresql"),
    ("/usr/local/opt", "postgresql"),
    ("/Applications/Postgres.app/Contents/Versions", ""),
];

/// Every Postgres: the search path's first, then by version, newest first.
fn all_postgres() -> Vec<Postgres> {
    let mut packaged: Vec<Postgres> = PACKAGED
        .iter()
        .filter_map(|&(parent, begin)| Some((fs::read_dir(parent).ok()?, begin)))
        .flat_map(|(entries, begin)| {
            entries.filter_map(Result::ok).filter(move |entry| entry.file_name().to_string_lossy().starts_with(begin))
        })
        .filter_map(|entry| postgres_in(&entry.path().join("bin")))
        .collect();
    packaged.sort_by_key(|one| std::cmp::Reverse(one.postgres.version));
    search_path().iter().find_map(|folder| postgres_in(folder)).into_iter().chain(packaged).collect()
}

/// The Postgres of a folder: `postgres` with `initdb` beside it. A link is followed, because Debian's
/// search path holds links to single programs, whose neighbours are elsewhere.
fn postgres_in(folder: &Path) -> Option<Postgres> {
    let postgres = version_of(&folder.join("postgres"))?;
    let real = fs::canonicalize(&postgres.path).ok()?;
    let initdb =
        [real.parent()?, folder].into_iter().map(|folder| folder.join("initdb")).find(|path| path.is_file())?;
    Some(Postgres { postgres, initdb })
}

/// The Redis of this machine: `redis-server` or `valkey-server`.
pub fn find_redis() -> Result<Program, StoreError> {
    let mut folders = search_path();
    folders.extend(["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/sbin"].map(PathBuf::from));
    let found: Vec<Program> = ["redis-server", "valkey-server"]
        .iter()
        .filter_map(|name| folders.iter().find_map(|folder| version_of(&folder.join(name))))
        .collect();
    choose_redis(&found)
}

fn choose_redis(found: &[Program]) -> Result<Program, StoreError> {
    let Some(best) = found.iter().find(|one| one.version >= OLDEST_REDIS).or(found.first()) else {
        return Err(StoreError::Missing { program: "redis-server or valkey-server", install: install_redis() });
    };
    if best.version < OLDEST_REDIS {
        return Err(StoreError::TooOld {
            program: best.path.display().to_string(),
            found: best.text.clone(),
            needed: format!("Redis {}.{}", OLDEST_REDIS.0, OLDEST_REDIS.1),
            install: install_redis(),
        });
    }
    Ok(best.clone())
}

fn search_path() -> Vec<PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}

/// Ask a program for its version; `None` if it is not there or does not say.
fn version_of(path: &Path) -> Option<Program> {
    if !path.is_file() {
        return None;
    }
    let output = Command::new(path).arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    Some(Program { path: path.to_owned(), version: parse_version(&text)?, text: short(&text) })
}

/// The first number with a dot, or the number behind `(PostgreSQL)`: `Redis server v=7.0.15 sha=...`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    text.split_whitespace().find_map(|word| {
        let word = word.trim_start_matches("v=");
        let mut numbers = word.split('.');
        let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u32>();
        let major = digits(numbers.next()?).ok()?;
        Some((major, numbers.next().map_or(0, |minor| digits(minor).unwrap_or(0))))
    })
}

/// `Redis server v=7.0.15 sha=00000000:0 malloc=...` says too much.
fn short(text: &str) -> String {
    text.split(" sha=")
        .next()
        .unwrap_or(text)
        .replace("v=", "")
        .replace(" (PostgreSQL)", "")
        .replace("postgres ", "Postgres ")
}

fn install_postgres() -> String {
    how_to_install("postgresql", "postgresql-server", "postgresql@17")
}

fn install_redis() -> String {
    how_to_install("redis-server", "redis (or valkey)", "redis")
}

fn how_to_install(debian: &str, other: &str, brew: &str) -> String {
    if cfg!(target_os = "macos") {
        return format!("Install it: brew install {brew}");
    }
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    if ["debian", "ubuntu"].iter().any(|name| release.contains(name)) {
        format!("Install it: sudo apt-get install {debian}")
    } else {
        format!("Install the package {other} (Debian and Ubuntu call it {debian})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(version: (u32, u32)) -> Program {
        Program { path: "/x/program".into(), version, text: format!("Program {}.{}", version.0, version.1) }
    }

    #[test]
    fn versions_as_programs_print_them() {
        assert_eq!(parse_version("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some((15, 18)));
        assert_eq!(parse_version("postgres (PostgreSQL) 18beta1"), Some((18, 0)));
        assert_eq!(parse_version("Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64"), Some((7, 0)));
        assert_eq!(parse_version("Valkey server v=8.1.1 sha=00000000:0"), Some((8, 1)));
        assert_eq!(parse_version("no number"), None);
    }

    #[test]
    fn what_is_too_old_or_missing_says_what_to_install() {
        let old = Postgres { postgres: program((12, 4)), initdb: "/x/initdb".into() };
        let error = Postgres::among(std::slice::from_ref(&old)).unwrap_err().to_string();
        assert!(error.contains("Program 12.4") && error.contains("Postgres 13") && error.contains("nstall"), "{error}");
        let new = Postgres { postgres: program((17, 0)), initdb: "/y/initdb".into() };
        assert_eq!(Postgres::among(&[old, new.clone()]).unwrap(), new);
        let error = choose_redis(&[program((6, 0))]).unwrap_err().to_string();
        assert!(error.contains("Redis 6.2") && error.contains("redis"), "{error}");
        let error = choose_redis(&[]).unwrap_err().to_string();
        assert!(error.contains("valkey-server") && error.contains("nstall"), "{error}");
        assert!(Postgres::among(&[]).unwrap_err().to_string().contains("postgresql"));
    }
}
