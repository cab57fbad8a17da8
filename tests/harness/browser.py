# SPDX-License-Identifier: MIT OR GPL-2.0-only
"""Drives a headless Chromium by the DevTools protocol, through a pair of pipes."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)
LIMIT_S = 400  # for what hangs


class Browser:
    def __init__(self, width=1200, height=800):
        self.profile = tempfile.mkdtemp(prefix="burin-browser-")
        theirs_in, self.out = os.pipe()
        self.into, theirs_out = os.pipe()
        command = (f'exec "{CHROMIUM}" --headless=new --no-sandbox --disable-gpu --no-first-run --remote-debugging-pipe --window-size={width},{height} '
                   f'--user-data-dir="{self.profile}" about:blank 3<&{theirs_in} 4>&{theirs_out}')
        self.process = subprocess.Popen(["bash", "-c", command], pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.rest, self.number, self.session, self.events = b"", 0, None, []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def receive(self, limit):
        while b"\0" not in self.rest:
            if not select.select([self.into], [], [], limit)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.into, 1 << 20)
            if not part:
                raise EOFError("the browser has gone")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive(LIMIT_S)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, drawn="!!window.burinFlame"):
        """Opens a file; returns how long it took until it was drawn, in seconds."""
        begin = time.monotonic()
        self.call("Page.navigate", url="file://" + path)
        while not self.ask(f"document.readyState === 'complete' && ({drawn})"):
            time.sleep(0.01)
            if time.monotonic() - begin > LIMIT_S:
                raise TimeoutError("the page is not drawn")
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - begin

    def ask(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def mouse(self, x, y, click=True):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, element):
        """Clicks an element where it is."""
        x, y = self.ask(f"(() => {{ const box = document.querySelector({json.dumps(element)}).getBoundingClientRect(); "
                        "return [box.x + box.width / 2, box.y + box.height / 2]; })()")
        self.mouse(x, y)

    def key(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowLeft": 37, "ArrowRight": 39, "Backspace": 8}
        more = {"windowsVirtualKeyCode": codes[key]} if key in codes else {"text": text or key}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.profile, True)
