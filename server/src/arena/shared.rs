//! Shared stores: one Postgres and five Redis nodes that somebody else runs and all arenas use. An arena
//! is a database of its own (advisory keys are per database) with a role of its own for replicas, and a
//! prefix before its Redis keys. Their processes are nobody's to disturb here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use locks::ids::Endpoint;
use redis::aio::MultiplexedConnection;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection};
use tokio::time::timeout;

use crate::address;
use crate::lab::LabError;
use crate::link::Upstream;
use crate::replica::control::{PostgresLogin, RedisUser};
use crate::stores::cluster::REPLICA_ROLE;
use crate::stores::reader::{self, READER_ROLE};
use crate::stores::redis_node;
use crate::stores::template::{ARENA, migrate};

/// The variables that name the stores.
const POSTGRES_URL: &str = "AEGIS_POSTGRES_URL";
const REDIS_URLS: &str = "AEGIS_REDIS_URLS";

/// How long making or dropping a database may take.
const LIMIT: Duration = Duration::from_secs(30);
/// Names the database and the role of an arena, in the arena's folder, for a later lab to drop.
const NOTE: &str = "shared";
/// What names of databases and roles begin with.
const PREFIX: &str = "aegis_arena_";

/// Where the shared stores are.
#[derive(Clone, Debug)]
pub struct Means {
    postgres: PgConnectOptions,
    redis: Vec<redis::ConnectionInfo>,
    /// Where links lead.
    upstreams: BTreeMap<Endpoint, Upstream>,
}

impl Means {
    /// Find the stores, and see that all of them answer.
    pub async fn find(postgres_url: &str, redis_urls: &[String]) -> Result<Means, LabError> {
        let postgres = address::postgres(POSTGRES_URL, postgres_url)?;
        if redis_urls.len() != usize::from(Endpoint::REDIS_NODES) {
            return Err(LabError::Config(format!(
                "{REDIS_URLS} names {} nodes, and the lab needs {}: give one URL a node, with commas between",
                redis_urls.len(),
                Endpoint::REDIS_NODES
            )));
        }
        let redis = redis_urls.iter().map(|url| address::redis(REDIS_URLS, url));
        let redis: Vec<redis::ConnectionInfo> = redis.collect::<Result<_, _>>()?;
        let mut upstreams = BTreeMap::new();
        let upstream = match postgres.get_socket() {
            Some(folder) => Upstream::Unix(folder.join(format!(".s.PGSQL.{}", postgres.get_port()))),
            None => Upstream::Tcp { host: postgres.get_host().to_owned(), port: postgres.get_port() },
        };
        upstreams.insert(Endpoint::Postgres, upstream);
        for ((number, node), url) in (1..).zip(&redis).zip(redis_urls) {
            let upstream = match node.addr() {
                redis::ConnectionAddr::Unix(path) => Upstream::Unix(path.clone()),
                redis::ConnectionAddr::Tcp(host, port) => Upstream::Tcp { host: host.clone(), port: *port },
                _ => {
                    let text = format!("{REDIS_URLS}: links to the nodes cannot be encrypted; write redis://");
                    return Err(LabError::Config(text));
                }
            };
            upstreams.insert(Endpoint::Redis(number), upstream);
            let answers = redis_node::connect(node.clone()).await;
            answers.map_err(|error| address::no_answer(REDIS_URLS, url, error))?;
        }
        let means = Means { postgres, redis, upstreams };
        let answers = async { Ok::<_, LabError>(means.admin().await?.close().await?) };
        answers.await.map_err(|error| address::no_answer(POSTGRES_URL, postgres_url, error))?;
        Ok(means)
    }

    async fn admin(&self) -> Result<PgConnection, LabError> {
        match timeout(LIMIT, self.postgres.connect()).await {
            Ok(connection) => Ok(connection?),
            Err(_) => Err(LabError::Silent { what: "the shared Postgres".to_owned(), limit: LIMIT }),
        }
    }

    /// Drop what an arena of that name has in the stores.
    async fn drop_all(&self, name: &str) -> Result<(), LabError> {
        let mut admin = self.admin().await?;
        // `with (force)` ends sessions that replicas still have. The role goes second: it has rights in the
        // database.
        for sql in [
            format!("drop database if exists {name}_bank with (force)"),
            format!("drop database if exists {name} with (force)"),
            format!("drop role if exists {name}, {}", reader_of(name)),
        ] {
            sqlx::query(AssertSqlSafe(sql)).execute(&mut admin).await?;
        }
        admin.close().await?;
        for node in &self.redis {
            let mut connection = redis_node::connect(node.clone()).await?;
            forget(&mut connection, &format!("{name}:*")).await?;
            redis::cmd("ACL").arg("DELUSER").arg(reader_of(name)).query_async::<()>(&mut connection).await?;
        }
        Ok(())
    }

    /// Drop what the arenas of a crashed lab left in the stores; `lab` is its folder.
    pub(crate) async fn drop_left_over(&self, lab: &Path) {
        for arena in fs::read_dir(lab).into_iter().flatten().filter_map(Result::ok) {
            let Ok(name) = fs::read_to_string(arena.path().join(NOTE)) else { continue };
            let ours = name.strip_prefix(PREFIX).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_hexdigit()));
            if !ours {
                continue;
            }
            if let Err(error) = self.drop_all(&name).await {
                tracing::warn!(%name, %error, "a left-over arena could not be dropped from the shared stores");
            }
        }
    }
}

/// The role and Redis user of an arena that may only read.
fn reader_of(name: &str) -> String {
    format!("{name}_reader")
}

/// Delete keys by pattern, without blocking the node for others.
async fn forget(connection: &mut MultiplexedConnection, pattern: &str) -> Result<(), LabError> {
    let mut cursor = 0u64;
    loop {
        let (next, keys): (u64, Vec<String>) = redis::cmd("SCAN")
            .arg(cursor)
            .arg("MATCH")
            .arg(pattern)
            .arg("COUNT")
            .arg(1000)
            .query_async(connection)
            .await?;
        if !keys.is_empty() {
            redis::cmd("UNLINK").arg(keys).query_async::<()>(connection).await?;
        }
        if next == 0 {
            return Ok(());
        }
        cursor = next;
    }
}

/// One arena's part of the shared stores.
#[derive(Debug)]
pub(super) struct Shared {
    means: Means,
    /// Database and role.
    name: String,
    /// The role, and the Redis user, that may only read.
    reader: String,
    key_prefix: String,
    password: String,
}

impl Shared {
    pub(super) async fn open(means: &Means, folder: &Path) -> Result<Shared, LabError> {
        let name = format!("{PREFIX}{:016x}", rand::random::<u64>());
        let note: PathBuf = folder.join(NOTE);
        // Noted first: what is half made when the lab crashes is dropped too.
        crate::stores::at(&note, fs::write(&note, &name))?;
        let key_prefix = format!("{name}:");
        let password = format!("{:032x}", rand::random::<u128>());
        let reader = reader_of(&name);
        let shared = Shared { means: means.clone(), name, reader, key_prefix, password };
        match timeout(LIMIT, shared.make()).await {
            Ok(made) => made?,
            Err(_) => return Err(LabError::Silent { what: "the shared Postgres".to_owned(), limit: LIMIT }),
        }
        Ok(shared)
    }

    async fn make(&self) -> Result<(), LabError> {
        let (name, reader) = (&self.name, &self.reader);
        let mut admin = self.means.admin().await?;
        sqlx::query(AssertSqlSafe(format!("create database {name}"))).execute(&mut admin).await?;
        admin.close().await?;
        let own = migrate(&ARENA, self.postgres_options()).await?;
        for sql in [
            format!("create role {name} login password '{}' in role {REPLICA_ROLE}", self.password),
            format!("revoke connect on database {name} from public"),
            format!("create role {reader} login password '{}' in role {READER_ROLE}", self.password),
            format!("grant connect on database {name} to {name}, {reader}"),
        ] {
            sqlx::query(AssertSqlSafe(sql)).execute(&own).await?;
        }
        own.close().await;
        Ok(())
    }

    pub(super) fn postgres_options(&self) -> PgConnectOptions {
        self.means.postgres.clone().database(&self.name)
    }

    pub(super) fn reader_options(&self) -> PgConnectOptions {
        reader::postgres(self.postgres_options(), &self.reader).password(&self.password)
    }

    /// The Redis user that may only read, and its password.
    pub(super) fn reader(&self) -> (&str, &str) {
        (&self.reader, &self.password)
    }

    pub(super) fn postgres_login(&self) -> PostgresLogin {
        PostgresLogin { user: self.name.clone(), database: self.name.clone(), password: Some(self.password.clone()) }
    }

    pub(super) fn key_prefix(&self) -> &str {
        &self.key_prefix
    }

    pub(super) fn redis_users(&self) -> BTreeMap<Endpoint, RedisUser> {
        let user = |(node, info): (u8, &redis::ConnectionInfo)| {
            let settings = info.redis_settings();
            let user = RedisUser {
                user: settings.username().map(str::to_owned),
                password: settings.password().map(str::to_owned),
                database: settings.db(),
            };
            (Endpoint::Redis(node), user)
        };
        (1..).zip(&self.means.redis).map(user).collect()
    }

    pub(super) fn redis_url(&self, node: u8) -> Option<redis::ConnectionInfo> {
        self.means.redis.get(usize::from(node).checked_sub(1)?).cloned()
    }

    pub(super) fn upstream(&self, endpoint: Endpoint) -> Option<Upstream> {
        self.means.upstreams.get(&endpoint).cloned()
    }

    pub(super) async fn close(&self) {
        match timeout(LIMIT, self.means.drop_all(&self.name)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "an arena could not be dropped from the shared stores"),
            Err(_) => tracing::warn!("the shared stores did not answer while an arena was dropped"),
        }
    }
}
