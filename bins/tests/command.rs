//! The command as a person meets it: what it says, and how it ends.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

fn tidelock(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidelock"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("TIDELOCK_")) {
        command.env_remove(name);
    }
    command.args(arguments).output().expect("the command starts")
}

/// Runs what must fail with `code`, and returns what it says.
fn refusal(code: i32, arguments: &[&str]) -> String {
    let output = tidelock(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
    said
}

fn success(arguments: &[&str]) -> String {
    let output = tidelock(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A file of this test's own, gone with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, content: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("tidelock-{}-{name}", std::process::id()));
        fs::write(&path, content).expect("the temporary folder can be written");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the temporary folder's name is UTF-8")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is gone already need not be removed.
        let _ = fs::remove_file(&self.0);
    }
}

// T-44
#[test]
fn every_command_has_help_with_an_example() {
    for command in [
        "lab",
        "serve",
        "swarm",
        "place check",
        "place build",
        "place inspect",
        "token mint",
        "token inspect",
        "vectors check",
        "vectors write",
    ] {
        let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = success(&arguments);
        assert!(help.contains("Example") && help.contains(&format!("tidelock {command}")), "{command}: {help}");
    }
}

#[test]
fn what_means_nothing_ends_with_two_and_says_so() {
    assert!(refusal(2, &["dance"]).contains("dance"));
    assert!(refusal(2, &["swarm", "--bots", "0"]).contains("--bots"));
    assert!(refusal(2, &["serve", "--bind", "nowhere"]).contains("nowhere"));
    assert!(refusal(1, &["serve", "--seconds", "nan"]).contains("--seconds"));
    assert!(refusal(2, &["swarm", "--junk=-1"]).contains("--junk"));
    assert!(refusal(1, &["swarm", "--loss", "2"]).contains("--loss"));
}

// T-44
#[test]
fn a_busy_port_is_named_with_what_to_do() {
    let game = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let address = game.local_addr().expect("a bound address").to_string();
    let said = refusal(1, &["serve", "--bind", &address, "--metrics", "off"]);
    assert!(said.contains(&address) && said.contains("--bind"), "{said}");
    let metrics = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = metrics.local_addr().expect("a bound address").to_string();
    let said = refusal(1, &["serve", "--bind", "127.0.0.1:0", "--metrics", &address]);
    assert!(said.contains(&address) && said.contains("--metrics"), "{said}");
}

// T-44, T-45
#[test]
fn wrong_files_are_named_with_line_and_key() {
    for arguments in [
        &["serve", "--config", "no-such-file.toml"][..],
        &["serve", "--place", "no-such-file.toml"],
        &["serve", "--key-file", "no-such-file.toml"],
        &["place", "check", "no-such-file.toml"],
        &["token", "inspect", "no-such-file.toml"],
        &["vectors", "check", "no-such-file.toml"],
    ] {
        assert!(refusal(1, arguments).contains("no-such-file.toml"), "{arguments:?}");
    }
    let config = Scratch::new("config.toml", b"bind = \"127.0.0.1:0\"\nmax_playrs = 4\n");
    let said = refusal(1, &["serve", "--config", config.path()]);
    assert!(said.contains("line 2") && said.contains("max_playrs") && said.contains(config.path()), "{said}");
    let place = Scratch::new("place.toml", b"name = \"x\"\n\n[[part]]\nsize = \"big\"\n");
    let said = refusal(1, &["place", "check", place.path()]);
    assert!(said.contains("line 4") && said.contains("size"), "{said}");
    let key = Scratch::new("key.hex", b"0123");
    let said = refusal(1, &["serve", "--bind", "127.0.0.1:0", "--metrics", "off", "--key-file", key.path()]);
    assert!(said.contains("64 hexadecimal digits") && said.contains("2 bytes"), "{said}");
    let config = Scratch::new("range.toml", b"bind = \"127.0.0.1:0\"\nmetrics = \"off\"\nmax_players = 0\n");
    assert!(refusal(1, &["serve", "--config", config.path()]).contains("max_players"));
}

// T-43
#[test]
fn a_token_that_was_minted_can_be_inspected() {
    let file = Scratch::new("ann.token", b"");
    let minted = success(&["token", "mint", "--client", "7", "--server", "203.0.113.5:7777", "--out", file.path()]);
    assert!(minted.contains("client 7"), "{minted}");
    let inspected = success(&["token", "inspect", file.path()]);
    assert!(inspected.contains("203.0.113.5:7777") && inspected.contains("expires   in"), "{inspected}");
    fs::write(&file.0, success(&["token", "mint", "--client", "8"])).expect("the file can be written");
    assert!(success(&["token", "inspect", file.path()]).contains("127.0.0.1:7777"));
    fs::write(&file.0, b"not a token").expect("the file can be written");
    assert!(refusal(1, &["token", "inspect", file.path()]).contains("2048 bytes"));
}

// R-2
#[test]
fn a_place_can_be_built_and_the_build_inspected() {
    let source = Scratch::new("demo.toml", include_bytes!("../places/demo.toml"));
    let built = Scratch::new("demo.place", b"");
    let said = success(&["place", "check", source.path()]);
    assert!(said.contains("Plaza"), "{said}");
    success(&["place", "build", source.path(), "--out", built.path()]);
    let (authored, compiled) =
        (success(&["place", "inspect", source.path()]), success(&["place", "inspect", built.path()]));
    assert_eq!(authored, compiled);
    assert_eq!(authored, success(&["place", "inspect"]));
}

// T-43
#[test]
fn a_vector_that_differs_ends_with_one_and_is_named() {
    let vectors = |newer: bool| {
        format!(
            r#"{{"format":"tidelock.vectors/1","kind":"sequence-order","tolerance":{{"abs":0,"rel":0}},"cases":[{{"a":2,"b":1,"newer":{newer}}}]}}"#
        )
    };
    let file = Scratch::new("order.json", vectors(true).as_bytes());
    assert!(success(&["vectors", "check", file.path()]).contains("sequence-order: 1 cases"));
    fs::write(&file.0, vectors(false)).expect("the file can be written");
    let said = refusal(1, &["vectors", "check", file.path()]);
    assert!(said.contains("case 0: newer: wanted false, got true"), "{said}");
    fs::write(&file.0, vectors(true).replace("sequence-order", "tea-leaves")).expect("the file can be written");
    assert!(success(&["vectors", "check", file.path()]).contains("tea-leaves: not known"));
}

// T-43
#[test]
fn vectors_that_are_written_can_be_checked() {
    let folder = std::env::temp_dir().join(format!("tidelock-{}-vectors", std::process::id()));
    let name = folder.to_str().expect("the temporary folder's name is UTF-8");
    assert!(success(&["vectors", "write", name, "--seed", "5"]).contains("19 files written"));
    let files: Vec<PathBuf> =
        fs::read_dir(&folder).expect("it was made").map(|entry| entry.expect("an entry").path()).collect();
    let names = files.iter().map(|file| file.to_str().expect("UTF-8"));
    let said = success(&["vectors", "check"].into_iter().chain(names).collect::<Vec<_>>());
    assert!(said.contains("19 of 19 files agree"), "{said}");
    let file = files[0].to_str().expect("UTF-8");
    refusal(1, &["vectors", "write", file]);
    fs::remove_dir_all(&folder).expect("it is this test's own");
}

// T-41: a server from a configuration file says on a page of its own, as JSON, how it fares and who plays.
#[test]
fn serve_answers_for_itself_as_json() {
    let config = Scratch::new("served.toml", b"bind = \"127.0.0.1:0\"\nmetrics = \"127.0.0.1:0\"\nmax_players = 4\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidelock"));
    command.args(["serve", "--config", config.path()]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Ended(command.spawn().expect("the command starts"));
    let said = BufReader::new(server.0.stdout.take().expect("it was piped"));
    let mut lines = said.lines().map(|line| line.expect("UTF-8"));
    let serving = lines.next().expect("what it serves");
    assert!(serving.contains("Plaza") && serving.contains("at most 4 players"), "{serving}");
    let metrics = lines.next().expect("where its metrics are");
    let address = metrics.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
    let answer = |path: &str| {
        let mut page = TcpStream::connect(address).expect("the page answers");
        write!(page, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it hears");
        let mut whole = String::new();
        page.read_to_string(&mut whole).expect("it speaks");
        let (head, body) = whole.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("application/json"), "{head}");
        serde_json::from_str::<serde_json::Value>(body).expect("JSON")
    };
    let word = answer("/metrics.json");
    for key in ["tick", "players", "corrections", "refusals", "stages_us"] {
        assert!(word.get(key).is_some(), "{key}: {word}");
    }
    assert_eq!(answer("/players.json"), serde_json::json!([]));
}

/// A command that is ended with its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
