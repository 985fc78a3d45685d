//! `aegis serve`: opens the lab, binds the address, serves until told to end, and ends in order: streams
//! first, then sessions, then stores. Whatever hangs, even the warden, it is over within 30 seconds, and
//! nothing is left running.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum_server::Handle;
use axum_server::accept::NoDelayAcceptor;
use clap::Args as ClapArgs;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::problem::Causes;
use super::{App, homework, metrics, origin, router, sse};
use crate::lab::{Lab, LabConfig, LabError};
use crate::lesson::Tutor;
use crate::matrix::board::Board;
use crate::matrix::desk::Desk;
use crate::run::live::{Limits, Sessions};
use crate::run::shelf::Shelf;
use crate::say;
use crate::told::Told;

/// How long a request's headers may take: whoever sends half of them and goes silent holds nothing for longer.
const HEADERS: Duration = Duration::from_secs(10);

/// How long open requests may go on once the server is to end.
const DRAIN: Duration = Duration::from_secs(5);

/// How long ending may take in all.
const OVER: Duration = Duration::from_secs(30);

/// Options of `aegis serve`.
#[derive(Clone, Debug, ClapArgs)]
pub struct Args {
    /// Address to listen on. Anything but a loopback address lets others run your lab.
    #[arg(long, env = "AEGIS_HOST", default_value = "127.0.0.1")]
    pub host: IpAddr,
    /// Port to listen on; 0 takes any free one.
    #[arg(long, env = "AEGIS_PORT", default_value_t = 3000)]
    pub port: u16,
    /// Further host names that the lab goes by, separated by commas.
    #[arg(long, env = "AEGIS_ALLOWED_HOSTS", value_delimiter = ',', value_parser = origin::host_name)]
    pub allowed_hosts: Vec<String>,
    /// Folder of what the browser loads.
    #[arg(long, env = "AEGIS_SITE", default_value = "target/site", hide = true)]
    pub site_root: String,
    /// Stores and data.
    #[command(flatten)]
    pub lab: LabConfig,
}

/// What makes pages move, in the site's folder.
pub const PROGRAM: &str = "pkg/aegis.js";

/// Why the lab does not serve.
#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error("port {port} of {host} is in use; stop what uses it, or choose another: --port")]
    PortInUse { host: IpAddr, port: u16 },
    #[error("cannot listen on {host}:{port}")]
    Listen {
        host: IpAddr,
        port: u16,
        #[source]
        cause: io::Error,
    },
    #[error("the server failed")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Lab(#[from] LabError),
}

/// Serve, and say how it ended.
pub fn main(args: Args) -> ExitCode {
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            say::error(format_args!("no threads to serve with: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let shutdown = CancellationToken::new();
    let served = listen_for_the_end(shutdown.clone())
        .map_err(ServeError::Io)
        .and_then(|()| runtime.block_on(serve(args, shutdown)));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say::error(Causes(&error));
            ExitCode::FAILURE
        }
    }
}

async fn serve(args: Args, shutdown: CancellationToken) -> Result<(), ServeError> {
    // Bound first: a busy port is worth saying before any store is started.
    let listener = bind(args.host, args.port).await?;
    let address = listener.local_addr()?;
    let names = origin::Names::new(args.host, &args.allowed_hosts);

    let lab = Lab::open(args.lab).await?;
    let served = serve_lab(&lab, listener, address, &shutdown, args.site_root, names).await;
    lab.close().await;
    served
}

/// Serve an open lab. However this ends, its sessions are stored; the lab is the caller's to close.
async fn serve_lab(
    lab: &Arc<Lab>,
    listener: TcpListener,
    address: SocketAddr,
    shutdown: &CancellationToken,
    site_root: String,
    names: origin::Names,
) -> Result<(), ServeError> {
    // Started now, so that the first page that lists runs does not wait for it; and a second `serve` on
    // the same data hears of it at once.
    lab.control().await?;
    let shelf = Shelf::new(lab.clone());
    let sessions = Arc::new(Sessions::new(lab.clone(), shelf.clone(), Limits::default()));
    sessions.recover().await;
    let desk = Arc::new(Desk::new(lab.clone(), shelf.clone()));
    let board = Arc::new(Board::new(lab.clone(), shelf.clone(), sessions.clone(), desk.clone()));
    let tutor = Tutor::new(lab.clone(), shelf.clone(), sessions.clone());
    let app = App {
        names: Arc::new(names),
        sessions: sessions.clone(),
        shelf,
        desk: desk.clone(),
        board,
        tutor: tutor.clone(),
        homework: Arc::new(homework::Desk::new(lab.clone())),
        site: site_root.into(),
        shutdown: shutdown.clone(),
        metrics: Arc::new(metrics::Metrics::new()),
        streams: sse::Streams::default(),
    };
    if !app.site.join(PROGRAM).is_file() {
        let folder = app.site.display();
        say::error(format_args!("no {PROGRAM} in {folder}: pages stand still without it; scripts/run builds it"));
    }
    say::line(format_args!("Aegis is at {}", url(address)));

    let service = router(app).into_make_service_with_connect_info::<SocketAddr>();
    let handle = Handle::new();
    // Events are small and many: none waits in the kernel until the one before it has been acknowledged.
    let server = axum_server::from_tcp(listener.into_std()?)?.acceptor(NoDelayAcceptor::new()).handle(handle.clone());
    let mut server = server.http1_only().first_request_timeout(HEADERS);
    server.http_builder().http1().header_read_timeout(HEADERS);
    let ended = async {
        shutdown.cancelled().await;
        handle.graceful_shutdown(None);
        tokio::time::sleep(DRAIN).await;
        tracing::warn!("requests were still open after {DRAIN:?}");
    };
    tokio::select! {
        served = server.serve(service) => served?,
        () = lab.broken() => return Err(LabError::WardenGone.into()),
        () = ended => {}
    }
    lab.ending(async {
        tokio::join!(sessions.close_all(), desk.close(), tutor.close());
    })
    .await;
    Ok(())
}

async fn bind(host: IpAddr, port: u16) -> Result<TcpListener, ServeError> {
    TcpListener::bind((host, port)).await.map_err(|cause| match cause.kind() {
        io::ErrorKind::AddrInUse => ServeError::PortInUse { host, port },
        _ => ServeError::Listen { host, port, cause },
    })
}

/// The address as a person opens it.
fn url(address: SocketAddr) -> String {
    let ip = address.ip();
    if ip.is_loopback() || ip.is_unspecified() {
        format!("http://localhost:{}", address.port())
    } else {
        format!("http://{address}")
    }
}

/// Ends when told to; whoever insists ends the process at once, and the warden cleans up. On a thread of its own, so
/// that it is heard however busy all others are; what they do not end in time ends with the process.
fn listen_for_the_end(shutdown: CancellationToken) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut told = runtime.block_on(async { Told::listen() })?;
    let until_told = async move {
        told.end().await;
        say::line("Stopping ...");
        shutdown.cancel();
        if tokio::time::timeout(OVER, told.at_once()).await.is_err() {
            say::error("not ended in time; ended at once");
        }
        std::process::exit(130);
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || runtime.block_on(until_told)).map(drop)
}
