//! The server: a thread of its own with a listener on loopback, so that synchronous tests can use
//! it. It ends when the value is dropped.

use std::convert::identity;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;

use crate::answer::Desk;
use crate::record::{Keep, Record, Request};
use crate::script::{Play, Script};

/// Connections that may wait to be accepted: benches open hundreds at the same instant, and a
/// full queue would cost them a second each.
const BACKLOG: u32 = 1024;

/// Where a server listens and what it keeps.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// What becomes of the requests.
    pub keep: Keep,
}

/// A model server that answers by a script. Dropping it closes all its connections.
#[derive(Debug)]
pub struct FakeModel {
    address: SocketAddr,
    desk: Arc<Desk>,
    connections: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FakeModel {
    /// Starts a server on a free port of 127.0.0.1 and keeps its requests in memory.
    ///
    /// # Panics
    ///
    /// When the machine gives no thread or no port, which no test can go on without.
    pub fn start(script: Script) -> Self {
        Self::start_with(script, Options::default()).expect("a free port on loopback")
    }

    /// Starts a server as the options say.
    ///
    /// # Errors
    ///
    /// When the port is taken, the log cannot be created, or no thread can be started.
    pub fn start_with(script: Script, options: Options) -> io::Result<Self> {
        let desk = Arc::new(Desk::new(Play::new(script), Record::open(&options.keep)?));
        let connections = Arc::new(AtomicUsize::new(0));
        let (stop, stopped) = oneshot::channel();
        let (tell, told) = mpsc::channel();
        let room = (Arc::clone(&desk), Arc::clone(&connections));
        let thread = thread::Builder::new().name("fake-model".into()).spawn(move || {
            let (desk, connections) = room;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let opened = runtime.and_then(|runtime| {
                let listener = runtime.block_on(async { listen(options.port) })?;
                Ok((listener.local_addr()?, listener, runtime))
            });
            match opened {
                Ok((address, listener, runtime)) => {
                    let _ = tell.send(Ok(address));
                    // Dropping the runtime afterwards drops the connections with it.
                    runtime.block_on(async {
                        tokio::select! {
                            () = accept(&listener, &desk, &connections) => {}
                            _ = stopped => {}
                        }
                    });
                }
                Err(error) => drop(tell.send(Err(error))),
            }
        })?;
        let address = told.recv().map_err(io::Error::other).and_then(identity)?;
        Ok(Self { address, desk, connections, stop: Some(stop), thread: Some(thread) })
    }

    /// The address without a path, such as `http://127.0.0.1:1234`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The address and port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All requests until now, when they are kept in memory.
    pub fn requests(&self) -> Vec<Request> {
        self.desk.requests()
    }

    /// How many TCP connections were accepted until now.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }
}

impl Drop for FakeModel {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the server has been printed; a second one here would abort the test.
            let _ = thread.join();
        }
    }
}

fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port).into())?;
    socket.listen(BACKLOG)
}

async fn accept(listener: &TcpListener, desk: &Arc<Desk>, connections: &AtomicUsize) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(converse(stream, Arc::clone(desk)));
            }
            // Out of file handles: others must be given the time to close theirs.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
        }
    }
}

async fn converse(stream: TcpStream, desk: Arc<Desk>) {
    // Without this, small replies wait for the client's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let desk = Arc::clone(&desk);
        async move { desk.serve(request).await }
    });
    // A client that hangs up, and a script that says `close`, both end here.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
