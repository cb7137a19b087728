//! What the server of `evalrig view` refuses, over real connections.
#![cfg(feature = "view")]

mod view_support;

use std::fs;
use std::net::TcpStream;

use evalrig_core::model::Outcome;
use view_support::{Repository, ask, get, links, post, row, send};

const LABEL: &str =
    r#"{"suite":"support","test":"a","answerHash":"2cf24dba5fb0a30e","label":"right","note":""}"#;

#[test]
fn requests_without_the_token_get_nothing() {
    let repository = Repository::new();
    repository.add_rows("support-1.jsonl", &[row("support", "a")]);
    let server = repository.serve();
    let host = format!("Host: 127.0.0.1:{}\r\n", server.port());
    let wrong = "0".repeat(64);
    for headers in [
        String::new(),
        format!("X-Evalrig-Token: {wrong}\r\n"),
        format!("Cookie: evalrig-{}={wrong}\r\n", server.port()),
        format!("Cookie: evalrig-1={}\r\n", server.token()),
    ] {
        for path in ["/", "/runs/support-1/", "/runs/support-1/events", "/latest", "/nothing"] {
            let reply = ask(&server, "GET", path, &format!("{host}{headers}"));
            assert_eq!(reply.status, 403, "{path} {headers}");
            assert!(!reply.body.contains("support"), "{}", reply.body);
        }
    }
    let reply = ask(&server, "GET", &format!("/?token={wrong}"), &host);
    assert_eq!((reply.status, reply.header("set-cookie")), (403, None));
    assert_eq!(get(&server, "/").status, 200);
}

#[test]
fn the_printed_address_gives_a_cookie_and_a_clean_address() {
    let repository = Repository::new();
    repository.add_rows("support-1.jsonl", &[row("support", "a")]);
    let server = repository.serve();
    let host = format!("Host: localhost:{}\r\n", server.port());
    let path = format!("/runs/support-1/?token={}", server.token());
    assert!(server.address("/runs/support-1/").ends_with(&path));
    let reply = ask(&server, "GET", &path, &host);
    assert_eq!((reply.status, reply.header("location")), (303, Some("/runs/support-1/")));
    let cookie = reply.header("set-cookie").unwrap();
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    let sent = format!("{host}Cookie: {}\r\n", cookie.split(';').next().unwrap());
    assert_eq!(ask(&server, "GET", "/runs/support-1/", &sent).status, 200);
    let once = server.single_use_address("/").unwrap();
    let once = once.split_once("/?").map(|(_, query)| format!("/?{query}")).unwrap();
    assert_eq!(ask(&server, "GET", &once, &host).status, 303);
    assert_eq!(ask(&server, "GET", &once, &host).status, 403);
}

#[test]
fn a_foreign_host_is_refused_whatever_else_is_right() {
    let repository = Repository::new();
    let server = repository.serve();
    let (port, token) = (server.port(), server.token());
    let cookie = format!("Cookie: evalrig-{port}={token}\r\nX-Evalrig-Token: {token}\r\n");
    for host in [
        "Host: evil.example\r\n".to_owned(),
        format!("Host: evil.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("Host: [::1]:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
        String::new(),
    ] {
        let reply = ask(&server, "GET", "/", &format!("{host}{cookie}"));
        assert!(matches!(reply.status, 400 | 403), "{host}: {}", reply.status);
    }
    let absolute = format!("Host: 127.0.0.1:{port}\r\n{cookie}");
    assert_eq!(ask(&server, "GET", "http://evil.example/", &absolute).status, 403);
    let address = format!("/?token={token}");
    let reply = ask(&server, "GET", &address, &format!("Host: evil.example:{port}\r\n"));
    assert_eq!((reply.status, reply.header("set-cookie")), (403, None));
}

#[test]
fn only_loopback_is_bound() {
    let repository = Repository::new();
    let server = repository.serve();
    assert!(server.address("/").starts_with("http://127.0.0.1:"));
    assert!(TcpStream::connect(("127.0.0.1", server.port())).is_ok());
    assert!(TcpStream::connect(("::1", server.port())).is_err());
}

#[test]
fn no_address_leads_out_of_the_repository() {
    let repository = Repository::new();
    let outside = Repository::new();
    let secret = outside.add_rows("secret.jsonl", &[row("SECRET", "SECRET")]);
    repository.add_rows("support-1.jsonl", &[row("support", "a")]);
    #[cfg(unix)]
    {
        let folder = repository.root().join(".evalrig/results");
        std::os::unix::fs::symlink(&secret, folder.join("link.jsonl")).unwrap();
        std::os::unix::fs::symlink(secret.parent().unwrap(), folder.join("inner")).unwrap();
        fs::create_dir_all(repository.root().join(".co/evals")).unwrap();
        let link = repository.root().join(".co/evals/link.yaml");
        std::os::unix::fs::symlink(&secret, link).unwrap();
    }
    let server = repository.serve();
    let encoded = |path: &str| path.replace('/', "%2f");
    for path in [
        format!("/runs/{}/", encoded(secret.as_str())),
        format!("/runs/{}/", encoded(secret.as_str().trim_end_matches(".jsonl"))),
        format!("/runs/{}/events", encoded(secret.as_str())),
        format!("/compare?base=support-1&candidate={}", encoded(secret.as_str())),
        format!("/runs/..{}/", encoded(secret.as_str())),
        format!("/runs/../..{secret}"),
        format!("/{secret}"),
        "/runs/link/".to_owned(),
        "/runs/inner%2fsecret/".to_owned(),
        "/runs/..%2f..%2ftargets/".to_owned(),
        "/runs/%2e%2e/".to_owned(),
        "/runs/../support-1/".to_owned(),
        "/runs/support-1%00/".to_owned(),
        "/runs/support-1/../../../etc/passwd".to_owned(),
        "/records/link".to_owned(),
        "/records/..%2f..%2f.evalrig%2ftargets".to_owned(),
        "/../../../../etc/passwd".to_owned(),
        "//etc/passwd".to_owned(),
        "/%2e%2e/%2e%2e/etc/passwd".to_owned(),
        "/labels.jsonl".to_owned(),
    ] {
        let reply = get(&server, &path);
        // A file that is refused is named as one that cannot be read.
        assert!(matches!(reply.status, 404 | 400 | 500), "{path}: {}", reply.status);
        assert!(!reply.body.contains("SECRET") && !reply.body.contains("root:"), "{path}");
    }
    let list = get(&server, "/").body;
    assert!(list.contains("support-1") && !list.contains("SECRET"), "{list}");
}

#[test]
fn only_our_own_page_can_add_labels() {
    let repository = Repository::new();
    let server = repository.serve();
    let (port, token) = (server.port(), server.token());
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let own = format!("Origin: http://127.0.0.1:{port}\r\n");
    let key = format!("X-Evalrig-Token: {token}\r\n");
    let json = "Content-Type: application/json\r\n";
    let cookie = format!("Cookie: evalrig-{port}={token}\r\n");
    let length = format!("Content-Length: {}\r\n", LABEL.len());
    let sent = |headers: &[&str]| {
        let headers = headers.concat();
        let head = format!("POST /labels HTTP/1.1\r\n{headers}{length}Connection: close\r\n\r\n");
        send(&server, &(head + LABEL)).status
    };
    assert_eq!(sent(&[&host, &own, json]), 403);
    assert_eq!(sent(&[&host, &own, json, &cookie]), 403);
    assert_eq!(sent(&[&host, json, &key, "Origin: http://evil.example\r\n"]), 403);
    assert_eq!(sent(&[&host, json, &key, "Origin: null\r\n"]), 403);
    assert_eq!(sent(&[&host, &own, json, &key, "Sec-Fetch-Site: cross-site\r\n"]), 403);
    assert_eq!(sent(&["Host: evil.example\r\n", &own, json, &key]), 403);
    assert_eq!(sent(&[&host, &own, &key, "Content-Type: text/plain\r\n"]), 415);
    assert!(!repository.root().join(".evalrig/labels.jsonl").exists());
    assert_eq!(sent(&[&host, &own, json, &key]), 200);
    assert_eq!(post(&server, "/runs/any/labels", LABEL).status, 200);
}

#[test]
fn other_methods_large_bodies_and_nonsense_are_refused() {
    let repository = Repository::new();
    repository.add_rows("support-1.jsonl", &[row("support", "a")]);
    let server = repository.serve();
    let (port, token) = (server.port(), server.token());
    let headers = format!("Host: 127.0.0.1:{port}\r\nX-Evalrig-Token: {token}\r\n");
    for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "POST"] {
        let status = ask(&server, method, "/runs/support-1/", &headers).status;
        assert!(matches!(status, 400 | 403 | 405), "{method}: {status}");
    }
    assert_eq!(ask(&server, "GET", "/labels", &headers).status, 405);
    let reply = ask(&server, "HEAD", "/", &headers);
    assert_eq!((reply.status, reply.body.as_str()), (200, ""));
    let note = "n".repeat(70_000);
    let large = LABEL.replace("\"note\":\"\"", &format!("\"note\":\"{note}\""));
    assert_eq!(post(&server, "/labels", &large).status, 413);
    let long = LABEL.replace("\"note\":\"\"", &format!("\"note\":\"{}\"", &note[..30_000]));
    for body in
        ["", "{}", "[]", "nonsense", "{\"suite\":1}", &long, &LABEL.replace("right", "maybe")]
    {
        assert_eq!(post(&server, "/labels", body).status, 400, "{}", &body[..body.len().min(80)]);
    }
    assert_eq!(post(&server, "/labels", &LABEL.replace("2cf2", "2CF2")).status, 400);
    assert!(!repository.root().join(".evalrig/labels.jsonl").exists());
}

#[test]
fn every_answer_has_the_same_protection() {
    let repository = Repository::new();
    repository.add_rows("support-1.jsonl", &[row("support", "a")]);
    let server = repository.serve();
    for path in ["/", "/runs/support-1/", "/nothing", "/compare?base=support-1&candidate=support-1"]
    {
        let reply = get(&server, path);
        let header = |name: &str| reply.header(name).unwrap_or_default();
        assert_eq!(header("cache-control"), "no-store", "{path}");
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(header("cross-origin-resource-policy"), "same-origin", "{path}");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    let reply = ask(&server, "GET", "/", "Host: evil.example\r\n");
    assert_eq!(reply.header("cache-control"), Some("no-store"));
}

#[test]
fn hostile_names_are_inert_and_their_links_work() {
    const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'&\u{1b}[2J\u{202e}";
    let repository = Repository::new();
    let mut names =
        vec!["a b", "%2e%2e", "..", "ü&x=1", "<script>alert(1)<", "'\"", "run#1", "q?x"];
    if cfg!(windows) {
        names = vec!["a b", "%2e%2e", "run#1"];
    }
    for name in &names {
        let mut bad = row(HOSTILE, HOSTILE);
        (bad.target, bad.outcome) = (HOSTILE.to_owned(), Outcome::Failed);
        bad.candidate_answer = Some(HOSTILE.to_owned());
        repository.add_rows(&format!("{name}.jsonl"), &[bad]);
    }
    repository.add_rows("nonsense.jsonl", &[]);
    let broken = format!("{HOSTILE}\n");
    fs::write(repository.root().join(".evalrig/results/broken.jsonl"), broken).unwrap();
    let store = repository.root().join(".co/evals");
    fs::create_dir_all(&store).unwrap();
    let turn = "turns: [{input: '<img src=x>', output: '<script>', evaluation: 'fail: <img>'}]\n";
    fs::write(store.join("<b> x.yaml"), turn).unwrap();
    let server = repository.serve();
    let list = get(&server, "/");
    assert_eq!(list.status, 200);
    for mark in ["<img", "<script", "\u{1b}", "\u{202e}", "onerror=alert(1)>"] {
        assert!(!list.body.contains(mark), "{mark}");
    }
    let links = links(&list.body);
    for name in ["runs", "records"] {
        assert!(links.iter().any(|link| link.starts_with(&format!("/{name}/"))), "{links:?}");
    }
    let runs = links.iter().filter(|link| link.starts_with("/runs/")).count();
    assert!(runs >= names.len(), "{links:?}");
    for link in links {
        let reply = get(&server, &link);
        let is_broken = link.contains("broken");
        assert_eq!(reply.status, if is_broken { 500 } else { 200 }, "{link}: {}", reply.body);
        assert!(!reply.body.contains("<img"), "{link}");
    }
}
