//! The lab of this process: owner of the warden, the data folder, the means to make arenas, one arena
//! kept warm, and the control plane if it is asked for. One value, opened at the start and closed at the
//! end; everybody else borrows from it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use locks::setup::NodeSetup;
use tokio::sync::{Mutex, OnceCell};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::arena::{self, Arena, Means, StoreMeans};
use crate::control::{Control, Own};
use crate::data_dir::{DataDir, LabFolder, PROCESSES};
use crate::homework::Homework;
use crate::stores::programs::{self, Postgres};
use crate::stores::sockets::Sockets;
use crate::stores::template::{self, Recipe, Template};
use crate::stores::user::store_user;
use crate::stores::{StoreError, cluster, private_folder};
use crate::warden::limits::Limits;
use crate::warden::{User, Warden, WardenError};

/// How long ending in order may take.
const ORDERLY: Duration = Duration::from_secs(8);
/// How long what was to be ended may go on once every process was killed.
const FORCED: Duration = Duration::from_secs(2);

/// What the lab can be told. Flatten it into a command's arguments.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct LabConfig {
    /// Folder for the lab's data; default: the user's data folder.
    #[arg(long, env = "AEGIS_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Database of learners and runs, as a URL; default: one that the lab starts itself.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// A Postgres that all runs share, as a URL of somebody who may create databases and roles; default: a
    /// private one for each run.
    #[arg(long, env = "AEGIS_POSTGRES_URL", hide_env_values = true)]
    pub postgres_url: Option<String>,
    /// Five Redis nodes that all runs share, as URLs with commas between; goes with --postgres-url.
    #[arg(long, env = "AEGIS_REDIS_URLS", value_delimiter = ',', hide_env_values = true)]
    pub redis_urls: Vec<String>,
    /// The `aegis` program that wardens and replicas are started from; default: this one.
    #[arg(skip)]
    pub aegis: Option<PathBuf>,
    /// Keep no arena ready in advance: for a process that opens just one.
    #[arg(skip)]
    pub cold: bool,
}

/// What can go wrong with the lab itself. None of it is the learner's doing.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A setting makes no sense.
    #[error("{0}")]
    Config(String),
    /// The data folder cannot be used.
    #[error(
        "{path} cannot be used for the lab's data: {error}. Choose another folder with --data-dir or AEGIS_DATA_DIR"
    )]
    DataDir {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Somebody holds a lock for too long.
    #[error("{path} is in use by another lab")]
    Busy {
        /// What.
        path: PathBuf,
    },
    /// The control plane belongs to another process.
    #[error(
        "another `aegis serve` is using {path}. End it, or give this one another folder with --data-dir, or a \
         database with DATABASE_URL"
    )]
    ControlBusy {
        /// The control plane's folder.
        path: PathBuf,
    },
    /// Not with these stores.
    #[error("not applicable here: {0}")]
    NotHere(&'static str),
    /// A fault on a process that does not run.
    #[error("it is not running")]
    NotRunning,
    /// The warden died, and with it every process.
    #[error("the warden is gone, and with it every store and replica")]
    WardenGone,
    /// No answer in time.
    #[error("{what} did not answer within {limit:?}")]
    Silent {
        /// Who.
        what: String,
        /// The limit.
        limit: Duration,
    },
    /// A defect of the lab.
    #[error("the lab itself failed: {0}")]
    Lab(String),
    /// A store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The warden.
    #[error(transparent)]
    Warden(WardenError),
    /// Postgres answered with an error.
    #[error("Postgres: {0}")]
    Postgres(#[from] sqlx::Error),
    /// A migration could not be applied.
    #[error("Postgres migration: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// Redis answered with an error.
    #[error("Redis: {0}")]
    Redis(#[from] redis::RedisError),
}

impl From<WardenError> for LabError {
    fn from(error: WardenError) -> LabError {
        match error {
            WardenError::Gone => LabError::WardenGone,
            other => LabError::Warden(other),
        }
    }
}

/// See the module.
pub struct Lab {
    config: LabConfig,
    means: Arc<Means>,
    data_dir: DataDir,
    folder: LabFolder,
    /// Number of the arena made last; names its folder.
    arenas: AtomicU32,
    warm: Mutex<Option<JoinHandle<Result<Arena, LabError>>>>,
    control: OnceCell<Control>,
    homework: Homework,
}

/// What every connection to Postgres takes from the environment would change what the lab's own stores do.
pub fn check_environment() -> Result<(), LabError> {
    match std::env::var_os("PGOPTIONS") {
        Some(options) if !options.is_empty() => Err(LabError::Config(
            "PGOPTIONS is set, and would change how the lab's own Postgres behaves. Start the lab without it: \
             env -u PGOPTIONS ..."
                .to_owned(),
        )),
        _ => Ok(()),
    }
}

impl Lab {
    /// Open the lab: find the stores, clean up after crashed labs, start the warden, make the template if
    /// there is none. Takes seconds the first time, and is quick later.
    pub async fn open(config: LabConfig) -> Result<Arc<Lab>, LabError> {
        let user = store_user()?;
        let shared = match (&config.postgres_url, config.redis_urls.as_slice()) {
            (None, []) => None,
            (Some(postgres), [_, ..]) => Some(arena::shared::Means::find(postgres, &config.redis_urls).await?),
            _ => return Err(LabError::Config("AEGIS_POSTGRES_URL and AEGIS_REDIS_URLS go together".to_owned())),
        };
        let programs = match &shared {
            Some(_) => None,
            None => {
                check_environment()?;
                Some((Postgres::find()?, programs::find_redis()?))
            }
        };
        let aegis = match &config.aegis {
            Some(aegis) => aegis.clone(),
            None => std::env::current_exe().map_err(|error| LabError::Lab(error.to_string()))?,
        };
        let data_dir = DataDir::open(config.data_dir.as_deref(), user.as_ref())?;
        let folder = data_dir.new_lab(shared.as_ref()).await?;
        let warden = Warden::start(&aegis, &folder.path().join(PROCESSES)).await?;
        let stores = match (shared, programs) {
            (Some(shared), _) => StoreMeans::Shared(shared),
            (None, Some((postgres, redis))) => {
                let means = cluster::Means {
                    warden: warden.clone(),
                    postgres: postgres.clone(),
                    user: user.clone(),
                    limits: Limits::default(),
                };
                let template = template(&template::arena(), &data_dir, &folder, &means).await?;
                StoreMeans::Embedded(arena::embedded::Means { postgres, redis, template })
            }
            (None, None) => return Err(LabError::Lab("no stores were looked for".to_owned())),
        };
        let lab = Lab {
            config,
            means: Arc::new(Means { warden, aegis, user, stores }),
            data_dir,
            folder,
            arenas: AtomicU32::new(0),
            warm: Mutex::new(None),
            control: OnceCell::new(),
            homework: Homework::default(),
        };
        if !lab.config.cold {
            *lab.warm.lock().await = Some(lab.prepare(BTreeMap::new()));
        }
        Ok(Arc::new(lab))
    }

    /// An arena, with settings of single Redis nodes by name. The warm one is given away and another is
    /// made ready in the background.
    pub async fn arena(&self, nodes: &BTreeMap<String, NodeSetup>) -> Result<Arena, LabError> {
        if self.means.warden.is_gone() {
            return Err(LabError::WardenGone);
        }
        // No node that runs becomes a cluster.
        if nodes.values().any(|node| node.cluster) {
            return joined(self.prepare(nodes.clone())).await;
        }
        let warm = {
            let mut warm = self.warm.lock().await;
            let ready = warm.take();
            if !self.config.cold {
                *warm = Some(self.prepare(BTreeMap::new()));
            }
            ready
        };
        if let Some(warm) = warm {
            match joined(warm).await {
                Ok(arena) => {
                    arena.set_nodes(nodes).await?;
                    return Ok(arena);
                }
                // The one that is made now says what is wrong.
                Err(error) => tracing::warn!(%error, "the arena that was kept ready could not be made"),
            }
        }
        joined(self.prepare(nodes.clone())).await
    }

    fn prepare(&self, nodes: BTreeMap<String, NodeSetup>) -> JoinHandle<Result<Arena, LabError>> {
        let folder = self.new_folder();
        let means = self.means.clone();
        // A task of its own, so that an arena whose caller gave up is dropped whole, never half.
        tokio::spawn(async move { Arena::open(means, folder, &nodes).await })
    }

    /// The name of a folder for something new of this lab's, which removes it when it ends.
    pub(crate) fn new_folder(&self) -> PathBuf {
        let number = self.arenas.fetch_add(1, Ordering::Relaxed) + 1;
        self.folder.path().join(number.to_string())
    }

    /// Who starts processes.
    pub(crate) fn warden(&self) -> &Warden {
        &self.means.warden
    }

    /// What grading keeps from one submission to the next.
    pub(crate) fn homework(&self) -> &Homework {
        &self.homework
    }

    /// A cluster to copy, made by that recipe if there is none yet.
    pub(crate) async fn template(&self, recipe: &Recipe, means: &cluster::Means) -> Result<Template, LabError> {
        template(recipe, &self.data_dir, &self.folder, means).await
    }

    /// The control plane: started at the first call.
    pub async fn control(&self) -> Result<&Control, LabError> {
        self.control
            .get_or_try_init(|| async {
                match &self.config.database_url {
                    Some(url) => Control::at(url).await,
                    None => {
                        let own = Own {
                            warden: &self.means.warden,
                            user: self.means.user.as_ref(),
                            data_dir: &self.data_dir,
                        };
                        Control::embedded(own).await
                    }
                }
            })
            .await
    }

    /// The data folder.
    pub fn data_dir(&self) -> &DataDir {
        &self.data_dir
    }

    /// The user that stores run as, if it is not the lab's own.
    pub fn store_user(&self) -> Option<&User> {
        self.means.user.as_ref()
    }

    /// Do arenas have stores of their own, whose processes can be disturbed?
    pub fn has_private_stores(&self) -> bool {
        matches!(self.means.stores, StoreMeans::Embedded(_))
    }

    /// The warden's pid, for people to read.
    pub fn warden_pid(&self) -> u32 {
        self.means.warden.pid()
    }

    /// Resolves when the warden died: every store and replica is gone, and the lab is of no more use.
    pub async fn broken(&self) {
        self.means.warden.gone().await;
    }

    /// End everything that the lab started, and remove its folder. Arenas are to be closed first.
    pub async fn close(&self) {
        self.ending(async {
            if let Some(warm) = self.warm.lock().await.take()
                && let Ok(arena) = joined(warm).await
            {
                arena.close().await;
            }
            if let Some(control) = self.control.get() {
                control.close().await;
            }
        })
        .await;
        if let Err(error) = self.means.warden.close().await {
            tracing::warn!(%error, "the warden did not end in time");
        }
        self.folder.remove();
    }

    /// End something in order, and everything by force when that takes too long, as it does when the warden
    /// hangs: then nothing of the lab runs any more, and what was to be ended is given up a moment later.
    pub async fn ending(&self, in_order: impl Future<Output = ()>) {
        let mut in_order = std::pin::pin!(in_order);
        if timeout(ORDERLY, &mut in_order).await.is_ok() {
            return;
        }
        tracing::warn!("not ended within {ORDERLY:?}; everything is killed");
        if let Err(error) = self.means.warden.kill().await {
            tracing::error!(%error, "the warden could not be killed");
        }
        if timeout(FORCED, in_order).await.is_err() {
            tracing::warn!("given up {FORCED:?} after everything was killed");
        }
    }
}

async fn joined(task: JoinHandle<Result<Arena, LabError>>) -> Result<Arena, LabError> {
    task.await.map_err(|error| LabError::Lab(error.to_string()))?
}

/// The template, made under the lock of its folder: another lab may be making it at this moment.
async fn template(
    recipe: &Recipe,
    data_dir: &DataDir,
    lab: &LabFolder,
    means: &cluster::Means,
) -> Result<Template, LabError> {
    let folder = data_dir.templates();
    let _making = data_dir.lock(&folder).await?;
    let beside = lab.path().join(format!("template-{}", recipe.kind));
    if !beside.exists() {
        private_folder(&beside, means.user.as_ref())?;
    }
    let sockets = Sockets::for_folder(&beside, means.user.as_ref())?;
    Ok(Template::ready(recipe, &folder, sockets.folder(), means).await?)
}
