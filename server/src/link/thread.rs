//! The thread on which links run, with a runtime of its own, so that pages and graders do not show up in
//! what a replica measures. It accepts and pumps; it is never asked and never waited for by a control call.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use locks::ids::Endpoint;
use tokio::sync::{mpsc, watch};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::sleep;

use super::pump::{self, Number};
use super::rules::Rules;
use super::socket::Upstream;
use super::{LinkError, LinkId, Report};

/// Where endpoints lead, for connections to come.
pub(super) type Upstreams = Arc<Mutex<BTreeMap<Endpoint, Upstream>>>;

/// A link whose port is bound and whose rules stand; from now on it is served.
pub(super) struct Opened {
    pub(super) id: LinkId,
    pub(super) listener: TcpListener,
    pub(super) rules: watch::Receiver<Rules>,
}

/// Starts the thread. It ends, and closes all sockets, when the sender of opened links is dropped.
pub(super) fn start(
    mut opened: mpsc::UnboundedReceiver<Opened>,
    upstreams: Upstreams,
    report: Report,
) -> Result<(), LinkError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(LinkError::Start)?;
    std::thread::Builder::new()
        .name("links".to_owned())
        .spawn(move || {
            LocalSet::new().block_on(&runtime, async move {
                let accepted = Rc::new(Cell::new(0));
                while let Some(link) = opened.recv().await {
                    spawn_local(accept(link, upstreams.clone(), report.clone(), accepted.clone()));
                }
            });
        })
        .map_err(LinkError::Start)?;
    Ok(())
}

/// Accepts connections until the link is closed.
async fn accept(link: Opened, upstreams: Upstreams, report: Report, accepted: Rc<Cell<u64>>) {
    let Opened { id, listener, mut rules } = link;
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => return tracing::error!(replica = %id.replica, endpoint = %id.endpoint, %error, "link not served"),
    };
    let lookup = {
        let (upstreams, endpoint) = (upstreams, id.endpoint);
        Rc::new(move || upstreams.lock().unwrap_or_else(PoisonError::into_inner).get(&endpoint).cloned())
    };
    let served = rules.clone();
    let accepting = async {
        for on_link in 1.. {
            match listener.accept().await {
                Ok((replica, _)) => {
                    accepted.set(accepted.get() + 1);
                    let number = Number { on_link, overall: accepted.get() };
                    let lookup = lookup.clone();
                    spawn_local(pump::serve(
                        replica,
                        number,
                        id.clone(),
                        move || lookup(),
                        served.clone(),
                        report.clone(),
                    ));
                }
                Err(error) => {
                    tracing::warn!(replica = %id.replica, endpoint = %id.endpoint, %error, "connection not accepted");
                    // Out of descriptors: nothing tells when there will be some again.
                    sleep(Duration::from_millis(20)).await;
                }
            }
        }
    };
    tokio::select! {
        () = accepting => {}
        _ = rules.wait_for(|rules| rules.closed) => {}
    }
}
