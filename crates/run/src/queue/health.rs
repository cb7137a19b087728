//! `worker --health`: whether the worker is alive and takes cases, and its metrics.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use tokio::net::TcpListener;

use super::error::QueueError;
use super::link::QueueLink;
use super::worker_state::WorkerState;

/// Serves until the process ends. Returns the address, whose port may have been 0.
pub(super) async fn serve_health(
    address: SocketAddr,
    link: QueueLink,
    state: Arc<WorkerState>,
) -> Result<SocketAddr, QueueError> {
    let fail = |error| QueueError::of(&format!("listen on {address} for --health"), error);
    let listener = TcpListener::bind(address).await.map_err(fail)?;
    let bound = listener.local_addr().map_err(fail)?;
    let measured = Arc::clone(&state);
    let ready = move || {
        let is_ready = link.is_connected() && state.is_ready();
        let answer = if is_ready {
            (StatusCode::OK, "ready\n")
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, "not ready\n")
        };
        std::future::ready(answer)
    };
    let metrics = move || {
        let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
        std::future::ready((kind, measured.metrics()))
    };
    let routes = Router::new()
        .route("/healthz", get(|| std::future::ready("alive\n")))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics));
    tokio::spawn(async move {
        let _ = axum::serve(listener, routes).await;
    });
    Ok(bound)
}
