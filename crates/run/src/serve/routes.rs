//! Which address leads to which page. Every request passes the guard first, and every answer leaves
//! with the same headers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::routing::{get, post};

use super::ServedRepository;
use super::answer::{Answer, not_found, plain, redirect, with_headers};
use super::guard::{Admission, Guard};
use super::label_post::add_label;
use super::live;
use super::markup::encoded;
use super::overview_page::overview_page;
use super::record_page::record_page;
use super::run_page::{comparison_page, latest_page, run_page};

/// Bytes of a label.
const BODY_LIMIT: usize = 64 * 1024;
/// How long `/next` waits for a run to start.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Clone)]
struct Served {
    repository: Arc<ServedRepository>,
    guard: Arc<Guard>,
}

pub(super) fn router(repository: Arc<ServedRepository>, guard: Arc<Guard>) -> Router {
    let served = Served { repository, guard };
    Router::new()
        .route("/", get(overview))
        .route("/runs/{id}", get(run_without_slash))
        .route("/runs/{id}/", get(run))
        .route("/runs/{id}/events", get(run_events))
        .route("/runs/{id}/labels", post(labels))
        .route("/compare", get(compare))
        .route("/labels", post(labels))
        .route("/records/{name}", get(record))
        .route("/latest", get(latest))
        .route("/next", get(next_run))
        .fallback(async || not_found("There is no such page."))
        .layer(from_fn_with_state(served.clone(), admit))
        .with_state(served)
}

async fn admit(State(served): State<Served>, request: Request, next: Next) -> Answer {
    let (parts, body) = request.into_parts();
    let answer = match served.guard.admit(&parts) {
        Admission::Admitted => next.run(Request::from_parts(parts, body)).await,
        Admission::SignIn { cookie, location } => {
            let mut answer = redirect(&location);
            if let Ok(cookie) = HeaderValue::from_str(&cookie) {
                answer.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            answer
        }
        Admission::Refused(status, why) => {
            let mut answer = plain(status, why);
            if status == StatusCode::METHOD_NOT_ALLOWED {
                answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            }
            answer
        }
    };
    with_headers(answer)
}

/// Pages are made from files, on a thread that may wait for the disk.
async fn made(served: Served, make: impl FnOnce(&Served) -> Answer + Send + 'static) -> Answer {
    let made = tokio::task::spawn_blocking(move || make(&served)).await;
    made.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, "The page cannot be made."))
}

async fn overview(State(served): State<Served>) -> Answer {
    made(served, |served| overview_page(&served.repository)).await
}

/// Addresses in a page are relative to its directory.
async fn run_without_slash(Path(id): Path<String>) -> Answer {
    redirect(&format!("/runs/{}/", encoded(&id)))
}

async fn run(State(served): State<Served>, Path(id): Path<String>) -> Answer {
    made(served, move |served| run_page(&served.repository, served.guard.token(), &id)).await
}

async fn run_events(State(served): State<Served>, Path(id): Path<String>) -> Answer {
    made(served, move |served| live::events(Arc::clone(&served.repository), &id)).await
}

async fn compare(State(served): State<Served>, request: Request) -> Answer {
    let (Some(base), Some(candidate)) =
        (parameter(&request, "base"), parameter(&request, "candidate"))
    else {
        return plain(StatusCode::BAD_REQUEST, "Choose two runs from the list of runs.");
    };
    let page = move |served: &Served| {
        comparison_page(&served.repository, served.guard.token(), &base, &candidate)
    };
    made(served, page).await
}

async fn record(
    State(served): State<Served>,
    Path(name): Path<String>,
    request: Request,
) -> Answer {
    let run = parameter(&request, "run").and_then(|run| run.parse().ok());
    made(served, move |served| record_page(&served.repository, &name, run)).await
}

async fn latest(State(served): State<Served>) -> Answer {
    made(served, |served| latest_page(&served.repository)).await
}

/// Waits for a run that is about to start.
async fn next_run(State(served): State<Served>) -> Answer {
    let begun = Instant::now();
    while begun.elapsed() < LONGEST_WAIT {
        let repository = Arc::clone(&served.repository);
        let newest = tokio::task::spawn_blocking(move || repository.runs.newest()).await;
        if newest.is_ok_and(|newest| newest.is_some_and(|run| run.is_running)) {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    made(served, |served| latest_page(&served.repository)).await
}

async fn labels(State(served): State<Served>, request: Request) -> Answer {
    let (parts, body): (_, Body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, BODY_LIMIT).await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "A label has at most 64 KiB.");
    };
    made(served, move |served| add_label(&served.repository, &parts.headers, &bytes)).await
}

/// The value of a parameter of the address.
fn parameter(request: &Request, name: &str) -> Option<String> {
    let query = request.uri().query()?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}
