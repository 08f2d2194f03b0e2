//! Opens pages in headless Chromium, over the pipes of its DevTools protocol, and says what is wrong with them: errors of the console, files
//! that do not load, pictures that are not shown, and content that is wider than the screen. It also takes screenshots.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The widths at which a page must be readable: of a phone, and of a window on a desktop.
pub(crate) const WIDTHS: [u32; 2] = [390, 1280];

/// Collects pictures without content and elements that reach over the screen's right edge. What scrolls by itself may be wide.
const LOOK: &str = r"(() => {
    const found = [];
    for (const image of document.images)
        if (!image.complete || image.naturalWidth === 0) found.push(`the picture ${image.getAttribute('src')} is not shown`);
    const width = document.documentElement.clientWidth, all = document.documentElement.scrollWidth;
    if (all > width) {
        const scrolls = (element) => element && (['auto', 'scroll', 'hidden'].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
        const wide = [...document.body.querySelectorAll('*')].filter((element) =>
            element.getBoundingClientRect().right > width + 1 && !scrolls(element.parentElement));
        const names = wide.slice(0, 3).map((element) => `<${element.localName} class='${element.className}'> ${element.textContent.slice(0, 60)}`);
        found.push(`the page is ${all} pixels wide on a screen of ${width}: ${names.join('; ')}`);
    }
    return found;
})()";

pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    calls: u64,
    session: Option<String>,
    /// Messages that were no answer, such as errors of the console.
    events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    /// Starts Chromium, if it is installed. Without it the test says that it looked at nothing.
    pub(crate) fn start() -> Option<Browser> {
        let Some(program) = chromium() else {
            eprintln!("no Chromium is installed (packages `chromium` of Debian): no page was opened");
            return None;
        };
        let profile = tempfile::tempdir().expect("a temporary folder");
        // Chromium reads commands from descriptor 3 and answers at 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"])
            .arg(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"])
            .args(["--remote-debugging-pipe", "--allow-file-access-from-files"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell starts");
        let to = process.stdin.take().expect("a pipe");
        let from = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut browser = Browser { process, to, from, calls: 0, session: None, events: Vec::new(), _profile: profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Opens the page at this width and returns what is wrong with it.
    pub(crate) fn look(&mut self, page: &Path, width: u32) -> Vec<String> {
        let metrics = json!({"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        self.events.clear();
        let url = format!("file://{}", page.display());
        let opened = self.call("Page.navigate", json!({"url": url}));
        if let Some(error) = opened["errorText"].as_str() {
            return vec![format!("the page does not open: {error}")];
        }
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive();
            self.events.push(event);
        }
        let mut found: Vec<String> = serde_json::from_value(self.evaluate(LOOK)).expect("a list of texts");
        found.extend(self.events.iter().filter_map(said));
        found
    }

    /// Writes a screenshot of the open page as a PNG file: its whole height, up to some screens.
    pub(crate) fn picture(&mut self, file: &Path) {
        let mut clip = self.call("Page.getLayoutMetrics", json!({}))["cssContentSize"].clone();
        clip["height"] = json!(clip["height"].as_f64().expect("a number").min(6000.0));
        clip["scale"] = json!(1);
        let taken = self.call("Page.captureScreenshot", json!({"captureBeyondViewport": true, "clip": clip}));
        let bytes = from_base64(taken["data"].as_str().expect("a text"));
        fs::write(file, bytes).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }

    /// Returns the value of an expression in the page.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.to.write_all(format!("{message}\0").as_bytes()).expect("Chromium runs");
        loop {
            let answer = self.receive();
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push(answer);
        }
    }

    fn receive(&mut self) -> Value {
        let mut message = Vec::new();
        self.from.read_until(0, &mut message).expect("Chromium answers");
        message.pop();
        serde_json::from_slice(&message).unwrap_or_else(|error| panic!("Chromium ended: {error}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the program that `CHROMIUM` names, or the first of its usual names in the path.
fn chromium() -> Option<OsString> {
    env::var_os("CHROMIUM").or_else(|| {
        let folders: Vec<_> = env::split_paths(&env::var_os("PATH")?).collect();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        let mut programs = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        programs.find(|program| program.is_file()).map(OsString::from)
    })
}

/// Returns the bytes of a text in base64 (RFC 4648).
fn from_base64(text: &str) -> Vec<u8> {
    let values = text.bytes().filter_map(|digit| match digit {
        b'A'..=b'Z' => Some(digit - b'A'),
        b'a'..=b'z' => Some(digit - b'a' + 26),
        b'0'..=b'9' => Some(digit - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    });
    let values: Vec<u8> = values.collect();
    let bytes = |digits: &[u8]| {
        let whole = (0..4).fold(0, |whole, at| whole << 6 | u32::from(digits.get(at).copied().unwrap_or(0)));
        whole.to_be_bytes()[1..digits.len()].to_vec()
    };
    values.chunks(4).flat_map(bytes).collect()
}

#[test]
fn base64_is_read() {
    for (text, bytes) in
        [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("+/+/YQ==", b"\xfb\xff\xbfa")]
    {
        assert_eq!(from_base64(text), bytes, "{text}");
    }
}

/// Returns the message of an error or a warning.
fn said(event: &Value) -> Option<String> {
    let of = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(format!("an error: {}", of["exceptionDetails"])),
        "Runtime.consoleAPICalled" if of["type"] == "error" || of["type"] == "warning" => {
            Some(format!("the console says {}", of["args"]))
        }
        "Log.entryAdded" if of["entry"]["level"] == "error" => Some(format!("the log says {}", of["entry"]["text"])),
        "Network.loadingFailed" if of["canceled"] != true => Some(format!("a file does not load: {}", of["errorText"])),
        _ => None,
    }
}
