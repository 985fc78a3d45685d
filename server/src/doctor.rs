//! `aegis doctor`: what the lab finds on this machine, what is missing, and how to get it. It starts
//! nothing and changes nothing but that it makes the data folder if there is none.

use std::net::{IpAddr, TcpListener};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args as ClapArgs;

use crate::arena::shared;
use crate::data_dir::DataDir;
use crate::http::origin::{Names, host_name};
use crate::http::serve::PROGRAM;
use crate::lab::{LabConfig, LabError, check_environment};
use crate::say;
use crate::stores::programs::{Postgres, find_redis};
use crate::stores::user::store_user;

/// Options of `aegis doctor`: those of `aegis serve` that it looks at.
#[derive(Clone, Debug, ClapArgs)]
pub struct Args {
    /// Address that the lab would listen on.
    #[arg(long, env = "AEGIS_HOST", default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Port that the lab would listen on.
    #[arg(long, env = "AEGIS_PORT", default_value_t = 3000)]
    pub port: u16,
    /// Further host names that the lab would go by, separated by commas.
    #[arg(long, env = "AEGIS_ALLOWED_HOSTS", value_delimiter = ',', value_parser = host_name)]
    pub allowed_hosts: Vec<String>,
    /// Folder of what the browser loads.
    #[arg(long, env = "AEGIS_SITE", default_value = "target/site", hide = true)]
    pub site_root: PathBuf,
    /// The rest.
    #[command(flatten)]
    pub lab: LabConfig,
}

/// What was found of one thing.
struct Finding {
    what: &'static str,
    /// How it is, or what to do.
    result: Result<String, String>,
}

/// Look, and say what was found. Fails when the lab would not start.
pub fn main(args: Args) -> ExitCode {
    let findings = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(look(&args)),
        Err(error) => vec![Finding { what: "runtime", result: Err(error.to_string()) }],
    };
    for Finding { what, result } in &findings {
        match result {
            Ok(text) => say::line(format_args!("ok       {what:<16} {text}")),
            Err(text) => say::line(format_args!("problem  {what:<16} {text}")),
        }
    }
    let missing = findings.iter().filter(|finding| finding.result.is_err()).count();
    match missing {
        0 => {
            say::line("The lab can start.");
            ExitCode::SUCCESS
        }
        1 => fail("One thing is in the way; the line above says which."),
        _ => fail("Some things are in the way; the lines above say which."),
    }
}

fn fail(text: &str) -> ExitCode {
    say::line(text);
    ExitCode::FAILURE
}

async fn look(args: &Args) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found = |what, result| findings.push(Finding { what, result });
    found("aegis", Ok(format!("{} ({})", env!("CARGO_PKG_VERSION"), own_path())));
    match (&args.lab.postgres_url, args.lab.redis_urls.as_slice()) {
        (None, []) => {
            if let Err(error) = check_environment() {
                found("environment", Err(error.to_string()));
            }
            found("postgres", said(Postgres::find().map(|postgres| postgres.postgres.to_string())));
            found("redis", said(find_redis().map(|redis| redis.to_string())));
        }
        (Some(postgres), [_, ..]) => {
            let answered = shared::Means::find(postgres, &args.lab.redis_urls).await;
            found("shared stores", said(answered.map(|_| "Postgres and five Redis nodes answer".to_owned())));
        }
        _ => found("shared stores", Err("AEGIS_POSTGRES_URL and AEGIS_REDIS_URLS go together".to_owned())),
    }
    let user = store_user();
    found(
        "store user",
        match &user {
            Ok(None) => Ok("your own".to_owned()),
            Ok(Some(user)) => Ok(format!("{} (the lab runs as root, which Postgres refuses)", user.name)),
            Err(error) => Err(error.to_string()),
        },
    );
    let data = DataDir::open(args.lab.data_dir.as_deref(), user.ok().flatten().as_ref());
    let data = data.and_then(|data| data.check_writable().map(|()| data));
    found("data folder", said(data.map(|data| data.root().display().to_string())));
    let control = match &args.lab.database_url {
        None => Ok("a Postgres of the lab's own, below the data folder".to_owned()),
        Some(url) => said(database(url).await.map(|()| "DATABASE_URL answers".to_owned())),
    };
    found("control plane", control);
    let port = match TcpListener::bind((args.host, args.port)) {
        Ok(_) => Ok(format!("{} on {} is free", args.port, args.host)),
        Err(error) => Err(format!(
            "{} on {} cannot be used: {error}. Choose another with --port, or end what uses it",
            args.port, args.host
        )),
    };
    found("port", port);
    found("host names", Ok(Names::new(args.host, &args.allowed_hosts).to_string()));
    let links = TcpListener::bind(("127.0.0.1", 0)).map(|_| "links get free ports on 127.0.0.1".to_owned());
    found("loopback", said(links));
    let folder = args.site_root.display();
    let page = if args.site_root.join(PROGRAM).is_file() {
        format!("in {folder}")
    } else {
        format!("none in {folder}: pages would stand still; scripts/run builds it")
    };
    // The lab starts without it, and runs scenarios.
    found("page", Ok(page));
    findings
}

fn said<E: std::fmt::Display>(result: Result<String, E>) -> Result<String, String> {
    result.map_err(|error| error.to_string())
}

fn own_path() -> String {
    std::env::current_exe().map_or_else(|_| "path unknown".to_owned(), |path| path.display().to_string())
}

async fn database(url: &str) -> Result<(), LabError> {
    use sqlx::{ConnectOptions, Connection};
    let options: sqlx::postgres::PgConnectOptions = url.parse()?;
    let limit = std::time::Duration::from_secs(5);
    match tokio::time::timeout(limit, options.connect()).await {
        Ok(connection) => Ok(connection?.close().await?),
        Err(_) => Err(LabError::Silent { what: "DATABASE_URL".to_owned(), limit }),
    }
}
