//! Clusters that others are copied from, as every arena's Postgres is: `initdb` and whatever fills it done
//! once, kept under the data folder, keyed by everything that it was made from. Copying takes a tenth of a
//! second, making one takes seconds. Whoever uses one holds its lock together with all others who do; one of another
//! key whose lock is free serves nobody, and is removed.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgPool};

use super::cluster::{Cluster, DATABASE, LAB_LOGINS, Means, shut_down};
use super::{StoreError, at, private_folder, write_secret};
use crate::bank;
use crate::warden::User;

/// What an arena's database consists of.
pub static ARENA: Migrator = sqlx::migrate!("../migrations/arena");

/// Settings of an arena's Postgres. Nothing survives the machine, so nothing is flushed; but a commit is
/// on its way to the kernel before it is answered (`synchronous_commit`), because a restart of Postgres
/// alone must not undo a grant that a replica has been told of.
const SETTINGS: &str = "\
listen_addresses = ''
unix_socket_permissions = 0700
max_connections = 600
shared_buffers = 16MB
fsync = off
full_page_writes = off
synchronous_commit = on
wal_level = minimal
max_wal_senders = 0
min_wal_size = 2MB
max_wal_size = 64MB
dynamic_shared_memory_type = mmap
jit = off
log_checkpoints = off
timezone = 'UTC'
log_timezone = 'UTC'
datestyle = 'iso, mdy'
";

/// Counted up when a template is made in another way.
const FORMAT: &str = "4";

/// How long a template's Postgres may take to shut down.
const SHUT_LIMIT: Duration = Duration::from_secs(20);

/// How long a connection to it may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// What a template is made from.
pub struct Recipe {
    /// Names its folders, apart from those of other recipes.
    pub kind: &'static str,
    /// Settings of the cluster.
    pub settings: String,
    /// Who may log in, and how, besides the superuser.
    pub logins: &'static str,
    /// Counted up when it is made in another way.
    pub format: &'static str,
    /// Whatever else it is made from.
    pub sources: Vec<Vec<u8>>,
    /// Fills the cluster, which runs.
    pub fill: for<'a> fn(&'a Cluster) -> BoxFuture<'a, Result<(), StoreError>>,
}

/// What arenas' Postgres is copied from.
pub fn arena() -> Recipe {
    Recipe {
        kind: "arena",
        settings: SETTINGS.to_owned(),
        logins: LAB_LOGINS,
        format: FORMAT,
        sources: ARENA.iter().chain(bank::MIGRATIONS.iter()).map(|migration| migration.checksum.to_vec()).collect(),
        fill: |cluster| Box::pin(fill(cluster)),
    }
}

/// A finished template.
#[derive(Clone, Debug)]
pub struct Template {
    folder: PathBuf,
    password: String,
    _in_use: Arc<File>,
}

impl Template {
    /// The template for this Postgres, made if it is not there. The caller holds the folder's lock.
    pub async fn ready(recipe: &Recipe, folder: &Path, sockets: &Path, means: &Means) -> Result<Template, StoreError> {
        let key = key(recipe, &means.postgres.postgres.text);
        let finished = folder.join(&key);
        let password = match fs::read_to_string(finished.join("password")) {
            Ok(password) => password,
            Err(_) => Template::make(recipe, folder, &key, sockets, means).await?,
        };
        let in_use = at(&finished, open_lock(&finished))?;
        at(&finished, in_use.lock_shared())?;
        remove_unused(folder, recipe.kind, &key);
        Ok(Template { folder: finished, password, _in_use: Arc::new(in_use) })
    }

    /// Make it; its password.
    async fn make(
        recipe: &Recipe,
        folder: &Path,
        key: &str,
        sockets: &Path,
        means: &Means,
    ) -> Result<String, StoreError> {
        let password = format!("{:032x}", rand::random::<u128>());
        // Made beside, and named only when it is finished: half a template is never used.
        let making = folder.join(format!("{key}.new"));
        if making.exists() {
            at(&making, fs::remove_dir_all(&making))?;
        }
        private_folder(&making, means.user.as_ref())?;
        let cluster = Cluster {
            data: making.join("cluster"),
            sockets: sockets.to_owned(),
            log: making.join("log"),
            password: password.clone(),
        };
        cluster.init(means, &recipe.settings, recipe.logins).await?;
        let process = cluster.start(means).await?;
        let filled = (recipe.fill)(&cluster).await;
        shut_down(&process, SHUT_LIMIT).await?;
        filled?;
        let file = making.join("password");
        at(&file, write_secret(&file, &password))?;
        let finished = folder.join(key);
        at(&finished, fs::rename(&making, &finished))?;
        Ok(password)
    }

    /// Copy the cluster.
    pub fn copy(&self, to: &Path, user: Option<&User>) -> Result<(), StoreError> {
        at(to, copy_tree(&self.folder.join("cluster"), to, user))
    }

    /// The superuser's password in every copy.
    pub fn password(&self) -> &str {
        &self.password
    }
}

fn open_lock(template: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(template.join("lock"))
}

/// Remove templates of that kind and other keys that nobody uses, and halves of templates: whoever makes one holds
/// the folder's lock, as the caller does. One that cannot be removed is in nobody's way.
fn remove_unused(folder: &Path, kind: &str, key: &str) {
    let of_kind = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.and_then(|name| name.strip_prefix(kind)).is_some_and(|rest| rest.starts_with('-'))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    for other in entries.filter(|path| path.is_dir() && !path.ends_with(key) && of_kind(path)) {
        let removed = open_lock(&other).and_then(|lock| match lock.try_lock() {
            Ok(()) => fs::remove_dir_all(&other),
            Err(_) => Ok(()),
        });
        if let Err(error) = removed {
            tracing::warn!(template = %other.display(), %error, "a template that nobody uses could not be removed");
        }
    }
}

/// Apply migrations, and hand over the one connection that it took.
pub(crate) async fn migrate(migrations: &Migrator, options: PgConnectOptions) -> Result<PgPool, StoreError> {
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(CONNECT_LIMIT).connect_with(options).await?;
    migrations.run(&pool).await?;
    Ok(pool)
}

/// Give the new cluster the arena's database and the bank's, and take away what no arena needs: every
/// database is some three hundred files to copy.
async fn fill(cluster: &Cluster) -> Result<(), StoreError> {
    let arena = cluster.superuser(DATABASE);
    let bank = bank::database_of(&arena);
    let mut admin = cluster.superuser("template1").connect().await?;
    for sql in [
        format!("alter database postgres rename to {DATABASE}"),
        format!("create database {}", bank.get_database().unwrap_or_default()),
        "alter database template0 is_template false".to_owned(),
        "drop database template0".to_owned(),
    ] {
        sqlx::query(AssertSqlSafe(sql)).execute(&mut admin).await?;
    }
    admin.close().await?;
    for (options, migrations) in [(arena, &ARENA), (bank, &bank::MIGRATIONS)] {
        let pool = migrate(migrations, options).await?;
        // Statistics, so that plans do not change in the middle of a run when the first ones are gathered.
        sqlx::query("vacuum analyze").execute(&pool).await?;
        pool.close().await;
    }
    // Twice, so that log segments from before the first are gone with the second.
    let mut admin = cluster.superuser("template1").connect().await?;
    for _ in 0..2 {
        sqlx::query("checkpoint").execute(&mut admin).await?;
    }
    admin.close().await?;
    Ok(())
}

/// Names everything that a template is made from.
fn key(recipe: &Recipe, version: &str) -> String {
    let mut hash = Sha256::new();
    hash.update(version);
    hash.update(&recipe.settings);
    hash.update(recipe.logins);
    hash.update(recipe.format);
    recipe.sources.iter().for_each(|source| hash.update(source));
    let hash = hash.finalize();
    let digits: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digits}", recipe.kind)
}

fn copy_tree(from: &Path, to: &Path, user: Option<&User>) -> io::Result<()> {
    fs::create_dir(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target, user)?;
        } else {
            fs::copy(entry.path(), &target)?;
            if let Some(user) = user {
                chown(&target, Some(user.uid), Some(user.gid))?;
            }
        }
    }
    if let Some(user) = user {
        chown(to, Some(user.uid), Some(user.gid))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_that_nobody_uses_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["arena-mine", "arena-old", "arena-used", "arena-mine.new", "homework-other"] {
            fs::create_dir_all(folder.path().join(name).join("cluster")).unwrap();
        }
        fs::write(folder.path().join("lock"), "").unwrap();
        let used = open_lock(&folder.path().join("arena-used")).unwrap();
        used.lock_shared().unwrap();
        let left = || {
            remove_unused(folder.path(), "arena", "arena-mine");
            let mut left: Vec<_> =
                fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            left.sort();
            left
        };
        assert_eq!(left(), ["arena-mine", "arena-used", "homework-other", "lock"]);
        drop(used);
        assert_eq!(left(), ["arena-mine", "homework-other", "lock"]);
    }
}
