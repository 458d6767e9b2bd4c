use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::json;
use tokio::sync::mpsc::{Receiver, channel};

use super::Lab;
use super::visitor::{Outgoing, Visitor};

/// Most bytes of one message of the page.
const MAX_MESSAGE_BYTES: usize = 4096;
/// Messages that wait for a slow page; more are dropped.
const QUEUE: usize = 64;
/// Pages open at once.
const MAX_VISITORS: usize = 16;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:ident),* $(,)?) => {
        /// The page's files, built in.
        const FILES: &[(&str, &str, &str)] = &[$(($name, $kind, include_str!(concat!("../../page/", $name)))),*];
    };
}

files! {
    "index.html": HTML,
    "style.css": CSS,
    "icon.svg": SVG,
    "app.js": SCRIPT,
    "connection.js": SCRIPT,
    "frames.js": SCRIPT,
    "keyboard.js": SCRIPT,
    "palette.js": SCRIPT,
    "panel.js": SCRIPT,
    "place.js": SCRIPT,
    "sparkline.js": SCRIPT,
    "view.js": SCRIPT,
}

/// Everything the page asks for.
pub(super) fn router(lab: Arc<Lab>) -> Router {
    Router::new()
        .route("/", get(async || file("index.html")))
        .route("/{name}", get(async |Path(name): Path<String>| file(&name)))
        .route("/ws", get(enter))
        .route(
            "/api/players",
            get(async |State(lab): State<Arc<Lab>>| Json(json!({ "players": lab.board().players() }))),
        )
        .route("/api/server", get(async |State(lab): State<Arc<Lab>>| Json(lab.board().word(10.0))))
        .with_state(lab)
}

fn file(name: &str) -> Response {
    match FILES.iter().find(|(known, ..)| *known == name) {
        Some((_, kind, text)) => {
            ([(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, "no-cache")], *text).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Counts a page in, and out when dropped.
struct Seat(Arc<Lab>);

impl Seat {
    fn take(lab: &Arc<Lab>) -> Option<Self> {
        let seats: &AtomicUsize = lab.visitors();
        let taken = seats
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| (taken < MAX_VISITORS).then_some(taken + 1));
        taken.ok().map(|_| Self(Arc::clone(lab)))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.visitors().fetch_sub(1, Ordering::Relaxed);
    }
}

async fn enter(upgrade: WebSocketUpgrade, State(lab): State<Arc<Lab>>) -> Response {
    let Some(seat) = Seat::take(&lab) else {
        return (StatusCode::SERVICE_UNAVAILABLE, "as many pages are open as the lab has room for").into_response();
    };
    upgrade.max_message_size(MAX_MESSAGE_BYTES).on_upgrade(move |socket| visit(socket, lab, seat))
}

/// One page, from its websocket's opening to its end.
async fn visit(socket: WebSocket, lab: Arc<Lab>, _seat: Seat) {
    let (out, outgoing) = channel(QUEUE);
    match Visitor::start(&lab, lab.next_visitor(), out) {
        Ok(visitor) => talk(socket, &visitor, outgoing).await,
        Err(why) => tracing::error!(%why, "a visitor could not join"),
    }
}

async fn talk(mut socket: WebSocket, visitor: &Visitor, mut outgoing: Receiver<Outgoing>) {
    loop {
        tokio::select! {
            sent = outgoing.recv() => {
                let message = match sent {
                    Some(Outgoing::Text(text)) => Message::Text(text.into()),
                    Some(Outgoing::Frame(bytes)) => Message::Binary(bytes.into()),
                    None => return,
                };
                if socket.send(message).await.is_err() {
                    return;
                }
            }
            heard = socket.recv() => match heard {
                Some(Ok(Message::Text(text))) => visitor.hear(&text),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // T-40: the page needs nothing from elsewhere, and every file it names is built in.
    #[test]
    fn every_file_the_page_names_is_built_in() {
        for (name, _, text) in FILES {
            assert!(!text.contains("https://") && !text.contains("//cdn"), "{name} asks for something from elsewhere");
            let script = text.split("from \"./").skip(1);
            let linked = ["src=\"", "href=\""].into_iter().flat_map(|attribute| text.split(attribute).skip(1));
            for wanted in script.chain(linked).filter_map(|rest| rest.split('"').next()) {
                assert!(FILES.iter().any(|(known, ..)| *known == wanted), "{name} names {wanted}");
            }
        }
        assert_eq!(file("index.html").status(), StatusCode::OK);
        assert_eq!(file("../Cargo.toml").status(), StatusCode::NOT_FOUND);
    }
}
