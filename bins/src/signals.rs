use std::time::Duration;

/// How often it is looked whether what is waited for still runs.
const LOOK: Duration = Duration::from_millis(200);

/// Waits for an interrupt, a request to terminate, `after`, or the end of what `runs` watches; says which.
pub(crate) async fn wait(after: Option<Duration>, runs: impl Fn() -> bool) -> &'static str {
    let time = async {
        match after {
            Some(after) => tokio::time::sleep(after).await,
            None => std::future::pending().await,
        }
    };
    let watched = async {
        while runs() {
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => "interrupted",
        () = terminated() => "asked to terminate",
        () = time => "the time is up",
        () = watched => "the server ended by itself",
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => {
            terminate.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
